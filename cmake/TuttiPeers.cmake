# Programs that use MPI-IO through libraries of Debian packages (tests/mpiio/programs, experiments/peers).  They run with and
# without libtutti-mpiio.so.  If a library is not installed, its name is printed and its tests are skipped.
#
#   hdf5_*.c      parallel HDF5, for both MPIs
#   pnetcdf_*.c   PnetCDF; Debian builds it for Open MPI only
#   netcdf_*.c    parallel netCDF-4; Debian builds it for Open MPI only
#   *.F90         Fortran with mpif.h, with `use mpi`, and with `use mpi_f08`
#
# They are linked with the MPI and the library in question, but not with Tutti.  They are not part of builds with
# sanitizers, which would require instrumented programs.

set(_programs ${PROJECT_SOURCE_DIR}/tests/mpiio/programs)
set(_places ${PROJECT_BINARY_DIR}/tests/mpiio)

# Add the programs PREFIX_*.c of a library, which pkg-config finds as `module`.
function(tutti_peer_programs prefix module package)
    if(PkgConfig_FOUND)
        pkg_check_modules(PEER_${prefix} QUIET IMPORTED_TARGET ${module})
    endif()
    if(prefix STREQUAL "netcdf" AND PEER_netcdf_FOUND) # Debian's netcdf-mpi.pc lacks the directory of the headers
        find_path(TUTTI_NETCDF_PAR netcdf_par.h PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/netcdf/mpi/include)
        if(TUTTI_NETCDF_PAR)
            target_include_directories(PkgConfig::PEER_netcdf SYSTEM INTERFACE ${TUTTI_NETCDF_PAR})
        else()
            set(PEER_netcdf_FOUND 0)
        endif()
    endif()
    if(NOT PEER_${prefix}_FOUND)
        message(NOTICE "no ${module}: tests of programs with it are skipped (Debian: ${package})")
        return()
    endif()
    file(GLOB _files CONFIGURE_DEPENDS ${_programs}/${prefix}_*.c
        ${PROJECT_SOURCE_DIR}/experiments/peers/${prefix}_*.c)
    foreach(_file IN LISTS _files)
        get_filename_component(_stem ${_file} NAME_WE)
        add_executable(mpiio.${_stem} EXCLUDE_FROM_ALL ${_file})
        set_target_properties(mpiio.${_stem} PROPERTIES OUTPUT_NAME ${_stem}
            RUNTIME_OUTPUT_DIRECTORY ${_places})
        target_link_libraries(mpiio.${_stem} PRIVATE PkgConfig::PEER_${prefix} tutti_standalone_mpi tutti_flags m)
        add_dependencies(tests mpiio.${_stem})
    endforeach()
endfunction()

# Add each Fortran program three times: with mpif.h, `use mpi` and `use mpi_f08`.
function(tutti_fortran_programs)
    find_program(TUTTI_MPIFORT NAMES mpifort.${TUTTI_MPI} mpif90.${TUTTI_MPI})
    find_program(TUTTI_GFORTRAN gfortran)
    if(NOT TUTTI_MPIFORT OR NOT TUTTI_GFORTRAN)
        message(NOTICE "no Fortran: tests of Fortran programs are skipped (Debian: gfortran)")
        return()
    endif()
    file(GLOB _files CONFIGURE_DEPENDS ${_programs}/*.F90)
    foreach(_file IN LISTS _files)
        get_filename_component(_stem ${_file} NAME_WE)
        foreach(_dialect mpif mpi f08)
            set(_out ${_places}/${_stem}_${_dialect})
            add_custom_command(OUTPUT ${_out} DEPENDS ${_file} COMMENT "Fortran program ${_stem}_${_dialect}"
                COMMAND ${CMAKE_COMMAND} -E make_directory ${_places}/${_dialect}
                COMMAND ${TUTTI_MPIFORT} -g -O1 -Wall -fallow-argument-mismatch -DDIALECT_${_dialect}
                        -J ${_places}/${_dialect} -o ${_out} ${_file})
            add_custom_target(mpiio.${_stem}_${_dialect} DEPENDS ${_out})
            add_dependencies(tests mpiio.${_stem}_${_dialect})
        endforeach()
    endforeach()
endfunction()

if(NOT TUTTI_SANITIZE)
    tutti_peer_programs(hdf5 hdf5-${TUTTI_MPI} libhdf5-${TUTTI_MPI}-dev)
    if(TUTTI_MPI STREQUAL "openmpi")
        tutti_peer_programs(pnetcdf pnetcdf libpnetcdf-dev)
        tutti_peer_programs(netcdf netcdf-mpi libnetcdf-mpi-dev)
    endif()
    tutti_fortran_programs()
    # Add the program that compares datasets with HDF5 and PnetCDF.  It is linked with Tutti, and built if HDF5 is installed.
    if(PEER_hdf5_FOUND)
        add_executable(dataset_peers EXCLUDE_FROM_ALL experiments/peers/dataset_peers.c)
        target_link_libraries(dataset_peers PRIVATE tutti PkgConfig::PEER_hdf5 tutti_standalone_mpi tutti_flags m)
        if(PEER_pnetcdf_FOUND)
            target_compile_definitions(dataset_peers PRIVATE HAVE_PNETCDF=1)
            target_link_libraries(dataset_peers PRIVATE PkgConfig::PEER_pnetcdf)
        endif()
        add_dependencies(tests dataset_peers)
    endif()
    # Add the program that compares finite-element output with PnetCDF and netCDF-4, if these are installed.
    file(GLOB _files CONFIGURE_DEPENDS experiments/peers/exodus_peers*.c)
    add_executable(exodus_peers EXCLUDE_FROM_ALL ${_files})
    target_link_libraries(exodus_peers PRIVATE tutti tutti_standalone_mpi tutti_flags m)
    foreach(_peer pnetcdf netcdf)
        if(PEER_${_peer}_FOUND)
            string(TOUPPER ${_peer} _name)
            target_compile_definitions(exodus_peers PRIVATE HAVE_${_name}=1)
            target_link_libraries(exodus_peers PRIVATE PkgConfig::PEER_${_peer})
        endif()
    endforeach()
    add_dependencies(tests exodus_peers)
endif()

# Add the programs that write and read Exodus files with Debian's libexodusii (tests/exodus/exodus_*.c,
# experiments/peers/exodus_sets.c).  They run without MPI, are not linked with Tutti, and are part of all builds without
# sanitizers.  libexodusii depends on the netCDF of Open MPI, which has no effect on programs without MPI.
function(tutti_exodus_programs)
    find_path(TUTTI_EXODUSII_INCLUDE exodusII.h)
    find_library(TUTTI_EXODUSII_LIBRARY exoIIv2c)
    mark_as_advanced(TUTTI_EXODUSII_INCLUDE TUTTI_EXODUSII_LIBRARY)
    if(NOT TUTTI_EXODUSII_INCLUDE OR NOT TUTTI_EXODUSII_LIBRARY)
        message(NOTICE "no libexodusii: tests that compare with it are skipped (Debian: libexodusii-dev)")
        return()
    endif()
    file(GLOB _files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/exodus/exodus_*.c
        ${PROJECT_SOURCE_DIR}/experiments/peers/exodus_sets.c ${PROJECT_SOURCE_DIR}/experiments/peers/exodus_join.c)
    foreach(_file IN LISTS _files)
        get_filename_component(_stem ${_file} NAME_WE)
        add_executable(exodus.${_stem} EXCLUDE_FROM_ALL ${_file})
        set_target_properties(exodus.${_stem} PROPERTIES OUTPUT_NAME ${_stem}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/exodus)
        target_include_directories(exodus.${_stem} SYSTEM PRIVATE ${TUTTI_EXODUSII_INCLUDE})
        target_link_libraries(exodus.${_stem} PRIVATE ${TUTTI_EXODUSII_LIBRARY} tutti_standalone tutti_flags)
        add_dependencies(tests exodus.${_stem})
    endforeach()
    if(TUTTI_MPI STREQUAL "openmpi") # the MPI of libexodusii's netCDF
        add_executable(exodus_mesh_peers EXCLUDE_FROM_ALL experiments/peers/exodus_mesh_peers.c)
        target_include_directories(exodus_mesh_peers SYSTEM PRIVATE ${TUTTI_EXODUSII_INCLUDE})
        target_link_libraries(exodus_mesh_peers PRIVATE tutti tutti_standalone_mpi ${TUTTI_EXODUSII_LIBRARY} tutti_flags)
        add_dependencies(tests exodus_mesh_peers)
    endif()
endfunction()
if(NOT TUTTI_SANITIZE)
    tutti_exodus_programs()
endif()
