# Installation (`cmake --install`).  Builds for both MPIs can be installed into one prefix, in any order:
#
#   lib/libtutti_MPI.so      the library, with a soname for each MPI
#   lib/tutti/MPI/           other files for one MPI: the drop-in library, the command, and `files`, the list of
#                            installed files and created directories, for `make uninstall`
#   bin/tutti.MPI            the command; bin/tutti is a link to that of the MPI installed last, or is managed by
#                            update-alternatives if a package is installed; the same for tutti-experiments
#   lib/pkgconfig/           tutti-MPI.pc; tutti.pc is a link like bin/tutti
#   lib/cmake/Tutti/         TuttiConfig.cmake, which selects one of the installed TuttiTargets-MPI.cmake
#   lib/fortran/             tutti.mod, by compiler and MPI; lib/libtutti-fortran_MPI.so, tutti-fortran-MPI.pc
#   include/tutti, share/    common files of both MPIs
#
# The installation is relocatable: paths in installed files are relative to these files.

include(CMakePackageConfigHelpers)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
set(_own ${CMAKE_INSTALL_LIBDIR}/tutti/${TUTTI_MPI}) # directory for files of this MPI
option(TUTTI_PLAIN_NAMES "install bin/tutti, tutti.pc and so on, too; a package leaves that to alternatives" ON)

add_custom_target(installed DEPENDS tutti tutti_mpiio generated) # builds what is installed
if(TARGET tutti_command)
    add_dependencies(installed tutti_command tutti_experiments)
endif()
if(TUTTI_HAS_FORTRAN)
    add_dependencies(installed tutti_fortran)
endif()

# List all directories that the rules below install into.
set(_completions bash-completion/completions zsh/site-functions fish/vendor_completions.d)
list(TRANSFORM _completions PREPEND ${CMAKE_INSTALL_DATADIR}/)
set(_doc ${CMAKE_INSTALL_DATADIR}/doc/tutti)
set(_report ${CMAKE_INSTALL_DATADIR}/tutti/tutti_experiments) # Python, for bin/tutti-report
set(_man ${CMAKE_INSTALL_MANDIR}/man)
set(_directories ${_own} ${_package} ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_BINDIR}
    ${CMAKE_INSTALL_INCLUDEDIR}/tutti ${_completions} ${_man}1 ${_man}3 ${_man}7 ${_doc}/docs ${_doc}/examples
    ${_report})
set(_kinds tutorial howto reference explanation appendix) # directories of documentation
foreach(_kind ${_kinds})
    list(APPEND _directories ${_doc}/docs/${_kind})
endforeach()
if(TUTTI_HAS_FORTRAN)
    list(APPEND _directories ${TUTTI_MOD_DIR})
endif()
configure_file(cmake/directories.cmake.in directories.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/directories.cmake)

install(TARGETS tutti tutti_mpi EXPORT TuttiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tutti_mpiio LIBRARY DESTINATION ${_own})
install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET tutti_command)
    install(TARGETS tutti_command tutti_experiments RUNTIME DESTINATION ${_own})
    set(_bash bash-completion/completions/tutti)
    set(_zsh zsh/site-functions/_tutti)
    set(_fish fish/vendor_completions.d/tutti.fish)
    foreach(_shell bash zsh fish)
        get_filename_component(_dir ${CMAKE_INSTALL_DATADIR}/${_${_shell}} DIRECTORY)
        get_filename_component(_name ${_${_shell}} NAME)
        install(FILES ${TUTTI_GENERATED}/completion/${_shell} DESTINATION ${_dir} RENAME ${_name})
    endforeach()
endif()
foreach(_section 1 3 7)
    install(DIRECTORY docs/man/ ${TUTTI_GENERATED}/man/ DESTINATION ${_man}${_section}
        FILES_MATCHING PATTERN "*.${_section}")
endforeach()

file(GLOB _modules CONFIGURE_DEPENDS experiments/tutti_experiments/*.py)
list(FILTER _modules EXCLUDE REGEX "/(__main__|compare_mpiio|python_cost|results).py$")
install(FILES ${_modules} DESTINATION ${_report})
install(PROGRAMS experiments/tutti_experiments/__main__.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME tutti-report)

# Install documentation and examples in share/doc/tutti.
file(GLOB _steps CONFIGURE_DEPENDS examples/step*.c examples/CMakeLists.txt)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${_doc})
foreach(_kind . ${_kinds})
    file(GLOB _guides CONFIGURE_DEPENDS docs/${_kind}/*.md docs/${_kind}/*.png docs/${_kind}/*.svg)
    install(FILES ${_guides} DESTINATION ${_doc}/docs/${_kind})
endforeach()
install(FILES ${_steps} DESTINATION ${_doc}/examples)

install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${_package} FILE TuttiTargets-${TUTTI_MPI}.cmake)
configure_package_config_file(cmake/TuttiConfig.cmake.in TuttiConfig.cmake
    INSTALL_DESTINATION ${_package})
write_basic_package_version_file(TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TuttiConfig.cmake ${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake
    DESTINATION ${_package})

# tutti-MPI.pc contains the flags of the MPI, so that programs can be compiled without its wrapper.
list(TRANSFORM TUTTI_MPI_INCLUDES PREPEND -I OUTPUT_VARIABLE _includes)
list(JOIN _includes " " TUTTI_PC_MPI_INCLUDES)
list(TRANSFORM TUTTI_MPI_CXX_DEFINITIONS PREPEND -D OUTPUT_VARIABLE _definitions)
list(JOIN TUTTI_MPI_CFLAGS " " TUTTI_PC_MPI_CFLAGS)
list(JOIN _definitions " " _definitions)
string(APPEND TUTTI_PC_MPI_CFLAGS " ${_definitions}")
list(JOIN TUTTI_MPI_LINK " " TUTTI_PC_MPI_LINK)
file(RELATIVE_PATH TUTTI_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" TUTTI_PC_PREFIX "${TUTTI_PC_PREFIX}")
configure_file(cmake/tutti.pc.in tutti-${TUTTI_MPI}.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tutti-${TUTTI_MPI}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TUTTI_HAS_FORTRAN)
    install(TARGETS tutti_fortran tutti_mpifort EXPORT TuttiFortran LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${PROJECT_BINARY_DIR}/fortran/tutti.mod DESTINATION ${TUTTI_MOD_DIR})
    install(EXPORT TuttiFortran NAMESPACE Tutti:: DESTINATION ${_package} FILE TuttiFortran-${TUTTI_MPI}.cmake)
    list(TRANSFORM TUTTI_MPIFORT_INCLUDES PREPEND -I OUTPUT_VARIABLE _includes)
    list(JOIN _includes " " TUTTI_PC_MPIFORT_INCLUDES)
    list(JOIN TUTTI_MPIFORT_LINK " " TUTTI_PC_MPIFORT_LINK)
    configure_file(cmake/tutti-fortran.pc.in tutti-fortran-${TUTTI_MPI}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/tutti-fortran-${TUTTI_MPI}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Create the links, then the list of all installed files.
file(RELATIVE_PATH _command /p/${CMAKE_INSTALL_BINDIR} /p/${_own}/tutti)
set(_links "${CMAKE_INSTALL_BINDIR}/tutti.${TUTTI_MPI}>${_command}"
    "${CMAKE_INSTALL_BINDIR}/tutti-experiments.${TUTTI_MPI}>${_command}-experiments")
if(TUTTI_PLAIN_NAMES)
    list(APPEND _links "${CMAKE_INSTALL_BINDIR}/tutti>tutti.${TUTTI_MPI}"
        "${CMAKE_INSTALL_BINDIR}/tutti-experiments>tutti-experiments.${TUTTI_MPI}"
        "${CMAKE_INSTALL_LIBDIR}/libtutti.so>libtutti_${TUTTI_MPI}.so"
        "${CMAKE_INSTALL_LIBDIR}/libtutti-mpiio.so>tutti/${TUTTI_MPI}/libtutti-mpiio.so"
        "${CMAKE_INSTALL_LIBDIR}/pkgconfig/tutti.pc>tutti-${TUTTI_MPI}.pc")
endif()
if(TUTTI_PLAIN_NAMES AND TUTTI_HAS_FORTRAN)
    list(APPEND _links "${CMAKE_INSTALL_LIBDIR}/libtutti-fortran.so>libtutti-fortran_${TUTTI_MPI}.so"
        "${CMAKE_INSTALL_LIBDIR}/pkgconfig/tutti-fortran.pc>tutti-fortran-${TUTTI_MPI}.pc")
endif()
configure_file(cmake/links.cmake.in links.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/links.cmake)
