# Settings for a build of Stele itself. A parent project decides these for itself.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Presets compile the same files several times, and ccache reuses the results. A build from nothing
# has no results to reuse and would only pay for the lookups.
find_program(STELE_CCACHE ccache)
mark_as_advanced(STELE_CCACHE)
if(STELE_CCACHE AND NOT STELE_FRESH_BUILD AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${STELE_CCACHE}")
endif()
