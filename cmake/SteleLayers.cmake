# stele_layer(NAME [APART] [EXCEPTIONS]) compiles all .cc files of the directory src/NAME, and of the
# directories in it, into the object library stele_NAME_objects, where NAME has "_" for "/". A
# directory without .cc files makes no library.
# Compile flags are private and do not reach consumers. APART: not part of the library stele.
# EXCEPTIONS: exceptions of callers and of allocations may pass through it.
# stele_layers() does so for each directory of docs/layers.txt, except for those that form a library
# of their own. SteleLibrary.cmake joins the object libraries.
#
# docs/layers.txt is the only list of the directories. Here it sets STELE_LAYERS, the directories
# directly below src/ and below src/remote, lowest first, and for each of them
# STELE_BELOW_<layer>: all directories that it includes, directly or not. STELED_DIRECTORIES is set
# to those of the server, in tools/.
set(STELE_LAYER_OBJECTS "")
# SteleWire.cmake, SteleRemote.cmake and SteleLab.cmake make libraries of them.
set(STELE_APART_LAYERS remote/wire remote/client lab)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/layers.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/docs/layers.txt" lines REGEX "^[a-z0-9_/]+:")
set(STELE_LAYERS "")
set(STELED_DIRECTORIES ${lines})
list(FILTER STELED_DIRECTORIES INCLUDE REGEX "^steled[/:]")
list(TRANSFORM STELED_DIRECTORIES REPLACE ":.*" "")
list(FILTER lines EXCLUDE REGEX "^steled[/:]")
foreach(line IN LISTS lines)
  # sstable/read is a part of sstable. The parts of remote are separate libraries.
  string(REPLACE "remote/" "remote." line "${line}")
  string(REGEX REPLACE "/[a-z_]+" "" line "${line}")
  string(REPLACE "remote." "remote/" line "${line}")
  string(REGEX MATCH "^([a-z_/]+): *(.*)$" matched "${line}")
  set(layer "${CMAKE_MATCH_1}")
  string(REGEX REPLACE " +" ";" below "${CMAKE_MATCH_2}")
  list(APPEND STELE_LAYERS ${layer})
  foreach(included IN LISTS below)
    list(APPEND STELE_BELOW_${layer} ${included} ${STELE_BELOW_${included}})
  endforeach()
  list(REMOVE_DUPLICATES STELE_BELOW_${layer})
  list(REMOVE_ITEM STELE_BELOW_${layer} ${layer})
endforeach()
list(REMOVE_DUPLICATES STELE_LAYERS)

add_library(stele_private_flags INTERFACE)
target_compile_features(stele_private_flags INTERFACE cxx_std_20)
target_include_directories(stele_private_flags INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_options(stele_private_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 warns at every assignment of a std::string (gcc bug 105651)
  target_compile_options(stele_private_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND STELE_FRESH_BUILD)
  # In a unity build gcc treats the included files as headers, and after more inlining it warns
  # about values that are set.
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
    target_compile_options(stele_private_flags INTERFACE -gline-tables-only)  # enough for a report
  endif()
  # Makes a report of undefined behavior a failure. Without this option it is only a line of text.
  if(stele_sanitize MATCHES "undefined")
    target_compile_options(stele_private_flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
target_link_libraries(stele_private_flags INTERFACE ${STELE_PUBLIC_DEPENDENCIES} ${STELE_PRIVATE_DEPENDENCIES})

# stele_precompile(TARGET OWNER headers...): gives TARGET the precompiled header of OWNER, which is
# the first target that asks for it.
# Parsing these headers is half of the compile time. Only with STELE_FRESH_BUILD: a precompiled
# header of a hundred megabytes defeats the compiler cache.
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

function(stele_layer name)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cc"
       "${PROJECT_SOURCE_DIR}/src/${name}/*/*.cc")
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" library "stele_${name}")
  add_library(${library}_objects OBJECT ${sources})
  set_target_properties(${library}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  # The objects are position-independent, because the shared library uses them too. Without this
  # option gcc then assumes that every function may be replaced at load time, and inlines none.
  target_compile_options(${library}_objects PRIVATE -fno-semantic-interposition)
  target_link_libraries(${library}_objects PUBLIC stele_private_flags)
  if(NOT "EXCEPTIONS" IN_LIST ARGN)
    target_compile_options(${library}_objects PRIVATE -fno-exceptions)
    # An exception of a callback or of an allocation that passed through these functions would run
    # no destructor: locks would stay locked. Without tables to unwind, it ends the process where it
    # is thrown. The reports of sanitizers need the tables.
    if(NOT stele_sanitize)
      target_compile_options(${library}_objects PRIVATE -fno-asynchronous-unwind-tables -fno-unwind-tables)
    endif()
    stele_precompile(${library}_objects stele_base_objects ${STELE_PRECOMPILED_HEADERS})
  endif()
  if(NOT "APART" IN_LIST ARGN)
    set(STELE_LAYER_OBJECTS ${STELE_LAYER_OBJECTS} ${library}_objects PARENT_SCOPE)
  endif()
  # A static library of one directory, so that a directory and its test build while others do not.
  add_library(${library} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${library}_objects>)
  target_link_libraries(${library} PUBLIC stele_private_flags)
endfunction()

macro(stele_layers)
  foreach(layer IN LISTS STELE_LAYERS)
    if(NOT layer IN_LIST STELE_APART_LAYERS)
      stele_layer(${layer})
    endif()
  endforeach()
endmacro()
