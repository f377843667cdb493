# Read by cpack before it makes a package. Without these programs it would make one that does not name the packages that
# it needs, or fail without saying what is missing.
if(CPACK_GENERATOR STREQUAL "DEB")
  find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
  find_program(FILE_UTILITY file)
  if(NOT DPKG_SHLIBDEPS OR NOT FILE_UTILITY)
    message(FATAL_ERROR "A package of Debian needs dpkg-shlibdeps and file: apt install dpkg-dev file")
  endif()
endif()
