# stele::remote: what makes Database::Open take "bigtable://..." (src/remote), as a library beside stele, static and shared. A program that
# links it names nothing of it, so the linker is told to look for one symbol of it.
if(NOT STELE_HAS_WIRE OR NOT stele_wants_REMOTE)
  return()
endif()
if(NOT STELE_HAS_STUBS)
  message(STATUS "stele::remote is not built: gRPC is missing (libgrpc++-dev, protobuf-compiler-grpc)")
  return()
endif()
stele_room(remote APART)
set_target_properties(stele_remote_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)  # as stele_wire_objects
target_link_libraries(stele_remote_objects PUBLIC stele_stubs)
add_dependencies(stele_remote_objects stele_stubs)
target_link_libraries(stele_remote PUBLIC stele_wire stele_stubs)
set_target_properties(stele_remote PROPERTIES OUTPUT_NAME stele_remote_room)  # beside the library that users get

function(stele_remote_library kind)
  string(TOUPPER ${kind} type)
  add_library(stele_remote_${kind} ${type} $<TARGET_OBJECTS:stele_remote_objects> $<TARGET_OBJECTS:stele_wire_objects>
              $<TARGET_OBJECTS:stele_messages_objects> $<TARGET_OBJECTS:stele_stubs_objects>)
  set_target_properties(stele_remote_${kind} PROPERTIES OUTPUT_NAME stele_remote EXPORT_NAME remote_${kind} LINKER_LANGUAGE CXX)
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT kind STREQUAL stele_default)
    set_target_properties(stele_remote_${kind} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_link_libraries(stele_remote_${kind} PUBLIC stele_${kind})
  target_link_options(stele_remote_${kind} INTERFACE LINKER:-u,stele_remote_is_linked)
  add_library(stele::remote_${kind} ALIAS stele_remote_${kind})
endfunction()

stele_remote_library(static)
target_link_libraries(stele_remote_static PRIVATE gRPC::grpc++ protobuf::libprotobuf ${STELE_PRIVATE_DEPENDENCIES})
stele_remote_library(shared)
# What it needs of the library's inside, which libstele.so does not show, it has a copy of: pure functions.
target_link_libraries(stele_remote_shared PRIVATE $<TARGET_FILE:stele_static> gRPC::grpc++ protobuf::libprotobuf ${STELE_PRIVATE_DEPENDENCIES})
add_dependencies(stele_remote_shared stele_static)
# Some compilers leave out shared libraries that no object names, whatever symbols are asked for.
target_link_options(stele_remote_shared INTERFACE
                    "LINKER:--push-state,--no-as-needed,$<TARGET_FILE:$<TARGET_NAME:stele_remote_shared>>,--pop-state")
set(stele_symbols "${PROJECT_SOURCE_DIR}/cmake/stele_remote_exports.map")
set_target_properties(stele_remote_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                      LINK_DEPENDS "${stele_symbols}")
target_link_options(stele_remote_shared PRIVATE "LINKER:--version-script=${stele_symbols}" LINKER:-z,defs)
add_library(stele::remote ALIAS stele_remote_${stele_default})
