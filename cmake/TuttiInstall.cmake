# What `cmake --install` puts where: libraries, headers, command, manual pages, tutti.pc, TuttiConfig; and the Fortran
# module, by its compiler and MPI, with tutti-fortran.pc and the component fortran.
# All of it can be moved afterwards: paths inside are relative to the files that hold them.

include(CMakePackageConfigHelpers)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)

install(TARGETS tutti tutti_mpi EXPORT TuttiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tutti_mpiio LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET tutti_command)
    install(TARGETS tutti_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(_section 1 3 7)
    file(GLOB _pages CONFIGURE_DEPENDS docs/man/*.${_section})
    install(FILES ${_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${_section})
endforeach()

install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${_package})
configure_package_config_file(cmake/TuttiConfig.cmake.in TuttiConfig.cmake
    INSTALL_DESTINATION ${_package})
write_basic_package_version_file(TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TuttiConfig.cmake ${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake
    DESTINATION ${_package})

# tutti.pc carries the MPI's own flags: a plain `cc` can use it.
list(TRANSFORM TUTTI_MPI_INCLUDES PREPEND -I OUTPUT_VARIABLE _includes)
list(JOIN _includes " " TUTTI_PC_MPI_INCLUDES)
list(TRANSFORM TUTTI_MPI_CXX_DEFINITIONS PREPEND -D OUTPUT_VARIABLE _definitions)
list(JOIN TUTTI_MPI_CFLAGS " " TUTTI_PC_MPI_CFLAGS)
list(JOIN _definitions " " _definitions)
string(APPEND TUTTI_PC_MPI_CFLAGS " ${_definitions}")
list(JOIN TUTTI_MPI_LINK " " TUTTI_PC_MPI_LINK)
file(RELATIVE_PATH TUTTI_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" TUTTI_PC_PREFIX "${TUTTI_PC_PREFIX}")
configure_file(cmake/tutti.pc.in tutti.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TUTTI_HAS_FORTRAN)
    install(TARGETS tutti_fortran tutti_mpifort EXPORT TuttiFortran LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${PROJECT_BINARY_DIR}/fortran/tutti.mod DESTINATION ${TUTTI_MOD_DIR})
    install(EXPORT TuttiFortran NAMESPACE Tutti:: DESTINATION ${_package})
    list(TRANSFORM TUTTI_MPIFORT_INCLUDES PREPEND -I OUTPUT_VARIABLE _includes)
    list(JOIN _includes " " TUTTI_PC_MPIFORT_INCLUDES)
    list(JOIN TUTTI_MPIFORT_LINK " " TUTTI_PC_MPIFORT_LINK)
    configure_file(cmake/tutti-fortran.pc.in tutti-fortran.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/tutti-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
