#pragma once
// Databases of results for tests: they write best YAML files, and tune merges them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/cli.h"

namespace tune::cli {

using Words = std::vector<std::string>;

/// What a best YAML says, as far as a database takes it.
struct Best {
  int m = 64, n = 64, k = 64;
  std::string params = "{BM: 8}";
  std::string time = "1";
  std::string device = "NVIDIA H200";
  std::string driver = "580.1";
  std::string more;        // lines within result:
  std::string types = "";  // within gemm
};

inline std::string text_of(const Best& best) {
  const std::string sizes =
      "m: " + std::to_string(best.m) + ", n: " + std::to_string(best.n) + ", k: " + std::to_string(best.k);
  return "name: gemm\nfile: gemm.cu\nkernel: gemm\nbackend: cuda\nproblem: {gemm: {" + sizes + best.types +
         "}}\nparams: " + best.params + "\nlaunch: {grid: 1, block: 1, args: [A]}\nresult:\n  checked: yes\n" +
         "  tie: no\n  time_ms: " + best.time + "\n" + best.more + "device: {name: " + best.device + ", driver: '" +
         best.driver + "', arch: sm_90a, compiler: nvrtc 13.0}\n";
}

class DatabaseFile : public testing::Test {
 protected:
  std::string write(const std::string& name, const Best& best) const {
    sandbox_.write(name, text_of(best));
    return name;
  }

  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }

  /// A database of three sizes on an H200.
  void write_database() const {
    Best best;
    for (const int m : {64, 128, 1024}) {
      best.m = m;
      best.params = "{BM: " + std::to_string(m / 8) + ", $S: 2}";
      tune({"merge", write("one.yaml", best), "-o", "db.yaml"});
    }
  }

  Result look_up(Words more, int code = 0) const {
    Words words = {"lookup", "--db", "db.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words, code);
  }

  /// The tuning file of the results above, with more keys: what says which sizes a configuration is valid for.
  void write_tuning_file(const std::string& more = "",
                         const std::string& params = "{BM: [1, 2, 8, 16, 128], $S: 2}") const {
    sandbox_.write("gemm.cu", "extern \"C\" __global__ void gemm(const float*) {}\n");
    sandbox_.write("gemm.yaml",
                   "name: gemm\nfile: gemm.cu\nkernel: gemm\nbackend: cuda\nproblem: {gemm: {m: 64, n: 64, k: 64}}\n"
                   "params: " +
                       params + "\nlaunch: {grid: 1, block: 1, args: [A]}\n" + more);
  }

  Sandbox sandbox_;
};

}  // namespace tune::cli
