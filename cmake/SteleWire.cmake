# What steled and the remote backend share, where either is wanted and gRPC can be had: the messages of Bigtable's API and their translation
# (src/wire). A sanitizer build leaves all of it out: Debian's gRPC is not built with sanitizers, and its locks and containers would be
# reported as ours.
set(STELE_HAS_WIRE OFF)
foreach(part IN ITEMS SERVER REMOTE)
  set(stele_wants_${part} "${STELE_BUILD_${part}}")
  if((stele_wants_${part} STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL) OR NOT TARGET stele_static OR STELE_SANITIZE OR STELE_FUZZ)
    set(stele_wants_${part} OFF)
  endif()
endforeach()
if(NOT stele_wants_SERVER AND NOT stele_wants_REMOTE)
  return()
endif()

set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
set(stele_need QUIET)
foreach(part IN ITEMS SERVER REMOTE)
  if(stele_wants_${part} AND NOT stele_wants_${part} STREQUAL "AUTO")
    set(stele_need REQUIRED)
  endif()
endforeach()
find_package(Protobuf MODULE ${stele_need})
find_package(gRPC CONFIG ${stele_need})
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
if(NOT TARGET gRPC::grpc++_reflection OR NOT TARGET gRPC::grpc_cpp_plugin OR NOT TARGET protobuf::protoc)
  message(STATUS "steled and stele::remote are not built: gRPC or protobuf is missing (libgrpc++-dev, libprotobuf-dev, protobuf-compiler-grpc)")
  return()
endif()
set(STELE_HAS_WIRE ON)

set(stele_generated_folder "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${stele_generated_folder}/wire")
file(GLOB stele_protos CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/wire/*.proto")
set(stele_generated "")
foreach(proto IN LISTS stele_protos)
  get_filename_component(name "${proto}" NAME_WE)
  set(outputs "")
  foreach(ending IN ITEMS pb.cc pb.h grpc.pb.cc grpc.pb.h)
    list(APPEND outputs "${stele_generated_folder}/wire/${name}.${ending}")
  endforeach()
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND protobuf::protoc "-I${PROJECT_SOURCE_DIR}/src" "--cpp_out=${stele_generated_folder}" "--grpc_out=${stele_generated_folder}"
            "--plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>" "wire/${name}.proto"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/src"
    DEPENDS ${stele_protos}
    COMMENT "Generating ${name}.proto's messages"
    VERBATIM)
  list(APPEND stele_generated ${outputs})
endforeach()

# What protoc writes is not held to the project's warnings.
add_library(stele_messages_objects OBJECT EXCLUDE_FROM_ALL ${stele_generated})
set_target_properties(stele_messages_objects PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
target_compile_features(stele_messages_objects PUBLIC cxx_std_20)
target_include_directories(stele_messages_objects SYSTEM PUBLIC "${stele_generated_folder}")
target_link_libraries(stele_messages_objects PUBLIC gRPC::grpc++ protobuf::libprotobuf)
add_library(stele_messages STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:stele_messages_objects>)
target_include_directories(stele_messages SYSTEM PUBLIC "${stele_generated_folder}")
target_link_libraries(stele_messages PUBLIC gRPC::grpc++ protobuf::libprotobuf)

stele_room(wire APART)
# gRPC's headers are nearly all that a compiler reads for each of them, so several are compiled at once.
set_target_properties(stele_wire_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
target_link_libraries(stele_wire_objects PUBLIC stele_messages)
add_dependencies(stele_wire_objects stele_messages)
target_link_libraries(stele_wire PUBLIC stele_messages)
