# stele_fuzz_tests(): builds tests/fuzz/<name>_fuzz.cc as <name>_fuzz. With STELE_FUZZ each is a
# libFuzzer program to run by hand:
#   build/fuzz/tests/<name>_fuzz tests/fuzz/corpus/<name>
# Without it, each is linked with replay_main.cc. ctest then runs it over its corpus and
# deterministic mutations of the corpus (label fuzz).
function(stele_fuzz_tests)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cc")
  add_custom_target(stele_fuzz_programs)
  foreach(source IN LISTS sources)
    get_filename_component(program "${source}" NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name "${program}")
    if(STELE_FUZZ)
      stele_program(${program} ${source})
      stele_all_support(${program})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
      target_link_libraries(${program} PRIVATE stele_static GTest::gtest)
      add_dependencies(stele_fuzz_programs ${program})
      continue()
    endif()
    stele_program(${program} ${source} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc")
    stele_all_support(${program})
    stele_precompile(${program} stele_test_headers)
    target_link_libraries(${program} PRIVATE stele_static GTest::gtest)
    add_test(NAME ${program} COMMAND ${program} "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
    set_tests_properties(${program} PROPERTIES TIMEOUT 300)
    stele_label(${program} fuzz sanitized)
  endforeach()
endfunction()
