# The kinds of test program.
#
# stele_unit_test(LAYER [other layers...]): links tests/unit/LAYER/*.cc with the static library of
# src/LAYER, of the directories that it includes (STELE_BELOW_<layer>), and of those that only its
# tests use (STELE_TESTS_USE_<layer>). A directory and its test therefore build while others do not.
# tests/support/<layer>_*.cc joins every test that links <layer>, and the crashable file system
# of tests/support/crash_fs every test that links io. The labels are unit and sanitized. A build with
# the thread sanitizer has only the files whose tests use threads (stele_tests_with_threads), with
# the label tsan.
# stele_test(NAME sources... [LABELS labels...] [TIMEOUT seconds] [ENVIRONMENT NAME=value...]
# [EACH_ALONE [ONLY_NIGHTLY tests...]]): a GoogleTest program linked with the whole static library. ctest runs it once, or
# once per test with EACH_ALONE, without those of ONLY_NIGHTLY unless STELE_NIGHTLY is set. It may use internals: src/ and tests/ are on the include path, and
# all of tests/support/ is linked.
# stele_program(NAME sources...): the base of both: an executable with the project's flags.
#
# Every program joins the target stele_tests_<label> for each of its labels, so that a sanitizer
# build builds only the tests it runs. The asan preset runs the label sanitized, the tsan preset the
# label tsan.
set(STELE_TESTS_USE_inspect mutation cell model)
set(STELE_TESTS_USE_keys model api trace io)
set(STELE_TESTS_USE_lab db ${STELE_BELOW_db} keys)

# The flags of everything under tests/. Compiling is most of a test's cost, so an optimized build
# optimizes tests little, and a sanitizer build not at all. The library that they link has the flags
# of the released library.
add_library(stele_test_flags INTERFACE)
target_include_directories(stele_test_flags INTERFACE "${PROJECT_SOURCE_DIR}/tests")
target_compile_options(stele_test_flags INTERFACE $<$<CONFIG:Release>:-O1>)
if(STELE_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(stele_test_flags INTERFACE -O0)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # with -O1 gcc 12 reports false positives in sums of strings
  target_compile_options(stele_test_flags INTERFACE -Wno-array-bounds)
endif()
if(STELE_NIGHTLY)
  target_compile_definitions(stele_test_flags INTERFACE STELE_NIGHTLY)
endif()
target_link_libraries(stele_test_flags INTERFACE stele_private_flags GTest::gtest)

# Ends a test program that hangs. The longest ones take three minutes on two processors.
set(STELE_TEST_SECONDS_MAX 1800)

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

# Owns the precompiled header of the tests.
if(STELE_FRESH_BUILD)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc" "")
  add_library(stele_test_headers OBJECT "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc")
  set_target_properties(stele_test_headers PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(stele_test_headers PRIVATE stele_test_flags)
  stele_precompile(stele_test_headers stele_test_headers ${STELE_PRECOMPILED_HEADERS} <gtest/gtest.h>)
endif()

# Adds tests/support/<layer>_*.cc and tests/support/<layer>/*.cc to a program. Each file is compiled
# once for all programs. They are objects and not a library, because some of them (the sanitizers'
# options) must be linked although no object refers to them.
function(stele_support program layer)
  if(NOT TARGET stele_support_${layer})
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/${layer}_*.cc"
         "${PROJECT_SOURCE_DIR}/tests/support/${layer}/*.cc")
    if(layer STREQUAL "base")
      list(APPEND sources "${STELE_TEST_DATA_SOURCE}")
    endif()
    if(NOT sources)
      return()
    endif()
    add_library(stele_support_${layer} OBJECT ${sources})
    set_target_properties(stele_support_${layer} PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(stele_support_${layer} PRIVATE stele_test_flags)
    stele_precompile(stele_support_${layer} stele_test_headers)
  endif()
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:stele_support_${layer}>)
endfunction()

function(stele_all_support program)
  file(GLOB support CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests/support" "${PROJECT_SOURCE_DIR}/tests/support/*.cc")
  list(TRANSFORM support REPLACE "_.*" "")
  list(REMOVE_DUPLICATES support)
  foreach(layer IN LISTS support ITEMS crash_fs)
    stele_support(${program} ${layer})
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

# Removes the files of tests that use no thread from a list of sources. They cannot show a race, and
# under the thread sanitizer they would take most of the time. A file uses threads if it names one of
# the words below; files without tests stay.
function(stele_tests_with_threads sources_variable)
  set(kept "")
  set(has_threads FALSE)
  foreach(source IN LISTS ${sources_variable})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" tests REGEX "^TEST(_F|_P)?\\(")
    file(STRINGS "${source}" threads
         REGEX "std::(thread|jthread|async)|SingleThreadExecutor|background_threads = [1-9]|Database::Open\\(")
    if(threads OR NOT tests)
      list(APPEND kept "${source}")
    endif()
    if(threads AND tests)
      set(has_threads TRUE)
    endif()
  endforeach()
  if(NOT has_threads)
    set(kept "")
  endif()
  set(${sources_variable} "${kept}" PARENT_SCOPE)
endfunction()

function(stele_unit_test layer)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${layer}/*.cc")
  if(STELE_SANITIZE STREQUAL "thread")
    stele_tests_with_threads(sources)
  endif()
  string(REPLACE "/" "_" library "stele_${layer}")
  if(NOT sources OR NOT (TARGET ${library} OR EXISTS "${PROJECT_SOURCE_DIR}/tests/support/${layer}"))
    return()
  endif()
  set(layers ${layer} ${STELE_BELOW_${layer}} ${STELE_TESTS_USE_${layer}} ${ARGN})
  list(REMOVE_DUPLICATES layers)
  if("io" IN_LIST layers)
    list(APPEND layers crash_fs)
    list(REMOVE_DUPLICATES layers)
  endif()
  string(REPLACE "/" "_" test "unit_${layer}")
  stele_program(${test} ${sources})
  stele_precompile(${test} stele_test_headers)
  set(libraries "")
  foreach(linked IN LISTS layers)
    string(REPLACE "/" "_" linked "${linked}")
    if(TARGET stele_${linked})
      list(APPEND libraries stele_${linked})
    endif()
    stele_support(${test} ${linked})
  endforeach()
  target_link_libraries(${test} PRIVATE -Wl,--start-group ${libraries} -Wl,--end-group GTest::gtest GTest::gtest_main)
  add_test(NAME ${test} COMMAND ${test})
  set_tests_properties(${test} PROPERTIES TIMEOUT ${STELE_TEST_SECONDS_MAX})
  if(STELE_SANITIZE STREQUAL "thread")
    stele_label(${test} unit sanitized tsan)
  else()
    stele_label(${test} unit sanitized)
  endif()
endfunction()

function(stele_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EACH_ALONE" "TIMEOUT" "LABELS;ENVIRONMENT;ONLY_NIGHTLY")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${STELE_TEST_SECONDS_MAX})
  endif()
  stele_program(${name} ${arg_UNPARSED_ARGUMENTS})
  stele_precompile(${name} stele_test_headers)
  stele_all_support(${name})
  target_link_libraries(${name} PRIVATE stele_static GTest::gtest GTest::gtest_main)
  if(arg_EACH_ALONE)
    set(filter "")
    if(arg_ONLY_NIGHTLY AND NOT STELE_NIGHTLY)
      list(JOIN arg_ONLY_NIGHTLY ":" filter)
      set(filter TEST_FILTER "-${filter}")
    endif()
    gtest_discover_tests(${name} ${filter} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
                         ENVIRONMENT "MALLOC_ARENA_MAX=4")
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
  stele_label(${name} ${arg_LABELS})
endfunction()

# Calls stele_test for tests/FOLDER/*.cc if there are such files and the engine is part of the
# build.
function(stele_test_folder name folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc")
  if(sources AND TARGET stele_db)
    stele_test(${name} ${sources} ${ARGN})
  endif()
endfunction()
