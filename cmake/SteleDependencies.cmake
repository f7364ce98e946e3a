# Finds the engine's six dependencies as the distribution packages them. A parent project that
# provides its own Abseil or fmt keeps it.
# GLOBAL: a consumer in another directory of a parent project links these targets through
# stele::stele and must see them.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
if(NOT TARGET absl::status)
  find_package(absl CONFIG REQUIRED)
endif()
if(NOT TARGET fmt::fmt)
  find_package(fmt CONFIG REQUIRED)
endif()
if(NOT TARGET zstd::libzstd_shared AND NOT TARGET zstd::libzstd_static)
  find_package(zstd CONFIG REQUIRED)
endif()
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
# Debian 12 has no CMake packages for lz4, xxHash and RE2. cmake/steleConfig.cmake.in finds them
# under the same names.
pkg_check_modules(STELE_LZ4 REQUIRED IMPORTED_TARGET GLOBAL liblz4)
pkg_check_modules(STELE_XXHASH REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
pkg_check_modules(STELE_RE2 REQUIRED IMPORTED_TARGET GLOBAL re2)
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
if(TARGET zstd::libzstd_shared)
  set(STELE_ZSTD_TARGET zstd::libzstd_shared)
else()
  set(STELE_ZSTD_TARGET zstd::libzstd_static)
endif()

# Public headers need the first two; the engine links the others. The installed package, stele.pc
# and the object libraries share this list.
set(STELE_PUBLIC_DEPENDENCIES absl::status absl::statusor)
set(STELE_PRIVATE_DEPENDENCIES absl::flat_hash_map absl::flat_hash_set absl::synchronization absl::inlined_vector fmt::fmt ${STELE_ZSTD_TARGET}
    PkgConfig::STELE_LZ4 PkgConfig::STELE_XXHASH PkgConfig::STELE_RE2 Threads::Threads)
