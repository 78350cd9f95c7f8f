# Find an MPI by its compiler wrapper and create the target tutti_mpi.
#
#   TUTTI_MPI     the MPI of this build: openmpi | mpich; smpi: a simulated machine (TuttiSimulated.cmake)
#   TUTTI_MPICC   the compiler wrapper of this MPI; default: mpicc.<mpi> (Debian's name) or mpicc
#
# Only the flags are taken from the wrapper (option -show, which both MPIs support).  Sources are compiled with the
# plain compiler, as users of tutti.pc and TuttiConfig.cmake can do.

set(TUTTI_MPI openmpi CACHE STRING "the MPI of this build: openmpi, mpich or smpi")
set_property(CACHE TUTTI_MPI PROPERTY STRINGS openmpi mpich smpi)
if(TUTTI_MPI STREQUAL "openmpi")
    set(_package "libopenmpi-dev openmpi-bin")
elseif(TUTTI_MPI STREQUAL "mpich")
    set(_package "libmpich-dev mpich")
elseif(TUTTI_MPI STREQUAL "smpi")
    set(_package "libsimgrid-dev")
    find_program(TUTTI_MPICC NAMES smpicc)
    if(NOT TUTTI_MPICC)
        message(NOTICE "no smpicc: nothing is built for simulated machines (Debian: ${_package})")
        return()
    endif()
else()
    message(FATAL_ERROR "TUTTI_MPI is '${TUTTI_MPI}'; it can be openmpi, mpich or smpi")
endif()

find_program(TUTTI_MPICC NAMES mpicc.${TUTTI_MPI} mpicc)
if(NOT TUTTI_MPICC)
    message(FATAL_ERROR "no mpicc.${TUTTI_MPI} and no mpicc found (Debian: apt-get install ${_package})")
endif()
execute_process(COMMAND ${TUTTI_MPICC} -show RESULT_VARIABLE _rc OUTPUT_VARIABLE _shown
                ERROR_VARIABLE _said OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT _rc EQUAL 0)
    message(FATAL_ERROR "'${TUTTI_MPICC} -show' failed: ${_said}")
endif()

separate_arguments(_words UNIX_COMMAND "${_shown}")
list(POP_FRONT _words)
set(TUTTI_MPI_INCLUDES)
set(TUTTI_MPI_CFLAGS)
set(TUTTI_MPI_LINK)
while(_words)
    list(POP_FRONT _words _word)
    if(_word MATCHES "^-(I|isystem)$")
        list(POP_FRONT _words _path)
        list(APPEND TUTTI_MPI_INCLUDES "${_path}")
    elseif(_word MATCHES "^-I(.+)")
        list(APPEND TUTTI_MPI_INCLUDES "${CMAKE_MATCH_1}")
    elseif(_word MATCHES "^-(L.+|l.+|Wl,-rpath.*|Wl,--enable-new-dtags)$")
        list(APPEND TUTTI_MPI_LINK "${_word}")
    elseif(_word MATCHES "^-(pthread|D.+)$")
        list(APPEND TUTTI_MPI_CFLAGS "${_word}")
    endif()
endwhile()
# Remove the default directories of the linker from the flags.
list(REMOVE_ITEM TUTTI_MPI_LINK -L/usr/lib -L/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})

# Use the C interface only: otherwise mpi.h makes a C++ program require the MPI's C++ library.
set(TUTTI_MPI_CXX_DEFINITIONS OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)

add_library(tutti_mpi INTERFACE)
target_include_directories(tutti_mpi SYSTEM INTERFACE ${TUTTI_MPI_INCLUDES})
target_compile_options(tutti_mpi INTERFACE ${TUTTI_MPI_CFLAGS})
target_compile_definitions(tutti_mpi INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:${TUTTI_MPI_CXX_DEFINITIONS}>")
target_link_libraries(tutti_mpi INTERFACE ${TUTTI_MPI_LINK})
set_target_properties(tutti_mpi PROPERTIES EXPORT_NAME mpi)

# `mpicc` may be the wrapper of another MPI: check the macros of the header.
include(CheckCSourceCompiles)
if(TUTTI_MPI STREQUAL "openmpi")
    set(_macro OPEN_MPI)
elseif(TUTTI_MPI STREQUAL "smpi")
    set(_macro SMPI_H)
else()
    set(_macro MPICH_VERSION)
endif()
set(CMAKE_REQUIRED_INCLUDES ${TUTTI_MPI_INCLUDES})
set(CMAKE_REQUIRED_LIBRARIES ${TUTTI_MPI_LINK})
check_c_source_compiles("
    #include <mpi.h>
    #ifndef ${_macro}
    #error another MPI
    #endif
    int main(void) { return MPI_Finalize(); }" TUTTI_MPI_IS_${TUTTI_MPI})
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT TUTTI_MPI_IS_${TUTTI_MPI})
    message(FATAL_ERROR "${TUTTI_MPICC} does not compile and link a program for ${TUTTI_MPI} "
            "(Debian: apt-get install ${_package}; elsewhere set TUTTI_MPICC)")
endif()
message(STATUS "MPI: ${TUTTI_MPI}, by ${TUTTI_MPICC}")

# Store the flags in a file, for checks that call a compiler.
list(TRANSFORM TUTTI_MPI_INCLUDES PREPEND "-isystem " OUTPUT_VARIABLE _flags)
list(JOIN _flags " " _flags)
file(WRITE ${PROJECT_BINARY_DIR}/mpi.flags "${_flags} ${TUTTI_MPI_CFLAGS}\n")
