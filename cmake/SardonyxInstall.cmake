# What find_package(sardonyx) gives: `sardonyx::sardonyx`, one shared library that holds every layer
# and exports include/sardonyx/ alone, and `sardonyx::static` with COMPONENTS static. And the command
# line. In a wheel: the extension, the command line, and the shared library inside the package.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_target_property(api_type sardonyx_api TYPE)
if(api_type STREQUAL "STATIC_LIBRARY")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/sardonyx_library.cpp" CONTENT "")
  add_library(sardonyx_library SHARED "${PROJECT_BINARY_DIR}/sardonyx_library.cpp")
  add_library(sardonyx::sardonyx ALIAS sardonyx_library)
  target_link_libraries(sardonyx_library PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,sardonyx_api,sardonyx_report>")
  target_include_directories(
    sardonyx_library PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
  target_compile_features(sardonyx_library PUBLIC cxx_std_20)
  set_target_properties(
    sardonyx_library
    PROPERTIES OUTPUT_NAME sardonyx EXPORT_NAME sardonyx
               LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exported.map")
  if(NOT SKBUILD)  # wheels hold no links
    set_target_properties(sardonyx_library PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
  # Templates of the standard library are visible whatever our own flags say.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(sardonyx_library PRIVATE
      "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exported.map")
  endif()
endif()

# In a wheel everything stands inside the package, and `python -m sardonyx --cmake-dir` says where.
if(SKBUILD)
  set(component COMPONENT python)
  set(library_dir sardonyx/lib)
  set(include_dir sardonyx/include)
  install(TARGETS _native DESTINATION sardonyx ${component})
  install(TARGETS sardonyx_cli DESTINATION "${SKBUILD_SCRIPTS_DIR}" ${component})
else()
  set(component)
  set(library_dir "${CMAKE_INSTALL_LIBDIR}")
  set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}")
  install(TARGETS sardonyx_cli)
  if(SARDONYX_HTTPLIB_IS_SHARED)
    install(TARGETS sardonyx_http DESTINATION "${library_dir}/sardonyx")
  endif()
endif()

if(TARGET sardonyx_library)
  set(package_dir "${library_dir}/cmake/sardonyx")
  target_include_directories(sardonyx_library PUBLIC "$<INSTALL_INTERFACE:${include_dir}>")
  install(TARGETS sardonyx_library EXPORT sardonyx DESTINATION "${library_dir}" ${component})
  install(DIRECTORY include/sardonyx DESTINATION "${include_dir}" ${component}
          FILES_MATCHING PATTERN "*.h")
  install(EXPORT sardonyx NAMESPACE sardonyx:: FILE sardonyx-targets.cmake
          DESTINATION "${package_dir}" ${component})
  configure_package_config_file(cmake/sardonyx-config.cmake.in sardonyx-config.cmake
                                INSTALL_DESTINATION "${package_dir}")
  write_basic_package_version_file(sardonyx-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/sardonyx-config.cmake"
                "${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake"
          DESTINATION "${package_dir}" ${component})
endif()

# Every layer in one archive; what it stands on is its users' to link.
if(TARGET sardonyx_library AND NOT SKBUILD)
  get_property(layers GLOBAL PROPERTY SARDONYX_LAYERS)
  list(REMOVE_ITEM layers sardonyx_live sardonyx_serve)  # the extension's, the command's
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(sardonyx_static STATIC EXCLUDE_FROM_ALL ${objects})
  set_target_properties(sardonyx_static PROPERTIES OUTPUT_NAME sardonyx EXPORT_NAME static
                                                   LINKER_LANGUAGE CXX)
  target_include_directories(sardonyx_static PUBLIC "$<INSTALL_INTERFACE:${include_dir}>")
  target_compile_features(sardonyx_static PUBLIC cxx_std_20)
  target_link_libraries(sardonyx_static PRIVATE simdjson::simdjson fmt::fmt ZLIB::ZLIB
                                                ${CMAKE_DL_LIBS})
  install(TARGETS sardonyx_static EXPORT sardonyx-static DESTINATION "${library_dir}"
          COMPONENT static EXCLUDE_FROM_ALL)
  install(EXPORT sardonyx-static NAMESPACE sardonyx:: FILE sardonyx-static.cmake
          DESTINATION "${package_dir}" COMPONENT static EXCLUDE_FROM_ALL)
endif()
