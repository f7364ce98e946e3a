# stele::remote: stele::remote::Open (stele/remote.h), which opens a database on a server. It is a
# separate library, static and shared, compiled from src/remote.
if(NOT STELE_HAS_WIRE OR NOT stele_wants_REMOTE)
  return()
endif()
if(NOT STELE_HAS_STUBS)
  message(STATUS "stele::remote is not built: gRPC is missing (libgrpc++-dev, protobuf-compiler-grpc)")
  return()
endif()
stele_layer(remote/client APART)
# as stele_remote_wire_objects
set_target_properties(stele_remote_client_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
target_link_libraries(stele_remote_client_objects PUBLIC stele_stubs)
add_dependencies(stele_remote_client_objects stele_stubs)
target_link_libraries(stele_remote_client PUBLIC stele_remote_wire stele_stubs)

function(stele_remote_library kind)
  string(TOUPPER ${kind} type)
  add_library(stele_remote_${kind} ${type} $<TARGET_OBJECTS:stele_remote_client_objects> $<TARGET_OBJECTS:stele_remote_wire_objects>
              $<TARGET_OBJECTS:stele_messages_objects> $<TARGET_OBJECTS:stele_stubs_objects>)
  set_target_properties(stele_remote_${kind} PROPERTIES OUTPUT_NAME stele_remote EXPORT_NAME remote_${kind} LINKER_LANGUAGE CXX)
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT kind STREQUAL stele_default)
    set_target_properties(stele_remote_${kind} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_link_libraries(stele_remote_${kind} PUBLIC stele_${kind})
  add_library(stele::remote_${kind} ALIAS stele_remote_${kind})
endfunction()

stele_remote_library(static)
target_link_libraries(stele_remote_static PRIVATE gRPC::grpc++ protobuf::libprotobuf ${STELE_PRIVATE_DEPENDENCIES})
stele_remote_library(shared)
# libstele.so does not export the internals that this library uses, so it links its own copy. They
# are pure functions.
target_link_libraries(stele_remote_shared PRIVATE $<TARGET_FILE:stele_static> gRPC::grpc++ protobuf::libprotobuf ${STELE_PRIVATE_DEPENDENCIES})
add_dependencies(stele_remote_shared stele_static)
set(stele_symbols "${PROJECT_SOURCE_DIR}/cmake/stele_remote_exports.map")
set_target_properties(stele_remote_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                      LINK_DEPENDS "${stele_symbols}")
target_link_options(stele_remote_shared PRIVATE "LINKER:--version-script=${stele_symbols}" LINKER:--no-undefined-version LINKER:-z,defs)
add_library(stele::remote ALIAS stele_remote_${stele_default})
