# Files that are generated from the public headers, the table of options and the command's help.
#
#   TUTTI_GENERATED   the directory of these files: generated/ of the build
#     fortran/        declarations, procedures and entries of the Fortran module; struct layouts for a test
#     python/         _api.py, the declarations of the Python binding
#     man/            manual pages of section 3, tutti-options.7, pages of the command (docs/man/*.in)
#     completion/     bash, zsh, fish
#
# The archive of `make dist` contains generated/.  If the source tree has this directory, the directory of the build
# is a link to it, no generator runs, and the build does not need Python.  To regenerate the files, remove generated/
# from the source tree.
#
# Targets: generated_bindings (Fortran, Python), generated_man, and generated, which consists of both.
#
# python/tutti of the build is the Python package: links to bindings/python/tutti, and the generated module.

set(TUTTI_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(_from ${PROJECT_SOURCE_DIR}/generated)
set(_fortran declarations.inc interfaces.inc procedures.inc entries.c layout.inc layout.c)
list(TRANSFORM _fortran PREPEND ${TUTTI_GENERATED}/fortran/)
set(_shells bash zsh fish)
if(IS_SYMLINK ${TUTTI_GENERATED})
    file(REMOVE ${TUTTI_GENERATED})
endif()

if(IS_DIRECTORY ${_from})
    message(STATUS "Generated files: those of ${_from}")
    file(REMOVE_RECURSE ${TUTTI_GENERATED})
    file(CREATE_LINK ${_from} ${TUTTI_GENERATED} SYMBOLIC)
    add_custom_target(generated_bindings)
    add_custom_target(generated_man)
    add_custom_target(generated)
else()
    find_program(TUTTI_PYTHON python3)
    if(NOT TUTTI_PYTHON)
        message(FATAL_ERROR "python3 not found: a clone generates sources and manual pages with it; "
            "the archive of `make dist` contains them")
    endif()
    set(_python ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} ${TUTTI_PYTHON} -B)
    set(_scripts ${PROJECT_SOURCE_DIR}/scripts)
    file(GLOB _headers CONFIGURE_DEPENDS include/tutti/*.h)
    list(APPEND _headers ${_scripts}/tutti_headers.py ${_scripts}/header_comments.py)

    add_custom_command(OUTPUT ${_fortran}
        COMMAND ${_python} ${_scripts}/gen_fortran.py ${TUTTI_GENERATED}/fortran
        DEPENDS ${_scripts}/gen_fortran.py ${_scripts}/fortran_interfaces.py ${_headers}
            ${PROJECT_SOURCE_DIR}/bindings/fortran/tutti.F90 ${PROJECT_SOURCE_DIR}/bindings/fortran/exodus.inc
            ${PROJECT_SOURCE_DIR}/bindings/fortran/interfaces.txt
        COMMENT "Generating the Fortran module's declarations and entries" VERBATIM)
    add_custom_command(OUTPUT ${TUTTI_GENERATED}/python/_api.py
        COMMAND ${_python} ${_scripts}/gen_python_api.py ${TUTTI_GENERATED}/python/_api.py
        DEPENDS ${_scripts}/gen_python_api.py ${_headers}
        COMMENT "Generating the Python binding's declarations" VERBATIM)
    add_custom_target(generated_bindings ALL DEPENDS ${_fortran} ${TUTTI_GENERATED}/python/_api.py)

    # One run generates all pages of section 3; only tutti_file.3 is declared as output.
    file(GLOB _examples CONFIGURE_DEPENDS examples/*.c examples/apps/*.c src/store/store_null.c)
    add_custom_command(OUTPUT ${TUTTI_GENERATED}/man/tutti_file.3
        COMMAND ${_python} ${_scripts}/gen_api_man.py ${TUTTI_GENERATED}/man
        DEPENDS ${_scripts}/gen_api_man.py ${_headers} ${_examples}
        COMMENT "Generating manual pages of functions" VERBATIM)
    add_executable(gen_options_man EXCLUDE_FROM_ALL scripts/gen_options_man.c src/base/options.c src/base/error.c)
    target_include_directories(gen_options_man PRIVATE include src)
    target_link_libraries(gen_options_man PRIVATE tutti_flags)
    file(MAKE_DIRECTORY ${TUTTI_GENERATED}/man ${TUTTI_GENERATED}/completion)
    add_custom_command(OUTPUT ${TUTTI_GENERATED}/man/tutti-options.7
        COMMAND gen_options_man > ${TUTTI_GENERATED}/man/tutti-options.7
        DEPENDS gen_options_man
        COMMENT "Generating tutti-options(7)" VERBATIM)
    add_custom_target(generated_man ALL DEPENDS ${TUTTI_GENERATED}/man/tutti_file.3 ${TUTTI_GENERATED}/man/tutti-options.7)

    foreach(_shell IN LISTS _shells)
        add_custom_command(OUTPUT ${TUTTI_GENERATED}/completion/${_shell}
            COMMAND tutti_command completion ${_shell} > ${TUTTI_GENERATED}/completion/${_shell}
            DEPENDS tutti_command
            COMMENT "Generating completion for ${_shell}" VERBATIM)
    endforeach()
    list(TRANSFORM _shells PREPEND ${TUTTI_GENERATED}/completion/)
    set(_tables ${PROJECT_BINARY_DIR}/commands.json)
    add_custom_command(OUTPUT ${_tables} COMMAND tutti_command help --json > ${_tables} DEPENDS tutti_command
        COMMENT "Generating the tables of commands" VERBATIM)
    file(GLOB _templates CONFIGURE_DEPENDS docs/man/*.in)
    foreach(_template IN LISTS _templates)
        get_filename_component(_page ${_template} NAME)
        string(REGEX REPLACE "\\.in$" "" _page ${TUTTI_GENERATED}/man/${_page})
        add_custom_command(OUTPUT ${_page}
            COMMAND ${_python} ${_scripts}/gen_command_man.py ${_tables} ${_template} ${_page}
            DEPENDS ${_scripts}/gen_command_man.py ${_tables} ${_template}
            COMMENT "Generating ${_page}" VERBATIM)
        list(APPEND _pages ${_page})
    endforeach()
    add_custom_target(generated ALL DEPENDS ${_shells} ${_pages})
    add_dependencies(generated generated_bindings generated_man)
endif()

file(GLOB _modules CONFIGURE_DEPENDS bindings/python/tutti/*.py)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/tutti)
list(FILTER _modules EXCLUDE REGEX "/_api.py$")
foreach(_module IN LISTS _modules ITEMS ${TUTTI_GENERATED}/python/_api.py)
    get_filename_component(_name ${_module} NAME)
    file(CREATE_LINK ${_module} ${PROJECT_BINARY_DIR}/python/tutti/${_name} SYMBOLIC)
endforeach()
