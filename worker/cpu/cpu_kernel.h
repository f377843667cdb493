#pragma once
#include <functional>
#include <string>
#include <vector>

#include "wire/messages.h"

namespace tune::worker {

/// A shared object opened with dlopen. It stays until the process ends, because its threads and the exceptions that it
/// throws may outlive this.
class SharedObject {
 public:
  /// Opens the first of `names` that is available. Throws SpecFailure of the load stage with the loader's reasons.
  explicit SharedObject(const std::vector<std::string>& names);

  bool has(const std::string& symbol) const;
  /// Throws SpecFailure if there is no such symbol.
  template <typename Function>
  Function* symbol(const std::string& name) const {
    return reinterpret_cast<Function*>(find(name));
  }

 private:
  void* find(const std::string& name) const;

  void* handle_ = nullptr;
  std::string name_;
};

/// The launches of a built artifact, bound to the addresses and values of their arguments.
class CpuKernel {
 public:
  using AddressOf = std::function<void*(const std::string& buffer)>;

  /// `acc` is the type of alpha and beta. Throws SpecFailure of the load stage.
  CpuKernel(const std::string& artifact, const std::vector<wire::KernelLaunch>& launches, Type acc,
            const AddressOf& address);

  /// Calls the kernels, in order.
  void launch() const;

 private:
  union Scalar {
    std::int32_t i32;
    std::int64_t i64;
    float f32;
    double f64;
  };
  using Function = void(void* const* arguments);
  struct Call {
    Function* function;
    std::vector<Scalar> scalars;
    std::vector<void*> arguments;  ///< addresses of buffers and of the scalars above
  };
  static Call bind(Function* function, const wire::KernelLaunch& launch, Type acc, const AddressOf& address);
  static Scalar scalar(const wire::Arg& arg, Type acc);

  SharedObject library_;
  std::vector<Call> calls_;
};

}  // namespace tune::worker
