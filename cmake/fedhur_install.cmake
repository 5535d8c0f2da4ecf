include(CMakePackageConfigHelpers)
install(TARGETS fedhur EXPORT fedhur_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS fedhur_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY fedhur/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fedhur FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fedhur)
install(EXPORT fedhur_targets NAMESPACE fedhur:: DESTINATION ${config_dir})
configure_package_config_file(cmake/fedhurConfig.cmake.in ${PROJECT_BINARY_DIR}/fedhurConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fedhurConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fedhurConfig.cmake ${PROJECT_BINARY_DIR}/fedhurConfigVersion.cmake
        DESTINATION ${config_dir})
