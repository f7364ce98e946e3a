# The kinds of test program.
#
# stele_unit_test(ROOM [rooms below...]): tests/unit/ROOM/*.cc against the static library of ROOM and of the rooms below it, so that a room and
#   its test build while other rooms do not. tests/support/<room>_*.cc joins every test that links <room>. Labels unit and sanitized; also tsan
#   for the rooms that threads meet in (STELE_CONCURRENT_ROOMS).
# stele_test(NAME sources... [LABELS labels...] [TIMEOUT seconds] [ENVIRONMENT NAME=value...] [EACH_ALONE]): a GoogleTest program against
#   the whole static library, run once, or once for each of its tests; internals too, with src/ and tests/ on the include path and all of tests/support/ linked.
# stele_program(NAME sources...): what both are made of: an executable with the project's flags.
#
# Every program joins the target stele_tests_<label> for each of its labels, so that a sanitizer build makes no more than its tests need:
# the asan preset runs the label sanitized, the tsan preset the label tsan.
set(STELE_CONCURRENT_ROOMS base io memtable sstable db)

# The flags of everything under tests/. Compiling is most of what a test costs, so an optimised build optimises tests little and a sanitizer build
# not at all; the library under them is the one that users get.
add_library(stele_test_flags INTERFACE)
target_include_directories(stele_test_flags INTERFACE "${PROJECT_SOURCE_DIR}/tests")
target_compile_options(stele_test_flags INTERFACE $<$<CONFIG:Release>:-O1>)
if(STELE_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(stele_test_flags INTERFACE -O0)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(stele_test_flags INTERFACE -Wno-array-bounds)  # with -O1 gcc 12 sees it in sums of strings, where there is none
endif()
target_link_libraries(stele_test_flags INTERFACE stele_private_flags GTest::gtest)

function(stele_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE stele_test_flags)
endfunction()

set(STELE_TEST_DATA_SOURCE "${CMAKE_CURRENT_BINARY_DIR}/base_test_data.cc")
file(CONFIGURE OUTPUT "${STELE_TEST_DATA_SOURCE}" @ONLY CONTENT [[
#include "support/base_test_data.h"
namespace stele::internal {
std::string TestDataPath(std::string_view path) { return std::string("@PROJECT_SOURCE_DIR@/tests/").append(path); }
}  // namespace stele::internal
]])

# The owner of what the tests parse once.
if(STELE_FRESH_BUILD)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc" "")
  add_library(stele_test_headers OBJECT "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc")
  set_target_properties(stele_test_headers PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(stele_test_headers PRIVATE stele_test_flags)
  stele_precompile(stele_test_headers stele_test_headers ${STELE_PRECOMPILED_HEADERS} <gtest/gtest.h>)
endif()

# Adds tests/support/<room>_*.cc to a program. Each file is compiled once, however many programs link it; objects, not a library, because
# some of them (the sanitizers' options) are found by name only when they are linked unasked.
function(stele_support program room)
  if(NOT TARGET stele_support_${room})
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/${room}_*.cc")
    if(room STREQUAL "base")
      list(APPEND sources "${STELE_TEST_DATA_SOURCE}")
    endif()
    if(NOT sources)
      return()
    endif()
    add_library(stele_support_${room} OBJECT ${sources})
    set_target_properties(stele_support_${room} PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(stele_support_${room} PRIVATE stele_test_flags)
    stele_precompile(stele_support_${room} stele_test_headers)
  endif()
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:stele_support_${room}>)
endfunction()

function(stele_all_support program)
  file(GLOB support CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests/support" "${PROJECT_SOURCE_DIR}/tests/support/*.cc")
  list(TRANSFORM support REPLACE "_.*" "")
  list(REMOVE_DUPLICATES support)
  foreach(room IN LISTS support)
    stele_support(${program} ${room})
  endforeach()
endfunction()

function(stele_label name)
  set_property(TEST ${name} PROPERTY LABELS ${ARGN})
  foreach(label IN LISTS ARGN)
    if(NOT TARGET stele_tests_${label})
      add_custom_target(stele_tests_${label})
    endif()
    if(TARGET ${name})
      add_dependencies(stele_tests_${label} ${name})
    endif()
  endforeach()
endfunction()

function(stele_unit_test room)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${room}/*.cc")
  if(NOT sources OR NOT TARGET stele_${room})
    return()
  endif()
  stele_program(unit_${room} ${sources})
  stele_precompile(unit_${room} stele_test_headers)
  set(libraries "")
  foreach(linked IN ITEMS ${room} ${ARGN})
    if(TARGET stele_${linked})
      list(APPEND libraries stele_${linked})
    endif()
    stele_support(unit_${room} ${linked})
  endforeach()
  target_link_libraries(unit_${room} PRIVATE -Wl,--start-group ${libraries} -Wl,--end-group GTest::gtest GTest::gtest_main)
  add_test(NAME unit_${room} COMMAND unit_${room})
  set_tests_properties(unit_${room} PROPERTIES TIMEOUT 900)
  if(room IN_LIST STELE_CONCURRENT_ROOMS)
    stele_label(unit_${room} unit sanitized tsan)
  else()
    stele_label(unit_${room} unit sanitized)
  endif()
endfunction()

function(stele_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EACH_ALONE" "TIMEOUT" "LABELS;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  stele_program(${name} ${arg_UNPARSED_ARGUMENTS})
  stele_precompile(${name} stele_test_headers)
  stele_all_support(${name})
  target_link_libraries(${name} PRIVATE stele_static GTest::gtest GTest::gtest_main)
  if(arg_EACH_ALONE)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
  stele_label(${name} ${arg_LABELS})
endfunction()

# stele_test over all of tests/FOLDER/*.cc, when there is any and the engine is there to test.
function(stele_test_folder name folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc")
  if(sources AND TARGET stele_db)
    stele_test(${name} ${sources} ${ARGN})
  endif()
endfunction()
