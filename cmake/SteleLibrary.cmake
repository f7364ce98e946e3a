# stele_static and stele_shared from the rooms' objects, each compiled once. stele::stele is the one BUILD_SHARED_LIBS picks; the other is
# built too when Stele is the top project, and only when asked for as a subproject.
set(stele_objects "")
foreach(room IN LISTS STELE_ROOM_OBJECTS)
  list(APPEND stele_objects $<TARGET_OBJECTS:${room}>)
endforeach()
if(BUILD_SHARED_LIBS)
  set(stele_default shared)
else()
  set(stele_default static)
endif()

function(stele_library kind)
  string(TOUPPER ${kind} type)
  add_library(stele_${kind} ${type} ${stele_objects})
  set_target_properties(stele_${kind} PROPERTIES OUTPUT_NAME stele EXPORT_NAME ${kind} LINKER_LANGUAGE CXX)
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT kind STREQUAL stele_default)
    set_target_properties(stele_${kind} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_include_directories(stele_${kind} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(stele_${kind} PUBLIC cxx_std_20)
  target_link_libraries(stele_${kind} PUBLIC ${STELE_PUBLIC_DEPENDENCIES} PRIVATE ${STELE_PRIVATE_DEPENDENCIES})
  if(STELE_SANITIZE OR STELE_FUZZ)
    target_link_libraries(stele_${kind} PRIVATE $<BUILD_INTERFACE:stele_private_flags>)
  endif()
  add_library(stele::${kind} ALIAS stele_${kind})
endfunction()

if(stele_objects)
  stele_library(static)
  stele_library(shared)
  # Only stele::v0 is exported: what programs link against is exactly what the public headers declare.
  set(stele_symbols "${PROJECT_SOURCE_DIR}/cmake/stele_exports.map")
  set_target_properties(stele_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                        LINK_DEPENDS "${stele_symbols}")
  target_link_options(stele_shared PRIVATE "LINKER:--version-script=${stele_symbols}" LINKER:--no-undefined-version)
  if(NOT STELE_SANITIZE AND NOT STELE_FUZZ)
    # A sanitizer's own symbols come from the program; else whatever is missing is missed here, not by the first user.
    target_link_options(stele_shared PRIVATE LINKER:-z,defs)
  endif()
  add_library(stele::stele ALIAS stele_${stele_default})
endif()
