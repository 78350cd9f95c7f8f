# The build for SimGrid's SMPI (TUTTI_MPI=smpi), which runs all ranks of a simulated machine in one process.  It
# contains the library as an archive and the programs for simulated machines, and installs nothing.
#
# SMPI loads a program once per rank, so that each rank has its own global variables.  Programs are therefore shared
# objects that contain the library.  They have no debug information, which would be copied for each rank.
#
#   simulated/               replacements of functions of MPI and of the C library, and of some files of src/
#   tests/simulated/         tests, named smpi.simulated.<file>.n<ranks>
#   experiments/simulated/   programs run by experiments/tutti_experiments/simulated.py
#
# Without SimGrid nothing is built, and the tests are skipped.

enable_testing()
add_custom_target(tests)
set(TUTTI_BUILD_NAME smpi)

if(TUTTI_MPICC)
    file(GLOB _sources CONFIGURE_DEPENDS src/*/*.c)
    list(FILTER _sources EXCLUDE REGEX "/src/(comm/sparse_nbx|base/event)\\.c$")
    add_library(tutti_simulated STATIC ${_sources} simulated/sparse_counted.c simulated/event.c
        simulated/pending.c simulated/smpi.c simulated/system.c)
    target_include_directories(tutti_simulated PUBLIC include src ${PROJECT_SOURCE_DIR})
    target_link_libraries(tutti_simulated PUBLIC tutti_flags tutti_mpi tutti_parts)
    target_compile_options(tutti_simulated PUBLIC -g0 -ffunction-sections)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
        set_source_files_properties(src/base/sums_avx2.c PROPERTIES COMPILE_OPTIONS -mavx2)
        set_source_files_properties(src/base/sums_avx512.c PROPERTIES COMPILE_OPTIONS -mavx512f)
    endif()
endif()

# Add a program with the given sources, in the directory `folder` of the build.
function(tutti_simulated_program target folder)
    add_library(${target} MODULE ${ARGN})
    set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    # Link the whole archive, so that its MPI and C functions take precedence over those of shared libraries.
    target_link_libraries(${target} PRIVATE -Wl,--whole-archive tutti_simulated -Wl,--no-whole-archive m)
    target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-s -Wl,-z,defs)
    add_dependencies(tests ${target})
endfunction()

if(TUTTI_MPICC)
    tutti_simulated_program(calls experiments experiments/simulated/calls.c experiments/simulated/bare.c)
endif()

# Tests are found as in TuttiTests.cmake: the first lines of tests/simulated/t*.c and t*.sh contain
#
#   TEST ranks=16,64 timeout=60 [per_host=4]
#
# ranks: numbers of ranks of the simulated machine; 0 for a script, which starts simulated programs.
file(GLOB _tests CONFIGURE_DEPENDS tests/simulated/t[0-9]*.c tests/simulated/t[0-9]*.sh)
foreach(_file IN LISTS _tests)
    get_filename_component(_stem ${_file} NAME_WE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_file})
    file(STRINGS ${_file} _line LIMIT_COUNT 1 REGEX "TEST ranks=")
    string(REGEX MATCH "ranks=([0-9,]+)" _ "${_line}")
    string(REPLACE "," ";" _ranks "${CMAKE_MATCH_1}")
    string(REGEX MATCH "timeout=([0-9]+)" _ "${_line}")
    set(_timeout ${CMAKE_MATCH_1})
    set(_command sh -c "echo 'no SimGrid: install libsimgrid-dev' && exit 77")
    if(TUTTI_MPICC AND _file MATCHES "\\.c$")
        tutti_simulated_program(${_stem} tests/simulated ${_file})
        set(_command $<TARGET_FILE:${_stem}>)
    elseif(TUTTI_MPICC)
        set(_command ${_file})
    endif()
    foreach(_n IN LISTS _ranks)
        set(_started ${_n})
        if(NOT TUTTI_MPICC)
            set(_started 0)
        endif()
        set(_test smpi.simulated.${_stem}.n${_n})
        add_test(NAME ${_test} COMMAND ${PROJECT_SOURCE_DIR}/scripts/run_test.sh
            ${_test} ${_timeout} smpi ${_started} ${_command})
        math(EXPR _limit "${_timeout} + 30")
        set_tests_properties(${_test} PROPERTIES TIMEOUT ${_limit} SKIP_RETURN_CODE 77 PROCESSORS 2
            COST ${_timeout} LABELS "smpi;simulated"
            ENVIRONMENT "TUTTI_BUILD_DIR=${PROJECT_BINARY_DIR};TUTTI_MPI=smpi;TUTTI_TEST_TIER=${TUTTI_TIER}")
    endforeach()
endforeach()
