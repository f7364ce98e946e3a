# Code that steled and the remote backend share: the messages of Bigtable's API and their conversion
# (src/remote/wire). Built if either is requested and protobuf is available. stele_stubs, the client side
# of gRPC, is for the remote backend and for tests; steled has its own transport.
# Debian's gRPC and protobuf are built without sanitizers. The address sanitizer does not mind, so
# such builds have steled, but not the remote backend. The thread sanitizer would report their locks
# and containers, so such builds have neither.
set(STELE_HAS_STUBS OFF)
set(STELE_HAS_WIRE OFF)
foreach(part IN ITEMS SERVER REMOTE)
  set(stele_wants_${part} "${STELE_BUILD_${part}}")
  if((stele_wants_${part} STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL) OR NOT TARGET stele_static OR STELE_FUZZ
     OR STELE_SANITIZE MATCHES "thread" OR (part STREQUAL "REMOTE" AND STELE_SANITIZE))
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
if(stele_wants_REMOTE AND NOT stele_wants_REMOTE STREQUAL "AUTO")
  find_package(gRPC CONFIG REQUIRED)
else()
  find_package(gRPC CONFIG QUIET)
endif()
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
if(NOT TARGET protobuf::libprotobuf OR NOT TARGET protobuf::protoc)
  message(STATUS "steled and stele::remote are not built: protobuf is missing (libprotobuf-dev, protobuf-compiler)")
  return()
endif()
set(STELE_HAS_WIRE ON)
if(TARGET gRPC::grpc++ AND TARGET gRPC::grpc_cpp_plugin)
  set(STELE_HAS_STUBS ON)
endif()

set(stele_generated_folder "${PROJECT_BINARY_DIR}/generated")
# stele_generate(RESULT ROOT FOLDER KIND...): sets RESULT to the sources that protoc generates from
# ROOT/FOLDER/*.proto. KIND: pb, the messages; grpc.pb, the client stubs.
function(stele_generate result root folder kind)
  file(MAKE_DIRECTORY "${stele_generated_folder}/${folder}")
  file(GLOB protos CONFIGURE_DEPENDS "${root}/${folder}/*.proto")
  set(flags "--cpp_out=${stele_generated_folder}")
  if(kind STREQUAL "grpc.pb")
    set(flags "--grpc_out=${stele_generated_folder}" "--plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>")
  endif()
  set(generated "")
  foreach(proto IN LISTS protos)
    get_filename_component(name "${proto}" NAME_WE)
    set(outputs "${stele_generated_folder}/${folder}/${name}.${kind}.cc" "${stele_generated_folder}/${folder}/${name}.${kind}.h")
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND protobuf::protoc "-I${root}" ${flags} "${folder}/${name}.proto"
      WORKING_DIRECTORY "${root}"
      DEPENDS ${protos}
      COMMENT "Generating ${name}.${kind} from ${name}.proto"
      VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  set(${result} "${generated}" PARENT_SCOPE)
endfunction()

# stele_generated_library(NAME DEPENDENCIES SOURCE...): makes NAME_objects and the library NAME from
# them. The project's warnings do not apply to generated code.
function(stele_generated_library name dependencies)
  add_library(${name}_objects OBJECT EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${name}_objects PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  add_library(${name} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}_objects>)
  foreach(target IN ITEMS ${name}_objects ${name})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} SYSTEM PUBLIC "${stele_generated_folder}")
    target_link_libraries(${target} PUBLIC ${dependencies})
  endforeach()
  if(STELE_SANITIZE)
    target_compile_options(${name}_objects PRIVATE -O0)  # compiling takes longer than running
  endif()
endfunction()

stele_generate(stele_generated "${PROJECT_SOURCE_DIR}/src" remote/wire pb)
stele_generated_library(stele_messages protobuf::libprotobuf ${stele_generated})
# the files define tables with the same names
set_target_properties(stele_messages_objects PROPERTIES UNITY_BUILD OFF)
if(STELE_HAS_STUBS)
  stele_generate(stele_generated "${PROJECT_SOURCE_DIR}/src" remote/wire grpc.pb)
  stele_generated_library(stele_stubs "stele_messages;gRPC::grpc++" ${stele_generated})
  add_dependencies(stele_stubs_objects stele_messages_objects)  # for their headers
endif()

# The server converts its calls with it, and continues without memory for one.
stele_layer(remote/wire APART EXCEPTIONS)
# Most of the compile time goes to protobuf's headers, so several files are compiled together.
set_target_properties(stele_remote_wire_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
target_link_libraries(stele_remote_wire_objects PUBLIC stele_messages)
add_dependencies(stele_remote_wire_objects stele_messages)
target_link_libraries(stele_remote_wire PUBLIC stele_messages)
