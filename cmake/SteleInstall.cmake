# Install rules: headers, both libraries, the CMake package and stele.pc.
include(CMakePackageConfigHelpers)
if(NOT TARGET stele_static)
  return()
endif()
set(stele_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/stele")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/stele" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(TARGETS stele_static stele_shared EXPORT stele_targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT stele_targets NAMESPACE stele:: FILE steleTargets.cmake DESTINATION "${stele_package_dir}")
if(TARGET stele_remote_static)
  # A separate export, so that only a consumer that asks for it needs gRPC.
  install(TARGETS stele_remote_static stele_remote_shared EXPORT stele_remote_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(EXPORT stele_remote_targets NAMESPACE stele:: FILE steleRemoteTargets.cmake DESTINATION "${stele_package_dir}")
endif()
if(TARGET stele_lab_static)
  # A separate export, for the same reason.
  install(TARGETS stele_lab_static stele_lab_shared EXPORT stele_lab_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(EXPORT stele_lab_targets NAMESPACE stele:: FILE steleLabTargets.cmake DESTINATION "${stele_package_dir}")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/steleConfig.cmake.in" "${PROJECT_BINARY_DIR}/steleConfig.cmake"
                              INSTALL_DESTINATION "${stele_package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/steleConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/steleConfig.cmake" "${PROJECT_BINARY_DIR}/steleConfigVersion.cmake" DESTINATION "${stele_package_dir}")

# The prefix is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH stele_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/stele.pc.in" "${PROJECT_BINARY_DIR}/stele.pc" @ONLY)
set(stele_pc_files "${PROJECT_BINARY_DIR}/stele.pc")
if(TARGET stele_remote_static)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/stele-remote.pc.in" "${PROJECT_BINARY_DIR}/stele-remote.pc" @ONLY)
  list(APPEND stele_pc_files "${PROJECT_BINARY_DIR}/stele-remote.pc")
endif()
install(FILES ${stele_pc_files} DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
