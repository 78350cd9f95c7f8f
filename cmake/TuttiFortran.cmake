# The Fortran binding: libtutti-fortran and tutti.mod, if a suitable Fortran compiler is available.
#
#   TUTTI_FORTRAN          ON (default): build the binding if possible; OFF: do not build it
#   TUTTI_HAS_FORTRAN      result: whether the binding is built
#   TUTTI_FORTRAN_MISSING  result: the reason if it is not built
#
# The compiler must pass descriptors of Fortran 2018 to C; gfortran supports this from version 12 on.  The module
# mpi_f08 of the MPI is used if this compiler can read it; otherwise communicators can only be passed as integers.
# With AddressSanitizer, both the C part and the Fortran part of the binding are instrumented.  With ThreadSanitizer,
# the binding is not built.

option(TUTTI_FORTRAN "build the Fortran module, if there is a compiler for it" ON)
set(TUTTI_HAS_FORTRAN FALSE)
set(TUTTI_FORTRAN_MISSING "TUTTI_FORTRAN is OFF")
if(TUTTI_SANITIZE STREQUAL "thread")
    set(TUTTI_FORTRAN_MISSING "no Fortran with ThreadSanitizer")
elseif(TUTTI_FORTRAN)
    set(TUTTI_FORTRAN_MISSING "no Fortran compiler (Debian: apt-get install gfortran)")
    include(CheckLanguage)
    check_language(Fortran)
    if(CMAKE_Fortran_COMPILER)
        enable_language(Fortran)
    endif()
endif()

# Get the directories of the MPI's Fortran modules, and their libraries, from the wrapper mpifort.
if(CMAKE_Fortran_COMPILER AND TUTTI_FORTRAN AND NOT TUTTI_SANITIZE STREQUAL "thread")
    string(REGEX REPLACE "mpicc([^/]*)$" "mpifort\\1" _mpifort "${TUTTI_MPICC}")
    set(TUTTI_MPIFORT ${_mpifort} CACHE FILEPATH "the MPI's wrapper for Fortran")
    execute_process(COMMAND ${TUTTI_MPIFORT} -show RESULT_VARIABLE _rc OUTPUT_VARIABLE _shown
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(_words UNIX_COMMAND "${_shown}")
    set(TUTTI_MPIFORT_INCLUDES ${_words})
    list(FILTER TUTTI_MPIFORT_INCLUDES INCLUDE REGEX "^-I")
    list(TRANSFORM TUTTI_MPIFORT_INCLUDES REPLACE "^-I" "")
    list(REMOVE_DUPLICATES TUTTI_MPIFORT_INCLUDES)
    set(TUTTI_MPIFORT_LINK ${_words})
    list(FILTER TUTTI_MPIFORT_LINK INCLUDE REGEX "^-(L|l|Wl,-rpath|Wl,--enable-new-dtags)")
    list(REMOVE_ITEM TUTTI_MPIFORT_LINK -L/usr/lib -L/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})

    # Check that descriptors can be passed to C, and that this compiler can read the module mpi_f08.
    include(CheckFortranSourceCompiles)
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${TUTTI_MPIFORT_INCLUDES})
    check_fortran_source_compiles("
        module m
          use, intrinsic :: iso_c_binding
          interface
            subroutine s(buf, text) bind(c)
              import
              type(*), intent(in), asynchronous, optional :: buf(..)
              character(*), intent(in) :: text
            end subroutine
          end interface
        end module
        program p
        end program" TUTTI_FORTRAN_PASSES_DESCRIPTORS SRC_EXT F90)
    check_fortran_source_compiles("
        program p
          use mpi_f08, only: MPI_Comm
          type(MPI_Comm) :: c
          c%MPI_VAL = 0
        end program" TUTTI_FORTRAN_HAS_F08 SRC_EXT F90)
    unset(CMAKE_REQUIRED_INCLUDES)
    check_c_source_compiles("
        #include <ISO_Fortran_binding.h>
        int main(void) { return CFI_MAX_RANK < 7; }" TUTTI_C_HAS_DESCRIPTORS)
    if(NOT _rc EQUAL 0)
        set(TUTTI_FORTRAN_MISSING "no ${TUTTI_MPIFORT}")
    elseif(NOT TUTTI_FORTRAN_PASSES_DESCRIPTORS OR NOT TUTTI_C_HAS_DESCRIPTORS)
        set(TUTTI_FORTRAN_MISSING "${CMAKE_Fortran_COMPILER} and ${CMAKE_C_COMPILER} do not share "
            "descriptors of Fortran 2018 (gfortran and gcc do, from 12 on)")
        list(JOIN TUTTI_FORTRAN_MISSING "" TUTTI_FORTRAN_MISSING)
    else()
        set(TUTTI_HAS_FORTRAN TRUE)
    endif()
endif()
if(NOT TUTTI_HAS_FORTRAN)
    message(STATUS "Fortran: not built, ${TUTTI_FORTRAN_MISSING}")
    return()
endif()
message(STATUS "Fortran: ${CMAKE_Fortran_COMPILER}, module mpi_f08: ${TUTTI_FORTRAN_HAS_F08}")

# A module file can be read by one compiler only, sometimes by one version only: use a directory for each.
if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    set(_format 15)
    if(CMAKE_Fortran_COMPILER_VERSION VERSION_GREATER_EQUAL 15)
        set(_format 16)
    endif()
    set(TUTTI_MOD_DIR ${CMAKE_INSTALL_LIBDIR}/fortran/gfortran-mod-${_format}/${TUTTI_MPI})
else()
    set(TUTTI_MOD_DIR ${CMAKE_INSTALL_LIBDIR}/fortran/${CMAKE_Fortran_COMPILER_ID}-${CMAKE_Fortran_COMPILER_VERSION}/${TUTTI_MPI})
endif()

# Add a target with the MPI's Fortran modules and libraries, for programs that use the module tutti.
add_library(tutti_mpifort INTERFACE)
target_include_directories(tutti_mpifort INTERFACE "$<$<COMPILE_LANGUAGE:Fortran>:${TUTTI_MPIFORT_INCLUDES}>")
target_link_libraries(tutti_mpifort INTERFACE ${TUTTI_MPIFORT_LINK})
set_target_properties(tutti_mpifort PROPERTIES EXPORT_NAME mpifort)

file(GLOB _fortran CONFIGURE_DEPENDS bindings/fortran/*.c)
add_library(tutti_fortran SHARED bindings/fortran/tutti.F90 ${_fortran} ${TUTTI_GENERATED}/fortran/entries.c)
add_dependencies(tutti_fortran generated_bindings)
file(GLOB _included CONFIGURE_DEPENDS bindings/fortran/*.inc)
list(APPEND _included ${TUTTI_GENERATED}/fortran/declarations.inc ${TUTTI_GENERATED}/fortran/procedures.inc)
set_source_files_properties(bindings/fortran/tutti.F90 PROPERTIES OBJECT_DEPENDS "${_included}")
set_target_properties(tutti_fortran PROPERTIES OUTPUT_NAME tutti-fortran_${TUTTI_MPI} EXPORT_NAME fortran
    VERSION ${PROJECT_VERSION} SOVERSION ${TUTTI_SOVERSION} LINKER_LANGUAGE Fortran INSTALL_RPATH "$ORIGIN"
    Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/fortran
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/fortran/fortran.map)
target_include_directories(tutti_fortran PRIVATE bindings/fortran ${TUTTI_GENERATED}/fortran
    PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/fortran> $<INSTALL_INTERFACE:${TUTTI_MOD_DIR}>)
target_compile_definitions(tutti_fortran PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:Fortran>,$<BOOL:${TUTTI_FORTRAN_HAS_F08}>>:TUTTI_MPI_F08>)
set(_gnu_fortran $<AND:$<COMPILE_LANGUAGE:Fortran>,$<Fortran_COMPILER_ID:GNU>>)
target_compile_options(tutti_fortran PRIVATE "$<${_gnu_fortran}:-std=f2018;-Wno-c-binding-type>")
target_link_options(tutti_fortran PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/bindings/fortran/fortran.map
    $<$<NOT:$<BOOL:${TUTTI_SANITIZE}>>:-Wl,--no-undefined>)
target_link_libraries(tutti_fortran PRIVATE tutti_flags PUBLIC tutti tutti_mpifort)
