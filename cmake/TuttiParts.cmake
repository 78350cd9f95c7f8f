# The parts that a build can be without, and the small aids that its programs are linked with.
#
# tutti_parts     liburing, where it is installed (defines TUTTI_HAVE_URING); TUTTI_URING=OFF: never
#                 SQLite, which is needed: the metadata of datasets
# tutti_zlib      zlib, where it is installed (defines TUTTI_HAVE_ZLIB): the command's pictures are smaller
# tutti_plugins   sanitizer builds only: keeps the MPI's plugins mapped (see keep_plugins.c)

add_library(tutti_parts INTERFACE)
find_package(PkgConfig QUIET)
option(TUTTI_URING "use liburing where it is installed" ON)
if(PkgConfig_FOUND AND TUTTI_URING)
    pkg_check_modules(URING QUIET IMPORTED_TARGET liburing)
endif()
if(TUTTI_URING AND URING_FOUND)
    target_compile_definitions(tutti_parts INTERFACE TUTTI_HAVE_URING=1)
    target_link_libraries(tutti_parts INTERFACE PkgConfig::URING)
    message(STATUS "liburing ${URING_VERSION}: the store 'uring' is built")
elseif(TUTTI_URING)
    message(NOTICE "no liburing: the store 'uring' is left out (Debian: liburing-dev, pkg-config)")
endif()
find_package(SQLite3 QUIET)
if(NOT SQLite3_FOUND)
    message(FATAL_ERROR "no SQLite, which datasets keep their metadata with (Debian: libsqlite3-dev)")
endif()
target_link_libraries(tutti_parts INTERFACE SQLite::SQLite3 rt dl)

add_library(tutti_zlib INTERFACE)
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
    target_compile_definitions(tutti_zlib INTERFACE TUTTI_HAVE_ZLIB=1)
    target_link_libraries(tutti_zlib INTERFACE ZLIB::ZLIB)
endif()

add_library(tutti_plugins INTERFACE)
if(TUTTI_SANITIZE)
    add_library(tutti_keep_plugins OBJECT tests/support/keep_plugins.c)
    target_link_libraries(tutti_keep_plugins PRIVATE tutti_flags)
    target_sources(tutti_plugins INTERFACE $<TARGET_OBJECTS:tutti_keep_plugins>)
endif()

# MPICH spins without yielding; with more ranks than cores this shim makes it usable.
if(TUTTI_MPI STREQUAL "mpich")
    add_library(mpich_yield MODULE tests/support/mpich_yield.c)
    target_link_libraries(mpich_yield PRIVATE dl)
    set_target_properties(mpich_yield PROPERTIES C_VISIBILITY_PRESET default)
endif()
