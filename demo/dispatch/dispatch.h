// Finds the tuned binary for sizes that are known only at run time, and counts how often there is one: what
// dispatch.cpp and dispatch_cuda.cpp share. tuned_gemm.h is written by tune export.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tuned_gemm.h"

struct Size {
  long m, n, k;
  bool operator<(const Size& other) const {
    return std::pair(m, std::pair(n, k)) < std::pair(other.m, std::pair(other.n, other.k));
  }
};

/// One product, all matrices in rows.
struct Product {
  explicit Product(const Size& its_size)
      : size(its_size), A(elements(size.m, size.k)), B(elements(size.k, size.n)), C(elements(size.m, size.n)) {
    for (std::size_t i = 0; i < A.size(); ++i) A[i] = static_cast<float>(i % 7) - 3;
    for (std::size_t i = 0; i < B.size(); ++i) B[i] = static_cast<float>(i % 5) - 2;
  }
  /// Whether the last element of C is what the plain loop computes.
  bool is_right() const {
    float expected = 0;
    for (long p = 0; p < size.k; ++p)
      expected += A[elements(size.m - 1, size.k) + static_cast<std::size_t>(p)] * B[elements(p + 1, size.n) - 1];
    return std::abs(C.back() - expected) <= 1e-3F * (1 + std::abs(expected));
  }
  static std::size_t elements(long rows, long columns) { return static_cast<std::size_t>(rows * columns); }

  Size size;
  std::vector<float> A, B, C;
};

/// What is to be launched: a file, and the parameters that the launch needs. An empty file: nothing was tuned.
struct Choice {
  enum class How { exact, rule, none };
  How how = How::none;
  std::string binary;
  std::map<std::string, long> params;
};

/// What the command line says.
struct Settings {
  std::string store;     ///< tune's build store
  std::string yaml, db;  ///< --tune: what is tuned on a miss, and the database that gets the result
  bool print_counts = false;
  std::vector<Size> sizes;
};

inline Settings parse(int argc, char** argv) {
  Settings settings;
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  settings.store = cache != nullptr ? std::string(cache) + "/tune/store"
                                    : std::string(home != nullptr ? home : ".") + "/.cache/tune/store";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    Size size{};
    char rest = 0;
    if (word == "--counts")
      settings.print_counts = true;
    else if (word == "--store" && i + 1 < argc)
      settings.store = argv[++i];
    else if (word == "--tune" && i + 2 < argc)
      settings.yaml = argv[++i], settings.db = argv[++i];
    else if (std::sscanf(argv[i], "%ldx%ldx%ld%c", &size.m, &size.n, &size.k, &rest) == 3 && size.m > 0 && size.n > 0 &&
             size.k > 0)
      settings.sizes.push_back(size);
    else {
      std::fprintf(stderr, "'%s' is no size; usage: %s [--store DIR] [--tune YAML DB] [--counts] 512x512x256...\n",
                   argv[i], argv[0]);
      std::exit(2);
    }
  }
  return settings;
}

class Dispatcher {
 public:
  /// `device` is what the machine has: results of another one are not used.
  Dispatcher(Settings settings, const std::string& device)
      : settings_(std::move(settings)), usable_(device == tuned_gemm::kDevice) {
    if (!usable_)
      std::fprintf(stderr, "tuned for %s, and not for %s: nothing of it is used\n",
                   std::string(tuned_gemm::kDevice).c_str(), device.c_str());
  }

  /// `params_of` gives the parameters that a launch needs.
  template <class ParamsOf>
  Choice choose(const Size& size, ParamsOf params_of) {
    if (usable_) {
      const tuned_gemm::Choice found = tuned_gemm::choose(size.m, size.n, size.k);
      if (found.configuration != nullptr)
        return {found.match == tuned_gemm::Match::exact ? Choice::How::exact : Choice::How::rule,
                settings_.store + "/" + std::string(found.configuration->store_path),
                params_of(found.configuration->params)};
    }
    const auto tuned = tuned_.find(size);
    if (tuned != tuned_.end()) return tuned->second;
    const Choice choice = settings_.yaml.empty() ? Choice() : tune(size);
    return tuned_[size] = choice;
  }

  /// Notes whether what was chosen was really launched.
  void count(const Choice& choice, bool launched) {
    ++(!launched ? misses_ : choice.how == Choice::How::exact ? exact_ : by_rule_);
  }

  void print_counts() const {
    std::printf("hits: %ld exact, %ld by the rule; misses: %ld; tuned on a miss: %ld\n", exact_, by_rule_, misses_,
                tunings_);
  }

 private:
  /// Tunes these sizes, adds the result to the database, and asks for it. It is used from now on; the header has it
  /// when it is exported again.
  Choice tune(const Size& size) {
    const std::string name = std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k);
    const std::string sizes =
        " -m " + std::to_string(size.m) + " -n " + std::to_string(size.n) + " -k " + std::to_string(size.k);
    const std::string command = "tune '" + settings_.yaml + "' --tune --quiet --store '" + settings_.store + "'" +
                                sizes + " --output 'tuned-" + name + "' >&2 && tune merge 'tuned-" + name +
                                ".yaml' -o '" + settings_.db + "' >&2 && tune lookup --db '" + settings_.db +
                                "' --kernel gemm" + sizes;
    Choice choice;
    std::FILE* const output = ::popen(command.c_str(), "r");
    if (output == nullptr) return choice;
    char line[1024], text[1024];
    long value = 0;
    while (std::fgets(line, sizeof line, output) != nullptr) {
      if (std::sscanf(line, " store_path: %1023s", text) == 1) choice.binary = settings_.store + "/" + text;
      if (std::sscanf(line, " %1023[A-Za-z0-9_$]: %ld", text, &value) == 2)
        choice.params[text[0] == '$' ? text + 1 : text] = value;
    }
    if (::pclose(output) != 0) return {};
    ++tunings_;
    choice.how = Choice::How::exact;
    return choice;
  }

  Settings settings_;
  bool usable_;
  std::map<Size, Choice> tuned_;  ///< misses: what became of them
  long exact_ = 0, by_rule_ = 0, misses_ = 0, tunings_ = 0;
};
