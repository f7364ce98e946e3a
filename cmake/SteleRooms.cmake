# A room is a folder of src/: one object library from all its .cc files. Its flags stay private, so nothing leaks to consumers.
#
# stele_room(NAME [APART]) makes stele_NAME_objects; a folder without a .cc file yet makes nothing. APART: not part of the library stele. The rooms a test may link are all of them
# (SteleLibrary.cmake joins them); the order between rooms is docs/layers.txt and is checked by tools/checks/check_layers.py.
set(STELE_ROOM_OBJECTS "")

add_library(stele_private_flags INTERFACE)
target_compile_features(stele_private_flags INTERFACE cxx_std_20)
target_include_directories(stele_private_flags INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_options(stele_private_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(stele_private_flags INTERFACE -Wno-restrict)  # gcc 12 sees it in every std::string assignment (its bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND STELE_FRESH_BUILD)
  # gcc takes files that are compiled together for headers, and where it inlines more of them it doubts values that are set.
  target_compile_options(stele_private_flags INTERFACE -Wno-subobject-linkage -Wno-maybe-uninitialized)
endif()
if(STELE_WERROR)
  target_compile_options(stele_private_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(stele_private_flags INTERFACE -Wthread-safety -Wthread-safety-beta)
endif()
if(STELE_INVARIANTS)
  target_compile_definitions(stele_private_flags INTERFACE STELE_INVARIANTS=1)
endif()
if(STELE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "STELE_FUZZ needs clang's libFuzzer: configure with -DCMAKE_CXX_COMPILER=clang++")
  endif()
  set(stele_sanitize address,undefined)
  target_compile_options(stele_private_flags INTERFACE -fsanitize=fuzzer-no-link)
else()
  set(stele_sanitize "${STELE_SANITIZE}")
endif()
if(stele_sanitize)
  target_compile_options(stele_private_flags INTERFACE -fsanitize=${stele_sanitize} -fno-omit-frame-pointer)
  target_link_options(stele_private_flags INTERFACE -fsanitize=${stele_sanitize})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(stele_private_flags INTERFACE -gline-tables-only)  # all that a report shows
  endif()
  # A report is a failure; without this an undefined-behaviour report is a line of text.
  if(stele_sanitize MATCHES "undefined")
    target_compile_options(stele_private_flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
target_link_libraries(stele_private_flags INTERFACE ${STELE_PUBLIC_DEPENDENCIES} ${STELE_PRIVATE_DEPENDENCIES})

# stele_precompile(TARGET OWNER headers...): TARGET gets the headers of the precompiled header that OWNER makes; OWNER is the first to ask.
# Parsing them is half of what compiling a file of ours takes. Only in STELE_FRESH_BUILD: the compiler cache is defeated by a header of a hundred
# megabytes.
set(STELE_PRECOMPILED_HEADERS
    <algorithm> <chrono> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <thread> <utility> <vector>
    <absl/container/inlined_vector.h> <absl/status/status.h> <absl/status/statusor.h> <fmt/format.h>)
function(stele_precompile target owner)
  if(NOT STELE_FRESH_BUILD)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

function(stele_room name)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cc")
  if(NOT sources)
    return()
  endif()
  add_library(stele_${name}_objects OBJECT ${sources})
  set_target_properties(stele_${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  # The objects serve the shared library too, so they are position-independent; gcc then takes every function for replaceable at load time
  # and inlines none of them, unless told otherwise.
  target_compile_options(stele_${name}_objects PRIVATE -fno-exceptions -fno-semantic-interposition)
  target_link_libraries(stele_${name}_objects PUBLIC stele_private_flags)
  stele_precompile(stele_${name}_objects stele_base_objects ${STELE_PRECOMPILED_HEADERS})
  if(NOT "APART" IN_LIST ARGN)
    set(STELE_ROOM_OBJECTS ${STELE_ROOM_OBJECTS} stele_${name}_objects PARENT_SCOPE)
  endif()
  # A static library of one room, so that a room and its test build while other rooms do not.
  add_library(stele_${name} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:stele_${name}_objects>)
  target_link_libraries(stele_${name} PUBLIC stele_private_flags)
endfunction()
