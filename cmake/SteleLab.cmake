# stele::lab: the schema lab (include/stele/lab), a separate library, static and shared, compiled
# from src/lab. stele::stele does not need its packages.
if(NOT STELE_BUILD_LAB OR NOT TARGET stele_static OR (STELE_BUILD_LAB STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL))
  return()
endif()
set(stele_need REQUIRED)
if(STELE_BUILD_LAB STREQUAL "AUTO")
  set(stele_need QUIET)
endif()
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(simdjson CONFIG ${stele_need})
find_package(OpenSSL ${stele_need})
find_package(ZLIB ${stele_need})
find_package(PNG ${stele_need})
# Only headers: programs that link stele::lab do not need it.
find_package(nlohmann_json 3 ${stele_need})
# Debian 12 has no CMake packages for libpsl and libyaml. cmake/steleConfig.cmake.in finds them under
# the same names.
pkg_check_modules(STELE_PSL ${stele_need} IMPORTED_TARGET GLOBAL libpsl)
pkg_check_modules(STELE_YAML ${stele_need} IMPORTED_TARGET GLOBAL yaml-0.1)
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
set(STELE_LAB_DEPENDENCIES simdjson::simdjson OpenSSL::Crypto ZLIB::ZLIB PNG::PNG PkgConfig::STELE_PSL PkgConfig::STELE_YAML)
foreach(stele_library IN LISTS STELE_LAB_DEPENDENCIES ITEMS nlohmann_json::nlohmann_json)
  if(NOT TARGET ${stele_library})
    message(STATUS "stele::lab is not built: a library is missing (libsimdjson-dev, libssl-dev, zlib1g-dev, libpng-dev, libpsl-dev, libyaml-dev, nlohmann-json3-dev)")
    return()
  endif()
endforeach()

stele_layer(lab APART)
# The page of heat maps is a part of the library: its files become strings.
set(stele_page "${PROJECT_SOURCE_DIR}/src/lab/heat_page")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${stele_page}/heat_map_page.html" "${stele_page}/heat_map_page.js" "${stele_page}/heat_map_live.js")
file(READ "${stele_page}/heat_map_page.html" STELE_HEAT_MAP_PAGE)
file(READ "${stele_page}/heat_map_page.js" STELE_HEAT_MAP_SCRIPT)
file(READ "${stele_page}/heat_map_live.js" STELE_HEAT_MAP_LIVE_SCRIPT)
configure_file("${stele_page}/page_text.cc.in" "${PROJECT_BINARY_DIR}/generated/heat_page/page_text.cc" @ONLY)
target_sources(stele_lab_objects PRIVATE "${PROJECT_BINARY_DIR}/generated/heat_page/page_text.cc")
# The pages of reports too.
set(stele_page "${PROJECT_SOURCE_DIR}/src/lab/report_page")
foreach(stele_page_file IN ITEMS report.css report.js replay_page.html replay_page.js)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${stele_page}/${stele_page_file}")
endforeach()
file(READ "${stele_page}/report.css" STELE_REPORT_STYLE)
file(READ "${stele_page}/report.js" STELE_REPORT_SCRIPT)
file(READ "${stele_page}/replay_page.html" STELE_REPLAY_PAGE)
file(READ "${stele_page}/replay_page.js" STELE_REPLAY_SCRIPT)
configure_file("${stele_page}/page_text.cc.in" "${PROJECT_BINARY_DIR}/generated/report_page/page_text.cc" @ONLY)
target_sources(stele_lab_objects PRIVATE "${PROJECT_BINARY_DIR}/generated/report_page/page_text.cc")
target_link_libraries(stele_lab_objects PRIVATE ${STELE_LAB_DEPENDENCIES} nlohmann_json::nlohmann_json)
target_link_libraries(stele_lab PUBLIC ${STELE_LAB_DEPENDENCIES})
set_target_properties(stele_lab PROPERTIES OUTPUT_NAME stele_lab_layer)  # stele_lab is the installed library

function(stele_lab_library kind)
  string(TOUPPER ${kind} type)
  add_library(stele_lab_${kind} ${type} $<TARGET_OBJECTS:stele_lab_objects>)
  set_target_properties(stele_lab_${kind} PROPERTIES OUTPUT_NAME stele_lab EXPORT_NAME lab_${kind} LINKER_LANGUAGE CXX)
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT kind STREQUAL stele_default)
    set_target_properties(stele_lab_${kind} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_link_libraries(stele_lab_${kind} PUBLIC stele_${kind} PRIVATE ${STELE_LAB_DEPENDENCIES})
  add_library(stele::lab_${kind} ALIAS stele_lab_${kind})
endfunction()

stele_lab_library(static)
target_link_libraries(stele_lab_static PRIVATE ${STELE_PRIVATE_DEPENDENCIES})
stele_lab_library(shared)
# libstele.so does not export the internals that this library uses, so it links its own copy. They
# are pure functions, and the operating system's files.
target_link_libraries(stele_lab_shared PRIVATE $<TARGET_FILE:stele_static> ${STELE_PRIVATE_DEPENDENCIES})
add_dependencies(stele_lab_shared stele_static)
set(stele_symbols "${PROJECT_SOURCE_DIR}/cmake/stele_lab_exports.map")
set_target_properties(stele_lab_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                      LINK_DEPENDS "${stele_symbols}")
target_link_options(stele_lab_shared PRIVATE "LINKER:--version-script=${stele_symbols}" LINKER:--no-undefined-version)
if(NOT STELE_SANITIZE AND NOT STELE_FUZZ)
  target_link_options(stele_lab_shared PRIVATE LINKER:-z,defs)  # as for stele_shared
endif()
add_library(stele::lab ALIAS stele_lab_${stele_default})
