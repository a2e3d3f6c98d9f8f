# What find_package(sardonyx) gives: `sardonyx::sardonyx`, one shared library that holds every layer
# and exports include/sardonyx/ alone. And the command line; in a wheel, that and the extension.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_target_property(api_type sardonyx_api TYPE)
if(api_type STREQUAL "STATIC_LIBRARY")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/sardonyx_library.cpp" CONTENT "")
  add_library(sardonyx_library SHARED "${PROJECT_BINARY_DIR}/sardonyx_library.cpp")
  add_library(sardonyx::sardonyx ALIAS sardonyx_library)
  target_link_libraries(sardonyx_library PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,sardonyx_api,sardonyx_report>")
  target_include_directories(
    sardonyx_library PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                            "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(sardonyx_library PUBLIC cxx_std_20)
  set_target_properties(
    sardonyx_library
    PROPERTIES OUTPUT_NAME sardonyx EXPORT_NAME sardonyx VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()

if(SKBUILD)
  if(TARGET _native)
    install(TARGETS _native DESTINATION sardonyx COMPONENT python)
  endif()
  if(TARGET sardonyx_cli)
    install(TARGETS sardonyx_cli DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python)
  endif()
  return()
endif()

if(TARGET sardonyx_cli)
  install(TARGETS sardonyx_cli)
endif()
if(TARGET sardonyx_library)
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sardonyx")
  install(TARGETS sardonyx_library EXPORT sardonyx)
  install(DIRECTORY include/sardonyx DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.h")
  install(EXPORT sardonyx NAMESPACE sardonyx:: FILE sardonyx-targets.cmake
          DESTINATION "${package_dir}")
  configure_package_config_file(cmake/sardonyx-config.cmake.in sardonyx-config.cmake
                                INSTALL_DESTINATION "${package_dir}")
  write_basic_package_version_file(sardonyx-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/sardonyx-config.cmake"
                "${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake"
          DESTINATION "${package_dir}")
endif()
