# steled, where it is wanted and can be had (SteleWire.cmake).
if(STELE_HAS_WIRE AND stele_wants_SERVER)
  add_subdirectory("${PROJECT_SOURCE_DIR}/tools/steled")
endif()
