# Tests are found by scanning tests/<module>/t[0-9]*.c, t[0-9]*.f90 and t[0-9]*.sh, whose first lines contain
#
#   TEST ranks=1,2,5 timeout=60 [own=1] [tier=full] [labels=a,b] [args=x,y]
#        [builds=openmpi,mpich] [tsan=1] [cores=0|1|2] [preload=mpiio|none]
#
# There is one ctest per file and number of ranks, named <build>.<module>.<file>.n<ranks>.  A test with ranks=0 is a
# plain process without MPI.  By default it runs in the builds openmpi and asan only, and a script in openmpi only;
# `builds` overrides this.  The build tsan runs exactly the tests with tsan=1.  Exit code 77 means skipped.  Examples
# are also tests.
#
# A test uses `cores` cores, or two if it has several ranks.  Tests with cores=0 mostly sleep; one of them at a time
# runs beside other tests.  ctest counts half cores, so that on n cores -j(2n+1) leaves capacity for a sleeping test.
#
# Starting ranks takes longer than most tests.  The files of a module that use MPI are therefore linked into one
# program, `together` (tests/support/together.c), which is launched once per number of ranks by the ctest
# <build>.<module>.together.n<ranks>.  The ctest of each test depends on this launch and shows the test's output;
# without the launch (ctest -R) it runs the test.  A test with own=1 has a separate program and separate launches, as
# plain processes and scripts always have.
#
# preload=mpiio: the program is linked with the MPI but not with Tutti, and libtutti-mpiio.so is preloaded for its ranks.
# In the build asan it is linked with libtutti-mpiio.so instead, because the sanitizer must be the first library.
# preload=none: the program is linked with the MPI only, and nothing is preloaded.  Scripts preload
# $TUTTI_BUILD_DIR/libtutti-mpiio.so by scripts/preload.sh.
#
# Tests in Fortran have separate programs, which use the module of tests/fortran/checks.f90.  By default they run in the
# builds openmpi and mpich.  Without a Fortran compiler they are skipped and print the missing package.
#
#   TUTTI_BUILD_NAME   first part of the names: openmpi, mpich, asan, tsan
#   TUTTI_RANKS        numbers of ranks that this build runs; empty: those of each test
#   TUTTI_TIER         quick: without long tests; full: with long tests

if(TUTTI_SANITIZE STREQUAL "address")
    set(_name asan)
elseif(TUTTI_SANITIZE STREQUAL "thread")
    set(_name tsan)
else()
    set(_name ${TUTTI_MPI})
endif()
set(TUTTI_BUILD_NAME ${_name} CACHE STRING "what the tests of this build are called")
set(TUTTI_RANKS "" CACHE STRING "numbers of ranks to run tests on, e.g. 1;3 (empty: all of a test's)")
set(TUTTI_TIER quick CACHE STRING "quick or full")

# Optimizing the code of tests takes longer than it saves at run time, since the library is optimized.  One build
# optimizes a little, because some warnings require the analysis of values.  -g1 is sufficient for stack traces.
if(TUTTI_BUILD_NAME STREQUAL "openmpi")
    set(_test_options -Og -g1)
else()
    set(_test_options -O0 -g1)
endif()

enable_testing()
add_custom_target(tests)

# Check at the end of a test that the library has freed its memory (support/count_memory.c).
add_library(tutti_count_memory OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/count_memory.c)
target_include_directories(tutti_count_memory PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tutti_count_memory PRIVATE tutti_flags tutti_mpi)

# Set `out` to the value of `key` in a TEST line, or to the default, as a list.
function(tutti_test_value line key default out)
    if(line MATCHES " ${key}=([^ ]+)")
        string(REPLACE "," ";" _value "${CMAKE_MATCH_1}")
        set(${out} "${_value}" PARENT_SCOPE)
    else()
        set(${out} "${default}" PARENT_SCOPE)
    endif()
endfunction()

# Set `out` to the numbers of ranks with which this build runs a test.  asked: the numbers in its TEST line; builds: the
# builds that run it, or empty for the default; tsan: whether the build tsan runs it.
function(tutti_test_ranks asked builds tsan out)
    set(_ranks)
    foreach(_n IN LISTS asked)
        if(builds)
            set(_wanted ${builds})
        elseif(_n EQUAL 0)
            set(_wanted openmpi asan)
        else()
            set(_wanted openmpi mpich asan)
        endif()
        if(tsan)
            list(APPEND _wanted tsan)
        endif()
        if(TUTTI_BUILD_NAME IN_LIST _wanted)
            list(APPEND _ranks ${_n})
        endif()
    endforeach()
    if(TUTTI_RANKS AND _ranks)
        set(_chosen ${_ranks})
        list(FILTER _chosen INCLUDE REGEX "^(0|${TUTTI_RANKS_REGEX})$")
        if(NOT _chosen)
            list(GET _ranks 0 _chosen)
        endif()
        set(_ranks ${_chosen})
    endif()
    set(${out} "${_ranks}" PARENT_SCOPE)
endfunction()

# Set the common properties of ctests.  Tests with long timeouts start first, so that no long test runs alone at the
# end.
function(tutti_test_properties test module timeout cores labels)
    math(EXPR _limit "${timeout} + 30")
    math(EXPR _halves "2 * ${cores}")
    if(cores EQUAL 0)
        set(_halves 1)
        set_tests_properties(${test} PROPERTIES RESOURCE_LOCK asleep)
    endif()
    set_tests_properties(${test} PROPERTIES TIMEOUT ${_limit} SKIP_RETURN_CODE 77
        PROCESSORS ${_halves} COST ${timeout} LABELS "${TUTTI_BUILD_NAME};${module};${labels}"
        ENVIRONMENT "TUTTI_BUILD_DIR=${PROJECT_BINARY_DIR};TUTTI_MPI=${TUTTI_MPI};TUTTI_SANITIZE=${TUTTI_SANITIZE};TUTTI_TEST_TIER=${TUTTI_TIER};TUTTI_COMMAND=${PROJECT_BINARY_DIR}/tutti;CC=${CMAKE_C_COMPILER}")
endfunction()

# Add the ctest <build>.<module>.<stem>.n<ranks>, which runs a command on `ranks` ranks.
function(tutti_add_test module stem ranks timeout cores labels)
    set(_test ${TUTTI_BUILD_NAME}.${module}.${stem}.n${ranks})
    if(ranks GREATER 1)
        set(cores 2)
    endif()
    add_test(NAME ${_test} COMMAND ${PROJECT_SOURCE_DIR}/scripts/run_test.sh
        ${_test} ${timeout} ${TUTTI_MPI} ${ranks} ${ARGN})
    tutti_test_properties(${_test} ${module} ${timeout} ${cores} "${labels}")
endfunction()

# Add the applications: a program each, and its objects without main.c for the tests of the module apps.  They use the
# public headers only.
foreach(_app bipolar heat)
    file(GLOB _parts CONFIGURE_DEPENDS examples/apps/${_app}/*.c)
    list(FILTER _parts EXCLUDE REGEX "/main.c$")
    add_library(${_app}_parts OBJECT EXCLUDE_FROM_ALL ${_parts})
    target_include_directories(${_app}_parts PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${_app}_parts PRIVATE tutti_flags tutti_mpi)
    add_executable(${_app} EXCLUDE_FROM_ALL examples/apps/${_app}/main.c $<TARGET_OBJECTS:${_app}_parts>)
    set_target_properties(${_app} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/examples)
    target_link_libraries(${_app} PRIVATE tutti tutti_flags tutti_plugins m)
    add_dependencies(tests ${_app})
endforeach()

# Set the compile options, include directories and libraries of a test program; module: directory of its tests;
# preload: value of this key in the TEST line.
function(tutti_test_program target module preload)
    target_compile_options(${target} PRIVATE ${_test_options})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${module})
    if(module STREQUAL "examples")
        target_link_libraries(${target} PRIVATE tutti tutti_flags tutti_plugins m)
    elseif(preload)
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/include)
        if(preload STREQUAL "mpiio" AND TUTTI_SANITIZE)
            target_link_libraries(${target} PRIVATE -Wl,--no-as-needed tutti_mpiio)
        endif()
        target_link_libraries(${target} PRIVATE tutti_mpi tutti_flags tutti_plugins m)
    else()
        target_compile_definitions(${target} PRIVATE TUTTI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
        if(module STREQUAL "cli")
            target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR})
            target_link_libraries(${target} PRIVATE tutti_png tutti_measure)
        elseif(module STREQUAL "apps")
            target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/examples/apps)
            if(target MATCHES "_heat_") # the parts of both applications have the same names
                target_sources(${target} PRIVATE $<TARGET_OBJECTS:heat_parts>)
            else()
                target_sources(${target} PRIVATE $<TARGET_OBJECTS:bipolar_parts>)
            endif()
        endif()
        target_link_libraries(${target} PRIVATE tutti_internal tutti_plugins m)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:tutti_count_memory>)
    endif()
    add_dependencies(tests ${target})
endfunction()

# Add a program for a single test.
function(tutti_own_program target module preload file stem)
    add_executable(${target} EXCLUDE_FROM_ALL ${file})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${stem})
    tutti_test_program(${target} ${module} "${preload}")
endfunction()

# Set `out` to the command that runs a test program.
function(tutti_test_command target preload out)
    set(_command $<TARGET_FILE:${target}>)
    if(preload STREQUAL "mpiio" AND NOT TUTTI_SANITIZE)
        set(_command ${PROJECT_SOURCE_DIR}/scripts/preload.sh $<TARGET_FILE:tutti_mpiio> ${_command})
    endif()
    set(${out} "${_command}" PARENT_SCOPE)
endfunction()

# Add a test to the program `target`: its main() gets a unique name, which is appended to the list of `target`.  An
# example is also built as a separate program, since the documentation names it.
function(tutti_join_together target module preload file stem args)
    if(NOT TARGET ${target})
        set(_list ${PROJECT_BINARY_DIR}/tests/${target}.c)
        add_executable(${target} EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/together.c ${_list})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME together${preload})
        tutti_test_program(${target} ${module} "${preload}")
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
        target_link_libraries(${target} PRIVATE dl)
        set_property(GLOBAL APPEND PROPERTY TUTTI_TOGETHER ${target})
        set_property(TARGET ${target} PROPERTY TUTTI_LIST ${_list})
        set_property(TARGET ${target} PROPERTY TUTTI_MODULE ${module})
        set_property(TARGET ${target} PROPERTY TUTTI_PRELOAD "${preload}")
    endif()
    if(module STREQUAL "examples")
        set(_source ${PROJECT_BINARY_DIR}/tests/${target}.${stem}.c)
        file(CONFIGURE OUTPUT ${_source} CONTENT "#define main main_of_${stem}\n#include \"${file}\"\n")
        tutti_own_program(${module}.${stem} ${module} "${preload}" ${file} ${stem})
    else()
        set(_source ${file})
        set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS main=main_of_${stem})
        add_custom_target(${module}.${stem} DEPENDS ${target})
    endif()
    target_sources(${target} PRIVATE ${_source})
    string(REPLACE ";" "," args "${args}")
    set_property(TARGET ${target} APPEND PROPERTY TUTTI_TESTS "${stem}:${args}")
endfunction()

# Write the list of tests of the program `target`, and add a launch for each number of ranks.
function(tutti_launch_together target)
    foreach(_key LIST MODULE PRELOAD TESTS RANKS)
        get_target_property(_${_key} ${target} TUTTI_${_key})
    endforeach()
    set(_declared "")
    set(_listed "")
    foreach(_item IN LISTS _TESTS)
        string(REGEX MATCH "^([^:]*):(.*)$" _ "${_item}")
        string(APPEND _declared "int main_of_${CMAKE_MATCH_1}(int argc, char **argv);\n")
        string(APPEND _listed "    {\"${CMAKE_MATCH_1}\", main_of_${CMAKE_MATCH_1}, \"${CMAKE_MATCH_2}\"},\n")
    endforeach()
    file(CONFIGURE OUTPUT ${_LIST} CONTENT "#include \"support/together.h\"

#include <stddef.h>

@_declared@
const together_test together_tests[] = {
@_listed@    {NULL, NULL, NULL},
};
" @ONLY)
    tutti_test_command(${target} "${_PRELOAD}" _command)
    list(REMOVE_DUPLICATES _RANKS)
    foreach(_n IN LISTS _RANKS)
        get_target_property(_names ${target} TUTTI_NAMES_${_n})
        set(_test ${TUTTI_BUILD_NAME}.${target}.n${_n})
        set(_timeout 60)
        set(_cores 1)
        foreach(_item IN LISTS _names)
            string(REGEX MATCH "^(.*):(.*)$" _ "${_item}")
            math(EXPR _timeout "${_timeout} + ${CMAKE_MATCH_2}")
            set_tests_properties(${TUTTI_BUILD_NAME}.${_MODULE}.${CMAKE_MATCH_1}.n${_n} PROPERTIES
                DEPENDS ${_test} PROCESSORS 1)
        endforeach()
        if(_n GREATER 1)
            set(_cores 2)
        endif()
        add_test(NAME ${_test} COMMAND ${PROJECT_SOURCE_DIR}/scripts/run_together.sh
            ${TUTTI_BUILD_NAME}.${_MODULE} ${TUTTI_MPI} ${_n} ${_names} -- ${_command})
        tutti_test_properties(${_test} ${_MODULE} ${_timeout} ${_cores} together)
    endforeach()
endfunction()

# Add the program of a test or an example in Fortran.  Without a Fortran compiler, `out` is a command that prints the
# missing package and skips the test.
function(tutti_fortran_program target module file stem out)
    if(NOT TUTTI_HAS_FORTRAN)
        set(${out} sh -c "echo '${TUTTI_FORTRAN_MISSING}' && exit 77" PARENT_SCOPE)
        return()
    endif()
    add_executable(${target} EXCLUDE_FROM_ALL ${file})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${stem} LINKER_LANGUAGE Fortran
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${module}
        Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${module}/${stem}.mods)
    target_compile_options(${target} PRIVATE
        "$<$<Fortran_COMPILER_ID:GNU>:-std=f2018;-Wall;-Wextra;-Wno-compare-reals;-Wno-function-elimination;-Wno-maybe-uninitialized;-fcheck=all,no-array-temps;-g;$<$<BOOL:${TUTTI_WERROR}>:-Werror>>")
    target_link_libraries(${target} PRIVATE $<$<BOOL:${TUTTI_SANITIZE}>:tutti_flags> tutti_plugins tutti_fortran)
    if(module STREQUAL "fortran")
        target_link_libraries(${target} PRIVATE tutti_fortran_checks)
    endif()
    add_dependencies(tests ${target})
    set(${out} $<TARGET_FILE:${target}> PARENT_SCOPE)
endfunction()
if(TUTTI_HAS_FORTRAN)
    add_library(tutti_fortran_checks STATIC EXCLUDE_FROM_ALL tests/fortran/checks.f90
        ${TUTTI_GENERATED}/fortran/layout.c)
    add_dependencies(tutti_fortran_checks generated_bindings)
    set_target_properties(tutti_fortran_checks PROPERTIES
        Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fortran/checks.mods)
    target_include_directories(tutti_fortran_checks PUBLIC ${PROJECT_BINARY_DIR}/tests/fortran/checks.mods
        ${TUTTI_GENERATED}/fortran)
    target_link_libraries(tutti_fortran_checks PRIVATE tutti_fortran)
    add_dependencies(tests tutti_fortran)
endif()

# Read the TEST line of a file, and add its program and its tests.
function(tutti_scan_test file module default)
    get_filename_component(_stem ${file} NAME_WE)
    get_filename_component(_kind ${file} LAST_EXT)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(STRINGS ${file} _line LIMIT_COUNT 1 REGEX "TEST ranks=")
    if(NOT _line)
        set(_line "${default}")
    endif()
    if(NOT _line)
        message(WARNING "${file}: no TEST line, not run")
        return()
    endif()
    string(REPLACE "*/" " " _line "${_line}")

    tutti_test_value("${_line}" ranks 1 _asked)
    tutti_test_value("${_line}" timeout 60 _timeout)
    tutti_test_value("${_line}" tier quick _tier)
    tutti_test_value("${_line}" labels "" _labels)
    tutti_test_value("${_line}" args "" _args)
    tutti_test_value("${_line}" builds "" _builds)
    tutti_test_value("${_line}" tsan "" _tsan)
    tutti_test_value("${_line}" cores 1 _cores)
    tutti_test_value("${_line}" preload "" _preload)
    tutti_test_value("${_line}" own "" _own)
    if(_kind STREQUAL ".sh" AND NOT _builds)
        set(_builds openmpi)
    elseif(_kind STREQUAL ".f90" AND NOT _builds)
        set(_builds openmpi mpich)
    endif()
    tutti_test_ranks("${_asked}" "${_builds}" "${_tsan}" _ranks)
    if(NOT _ranks AND NOT "${_ranks}" STREQUAL "0")
        return()
    endif()
    if(_tier STREQUAL "full" AND NOT TUTTI_TIER STREQUAL "full")
        return()
    endif()
    if(TUTTI_TIER STREQUAL "full")
        math(EXPR _timeout "${_timeout} * 10")
    elseif(TUTTI_SANITIZE)
        math(EXPR _timeout "${_timeout} * 2")
    endif()

    set(_target ${module}.${_stem})
    if(_kind STREQUAL ".sh")
        set(_command sh ${file})
    elseif(_kind STREQUAL ".f90")
        tutti_fortran_program(${_target} ${module} ${file} ${_stem} _command)
        list(APPEND _command ${_args})
    elseif(_own OR "0" IN_LIST _ranks)
        tutti_own_program(${_target} ${module} "${_preload}" ${file} ${_stem})
        tutti_test_command(${_target} "${_preload}" _command)
        list(APPEND _command ${_args})
    else()
        set(_together ${module}.together${_preload})
        tutti_join_together(${_together} ${module} "${_preload}" ${file} ${_stem} "${_args}")
        tutti_test_command(${_together} "${_preload}" _command)
        list(APPEND _command ${_stem})
        foreach(_n IN LISTS _ranks)
            set_property(TARGET ${_together} APPEND PROPERTY TUTTI_RANKS ${_n})
            set_property(TARGET ${_together} APPEND PROPERTY TUTTI_NAMES_${_n} ${_stem}:${_timeout})
        endforeach()
    endif()
    if(_kind STREQUAL ".f90" AND NOT TUTTI_HAS_FORTRAN)
        set(_ranks 0)
    endif()
    foreach(_n IN LISTS _ranks)
        tutti_add_test(${module} ${_stem} ${_n} ${_timeout} ${_cores} "${_labels}" ${_command})
        if(_kind STREQUAL ".c" AND NOT _preload AND NOT module STREQUAL "examples")
            set_property(TEST ${TUTTI_BUILD_NAME}.${module}.${_stem}.n${_n} APPEND PROPERTY ENVIRONMENT TUTTI_TEST_COUNTS=1)
        endif()
    endforeach()
endfunction()

string(REPLACE ";" "|" TUTTI_RANKS_REGEX "${TUTTI_RANKS}")
file(GLOB _tests CONFIGURE_DEPENDS tests/*/t[0-9]*.c tests/*/t[0-9]*.f90 tests/*/t[0-9]*.sh)
foreach(_file IN LISTS _tests)
    get_filename_component(_module ${_file} DIRECTORY)
    get_filename_component(_module ${_module} NAME)
    if(NOT _module MATCHES "^(support|simulated)$") # simulated: TuttiSimulated.cmake
        tutti_scan_test(${_file} ${_module} "")
    endif()
endforeach()
file(GLOB _examples CONFIGURE_DEPENDS examples/*.c examples/apps/*.c)
foreach(_file IN LISTS _examples)
    tutti_scan_test(${_file} examples " TEST ranks=1,4 timeout=60")
endforeach()
file(GLOB _examples CONFIGURE_DEPENDS examples/fortran/*.f90)
foreach(_file IN LISTS _examples)
    tutti_scan_test(${_file} examples.fortran " TEST ranks=4 timeout=60")
endforeach()
# Add programs that scripts start: they write and read Exodus files like those of other programs.
if(NOT TUTTI_BUILD_NAME STREQUAL "tsan")
    foreach(_program corpus_writer corpus_reader)
        tutti_own_program(exodus.${_program} exodus "" tests/exodus/${_program}.c ${_program})
    endforeach()
endif()
get_property(_programs GLOBAL PROPERTY TUTTI_TOGETHER)
foreach(_program IN LISTS _programs)
    tutti_launch_together(${_program})
endforeach()
if(TARGET tutti_command AND NOT TUTTI_BUILD_NAME STREQUAL "tsan") # that build does not test the command
    add_dependencies(tests tutti_command tutti_experiments generated)
endif()
add_dependencies(tests tutti_mpiio)
if(TARGET mpich_yield) # preloaded by mpirun.sh for ranks of MPICH
    add_dependencies(tests mpich_yield)
endif()

# Add programs for measurements, which may use internal functions of the library.
file(GLOB _benches CONFIGURE_DEPENDS experiments/programs/*.c)
foreach(_file IN LISTS _benches)
    get_filename_component(_stem ${_file} NAME_WE)
    add_executable(experiments.${_stem} ${_file})
    set_target_properties(experiments.${_stem} PROPERTIES OUTPUT_NAME ${_stem}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/experiments)
    if(_stem MATCHES "^(mpiio_patterns|read_loops)$") # datatypes and lists of pieces only
        target_link_libraries(experiments.${_stem} PRIVATE tutti_measuring tutti_standalone_mpi m)
        add_dependencies(tests experiments.${_stem}) # t870 and t968 run them
    elseif(_stem STREQUAL "small_steps") # runs with the shared library of any build: compare_builds.py
        target_link_libraries(experiments.${_stem} PRIVATE tutti tutti_standalone_mpi)
        add_dependencies(tests experiments.${_stem}) # t997 runs it
    else()
        target_link_libraries(experiments.${_stem} PRIVATE tutti_internal tutti_plugins tutti_standalone_mpi m)
    endif()
endforeach()
