#pragma once

namespace tune::page {

// The files in page/, which CMake puts into the program.
extern const char* const kPageMarkup;
extern const char* const kPageStyle;
extern const char* const kPageScript;  ///< all scripts, one after the other

}  // namespace tune::page
