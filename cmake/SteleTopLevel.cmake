# What only a build of Stele itself wants; a parent project decides these for itself.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Presets build the same files several times over: reuse what an earlier build compiled. A build from nothing has none and would only pay for asking.
find_program(STELE_CCACHE ccache)
mark_as_advanced(STELE_CCACHE)
if(STELE_CCACHE AND NOT STELE_FRESH_BUILD AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${STELE_CCACHE}")
endif()
