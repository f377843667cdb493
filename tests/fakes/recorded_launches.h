// What the stand-ins for the drivers of CUDA and HIP share: settings from the environment, and the file of launches.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

inline int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

/// A kernel of a module, whose image is a text that ends with a new line.
struct Function {
  std::string image, name;

  Function(const char* its_image, const char* its_name)
      : image(its_image, std::strchr(its_image, '\n')), name(its_name) {}
};

/// Null if nothing is to be written down.
inline std::FILE* log_file() {
  static std::FILE* const log =
      std::getenv("TUNE_TEST_LAUNCHES") != nullptr ? std::fopen(std::getenv("TUNE_TEST_LAUNCHES"), "w") : nullptr;
  return log;
}

template <class... Values>
void note(const char* format, Values... values) {
  if (log_file() == nullptr) return;
  std::fprintf(log_file(), format, values...);
  std::fflush(log_file());
}

/// TUNE_TEST_INTEGERS: which of the arguments are integers, whose values are written down.
inline void note_integers(void** arguments) {
  const char* integers = std::getenv("TUNE_TEST_INTEGERS");
  for (char* end = nullptr; integers != nullptr && *integers != '\0'; integers = end) {
    int value = 0;
    std::memcpy(&value, arguments[std::strtol(integers, &end, 10)], sizeof value);
    note(" %d", value);
  }
  note("\n");
}

}  // namespace
