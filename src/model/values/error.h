#pragma once
#include <stdexcept>
#include <string>

namespace tune {

/// What `tune` exits with; the meaning of each code is part of the contract with scripts.
enum class ExitCode {
  ok = 0,            ///< a best (without --tune: any valid) spec exists
  none_valid = 1,    ///< the run is complete, but no spec is valid
  bad_input = 2,     ///< the command line or a file is wrong, and nothing was started
  check_failed = 3,  ///< a check or comparison that was asked for failed, beyond doubt
  environment = 4,   ///< a worker, a compiler or a device is missing, or the disk is full
  undecided = 5,     ///< what was asked for is not known: the measurements leave it open
};

/// What several problems come to, in this order: environment, check_failed, none_valid, undecided, ok.
ExitCode worse(ExitCode one, ExitCode other);

/// The one exception for what a user can correct. It is caught in main and printed as `tune: error: ...`.
/// The text says where the problem is, what causes it and what to do next; several problems are separated by newlines.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace tune
