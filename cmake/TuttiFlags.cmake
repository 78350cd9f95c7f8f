# Build type, language, warnings and sanitizers: the target tutti_flags, for all code of this tree.
#
#   TUTTI_SANITIZE   address (ASan and UBSan) | thread | empty
#   TUTTI_WERROR     warnings are errors

set(TUTTI_SANITIZE "" CACHE STRING "address (with undefined), thread, or empty")
option(TUTTI_WERROR "treat warnings as errors" OFF)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "build type" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

find_package(Threads REQUIRED)
add_library(tutti_flags INTERFACE)
target_compile_definitions(tutti_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(tutti_flags INTERFACE -Wall -Wextra $<$<BOOL:${TUTTI_WERROR}>:-Werror>)
target_link_libraries(tutti_flags INTERFACE Threads::Threads)

if(TUTTI_SANITIZE STREQUAL "address")
    set(_sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(TUTTI_SANITIZE STREQUAL "thread")
    set(_sanitize -fsanitize=thread)
elseif(TUTTI_SANITIZE)
    message(FATAL_ERROR "TUTTI_SANITIZE is '${TUTTI_SANITIZE}'; it can be address or thread")
endif()
if(TUTTI_SANITIZE)
    set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g")
    target_compile_definitions(tutti_flags INTERFACE TUTTI_DEBUG)
    target_compile_options(tutti_flags INTERFACE ${_sanitize} -fno-omit-frame-pointer)
    target_link_options(tutti_flags INTERFACE ${_sanitize})
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_definitions(tutti_flags INTERFACE TUTTI_DEBUG)
endif()
