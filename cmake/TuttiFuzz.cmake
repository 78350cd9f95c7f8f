# Fuzz targets that need the complete library (TUTTI_FUZZ=ON; requires clang).  tests/exodus/t1392_fuzz.sh
# configures such a build.  Each file tests/fuzz/full_*.c becomes a program that contains the library, the command
# (without its main) and libFuzzer.

option(TUTTI_FUZZ "build the fuzz targets of tests/fuzz/full_*.c; clang only" OFF)
if(TUTTI_FUZZ)
    target_compile_options(tutti_flags INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(tutti_flags INTERFACE -fsanitize=fuzzer-no-link)
    file(GLOB _fuzz CONFIGURE_DEPENDS tests/fuzz/full_*.c)
    set(_fuzz_cli ${_cli})
    list(REMOVE_ITEM _fuzz_cli ${PROJECT_SOURCE_DIR}/cli/main.c)
    add_library(tutti_fuzz_cli OBJECT ${_fuzz_cli})
    target_include_directories(tutti_fuzz_cli PRIVATE cli include)
    target_link_libraries(tutti_fuzz_cli PRIVATE tutti_flags tutti_mpi tutti_png)
    add_custom_target(fuzz)
    foreach(_file ${_fuzz})
        get_filename_component(_name ${_file} NAME_WE)
        add_executable(${_name} EXCLUDE_FROM_ALL ${_file} $<TARGET_OBJECTS:tutti_fuzz_cli>)
        target_include_directories(${_name} PRIVATE cli tests tests/fuzz)
        target_link_libraries(${_name} PRIVATE tutti_internal tutti_plugins tutti_png tutti_measure m)
        target_link_options(${_name} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzz ${_name})
    endforeach()
endif()
