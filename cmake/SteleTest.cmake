# The kinds of test program.
#
# stele_unit_test(ROOM [rooms below...]): tests/unit/ROOM/*.cc against the static library of ROOM and of the rooms below it, so that a room and
#   its test build while other rooms do not. tests/support/<room>_*.cc joins every test that links <room>. Labels unit and sanitized; also tsan
#   for the rooms that threads meet in (STELE_CONCURRENT_ROOMS).
# stele_test(NAME sources... [LABELS labels...] [TIMEOUT seconds] [ENVIRONMENT NAME=value...]): a GoogleTest program against
#   the whole static library, internals too, with src/ and tests/ on the include path and all of tests/support/ linked.
# stele_program(NAME sources...): what both are made of: an executable with the project's flags.
#
# Every program joins the target stele_tests_<label> for each of its labels, so that a sanitizer build makes no more than its tests need:
# the asan preset runs the label sanitized, the tsan preset the label tsan.
set(STELE_CONCURRENT_ROOMS base io memtable sstable db)

function(stele_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE STELE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE stele_private_flags)
endfunction()

# Adds tests/support/<room>_*.cc to a program. Each file is compiled once, however many programs link it; objects, not a library, because
# some of them (the sanitizers' options) are found by name only when they are linked unasked.
function(stele_support program room)
  if(NOT TARGET stele_support_${room})
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/${room}_*.cc")
    if(NOT sources)
      return()
    endif()
    add_library(stele_support_${room} OBJECT ${sources})
    set_target_properties(stele_support_${room} PROPERTIES CXX_EXTENSIONS OFF)
    target_include_directories(stele_support_${room} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(stele_support_${room} PRIVATE STELE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(stele_support_${room} PRIVATE stele_private_flags GTest::gtest)
  endif()
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:stele_support_${room}>)
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
  set(libraries "")
  foreach(linked IN ITEMS ${room} ${ARGN})
    if(TARGET stele_${linked})
      list(APPEND libraries stele_${linked})
    endif()
    stele_support(unit_${room} ${linked})
  endforeach()
  target_link_libraries(unit_${room} PRIVATE -Wl,--start-group ${libraries} -Wl,--end-group GTest::gtest GTest::gtest_main)
  add_test(NAME unit_${room} COMMAND unit_${room})
  set_tests_properties(unit_${room} PROPERTIES TIMEOUT 300)
  if(room IN_LIST STELE_CONCURRENT_ROOMS)
    stele_label(unit_${room} unit sanitized tsan)
  else()
    stele_label(unit_${room} unit sanitized)
  endif()
endfunction()

function(stele_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  stele_program(${name} ${arg_UNPARSED_ARGUMENTS})
  file(GLOB support CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests/support" "${PROJECT_SOURCE_DIR}/tests/support/*.cc")
  list(TRANSFORM support REPLACE "_.*" "")
  list(REMOVE_DUPLICATES support)
  foreach(linked IN LISTS support)
    stele_support(${name} ${linked})
  endforeach()
  target_link_libraries(${name} PRIVATE stele_static GTest::gtest GTest::gtest_main)
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
