# What steled and the remote backend share, where either is wanted and protobuf can be had: the messages of Bigtable's API and their
# translation (src/wire). The clients' side of gRPC, stele_stubs, is for the remote backend and for tests; steled has a transport of its own.
# A sanitizer build leaves all of it out: Debian's gRPC and protobuf are not built with sanitizers, and their locks and containers would be
# reported as ours.
set(STELE_HAS_STUBS OFF)
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
# stele_generate(RESULT ROOT FOLDER KIND...): what protoc makes of ROOT/FOLDER/*.proto. KIND: pb, the messages; grpc.pb, clients' stubs.
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

# stele_generated_library(NAME DEPENDENCIES SOURCE...): NAME_objects and, of them, NAME. What protoc writes is not held to the project's
# warnings.
function(stele_generated_library name dependencies)
  add_library(${name}_objects OBJECT EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${name}_objects PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  add_library(${name} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}_objects>)
  foreach(target IN ITEMS ${name}_objects ${name})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} SYSTEM PUBLIC "${stele_generated_folder}")
    target_link_libraries(${target} PUBLIC ${dependencies})
  endforeach()
endfunction()

stele_generate(stele_generated "${PROJECT_SOURCE_DIR}/src" wire pb)
stele_generated_library(stele_messages protobuf::libprotobuf ${stele_generated})
set_target_properties(stele_messages_objects PROPERTIES UNITY_BUILD OFF)  # each file has tables of the same names
if(STELE_HAS_STUBS)
  stele_generate(stele_generated "${PROJECT_SOURCE_DIR}/src" wire grpc.pb)
  stele_generated_library(stele_stubs "stele_messages;gRPC::grpc++" ${stele_generated})
  add_dependencies(stele_stubs_objects stele_messages_objects)  # their headers
endif()

stele_room(wire APART)
# protobuf's headers are most of what a compiler reads for each of them, so several are compiled at once.
set_target_properties(stele_wire_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
target_link_libraries(stele_wire_objects PUBLIC stele_messages)
add_dependencies(stele_wire_objects stele_messages)
target_link_libraries(stele_wire PUBLIC stele_messages)
