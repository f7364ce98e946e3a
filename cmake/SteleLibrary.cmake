# Defines stele_static and stele_shared from the object libraries, so that each file is compiled
# once. BUILD_SHARED_LIBS selects which one is stele::stele. The other one is also built if Stele is
# the top project; in a subproject, only on request.
set(stele_objects "")
foreach(layer IN LISTS STELE_LAYER_OBJECTS)
  list(APPEND stele_objects $<TARGET_OBJECTS:${layer}>)
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
  # Exports only stele::v0: programs can link exactly the declarations of the public headers.
  set(stele_symbols "${PROJECT_SOURCE_DIR}/cmake/stele_exports.map")
  set_target_properties(stele_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                        LINK_DEPENDS "${stele_symbols}")
  target_link_options(stele_shared PRIVATE "LINKER:--version-script=${stele_symbols}" LINKER:--no-undefined-version)
  if(NOT STELE_SANITIZE AND NOT STELE_FUZZ)
    # A sanitizer's symbols come from the program. In other builds, report undefined symbols here
    # instead of at the first user.
    target_link_options(stele_shared PRIVATE LINKER:-z,defs)
  endif()
  add_library(stele::stele ALIAS stele_${stele_default})
endif()
