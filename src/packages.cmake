# What is installed besides the programs, and the packages. A build of preset release makes a package for Debian with
# `cpack -G DEB`, one of preset portable an archive that runs wherever it is unpacked with `cpack -G TGZ`.

# tune prints its completions and its manual page itself.
set(texts ${CMAKE_BINARY_DIR}/texts)
set(text_files ${texts}/tune.bash ${texts}/_tune ${texts}/tune.fish ${texts}/tune.1.gz)
file(MAKE_DIRECTORY ${texts})
add_custom_command(
  OUTPUT ${text_files}
  COMMAND tune completion bash > ${texts}/tune.bash
  COMMAND tune completion zsh > ${texts}/_tune
  COMMAND tune completion fish > ${texts}/tune.fish
  COMMAND tune man-page > ${texts}/tune.1
  COMMAND gzip -9nc ${texts}/tune.1 > ${texts}/tune.1.gz
  DEPENDS tune
  COMMENT "Printing completions and manual page")
add_custom_target(tune_texts ALL DEPENDS ${text_files})

set(share ${CMAKE_INSTALL_DATADIR})
install(FILES ${texts}/tune.bash DESTINATION ${share}/bash-completion/completions RENAME tune)
install(FILES ${texts}/tune.fish DESTINATION ${share}/fish/vendor_completions.d)
install(FILES ${texts}/tune.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# zsh has a folder for packages and another one for what is installed by hand.
install(CODE "set(texts \"${texts}\")\nset(share \"${share}\")")
install(CODE [[
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(folder vendor-completions)
  endif()
  file(INSTALL "${texts}/_tune" DESTINATION "${CMAKE_INSTALL_PREFIX}/${share}/zsh/${folder}")]])

# Tuning files name the kernels in ../demo, and the manual links both: they stay beside each other in both places.
install(DIRECTORY configs demo DESTINATION ${share}/tune PATTERN "*.sh" EXCLUDE)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
foreach(link configs demo examples)
  string(REPLACE /examples "" target ../../tune/${link})
  file(CREATE_LINK ${target} ${texts}/${link} SYMBOLIC)
  install(FILES ${texts}/${link} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()

set(CPACK_PACKAGE_CONTACT "The tune authors")
set(CPACK_PACKAGE_VENDOR "The tune authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "autotuner for CUDA, HIP and CPU kernels and for programs")
set(CPACK_PACKAGE_DESCRIPTION "tune builds every combination of the values in a YAML file, checks its
result against a reference, times it in a process of its own, and reports
the fastest.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
string(TOLOWER "tune-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_GENERATOR DEB)
if(TUNE_PORTABLE)
  set(CPACK_GENERATOR TGZ)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/check_packaging.cmake)
# Only CPU kernels need a compiler, and only their comparison with a library needs OpenBLAS.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | c++-compiler, libopenblas0-pthread | libopenblas0")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion")
include(CPack)
