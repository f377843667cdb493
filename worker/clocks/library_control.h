#pragma once
#include <string>
#include <type_traits>

#include "clocks/clock_control.h"

namespace tune::worker {

/// A ClockControl through a vendor's library, whose functions answer 0 or an error's number.
class LibraryControl : public ClockControl {
 protected:
  /// The numbers of the errors that matter, and what helps where something is not permitted.
  struct Errors {
    int not_supported, no_permission, lost;
    const char* permission_advice;
  };

  explicit LibraryControl(const Errors& errors) : errors_(errors) {}
  /// What the library calls an error; empty: nothing.
  virtual std::string text_of(int status) const = 0;

  /// A null function counts as one that is not supported.
  template <typename... Parameters>
  int status_of(int (*function)(Parameters...), std::type_identity_t<Parameters>... arguments) const {
    return function == nullptr ? errors_.not_supported : function(arguments...);
  }
  /// Throws ClockRefusal unless `status` is 0. `name` is that of the function.
  void require(const char* name, int status) const;

 private:
  Errors errors_;
};

}  // namespace tune::worker
