#pragma once
// For programs that tune themselves while they run, without Kokkos: declare parameters, ask for their values at the
// beginning of a piece of work, and say when it ends. A tool for Kokkos, such as libtune_kokkos.so, gives the values
// and learns from the times. Without a tool the defaults stay, and a request costs a few nanoseconds. C++17, header
// only; on systems with a C library before glibc 2.34 link with -ldl.
//
//   const tune::tuning::Parameter tile("tile", std::vector<std::int64_t>{16, 32, 64, 128});
//   const tune::tuning::Input rows("rows");
//   for (...) {
//     tune::tuning::Context context;      // its time, from here to its end, is what counts
//     context.set(rows, m);               // results are kept for each number of rows
//     std::int64_t size = 32;             // the default
//     context.request({{tile, &size}});
//     multiply(m, size);
//   }
//
// Run it with KOKKOS_TOOLS_LIBS=/path/to/libtune_kokkos.so TUNE_KOKKOS_DB=results.yaml, or under `tune kokkos`.

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kokkos_tools.h"

namespace tune::tuning {

using tools::Category;
using tools::Direction;

/// The tool that the environment names, if there is one. Programs need not use it themselves.
class Tool {
 public:
  static const Tool& get() {
    static const Tool tool;
    return tool;
  }

  explicit operator bool() const { return request != nullptr; }
  static std::size_t new_id() {
    static std::atomic<std::size_t> next{std::size_t{1} << 32};  // Kokkos counts from 0
    return next++;
  }

  void (*declare_output)(const char*, std::size_t, tools::VariableInfo*) = nullptr;
  void (*declare_input)(const char*, std::size_t, tools::VariableInfo*) = nullptr;
  void (*begin)(std::size_t) = nullptr;
  void (*request)(std::size_t, std::size_t, const tools::VariableValue*, std::size_t, tools::VariableValue*) = nullptr;
  void (*declare_goal)(std::size_t, tools::Goal) = nullptr;
  void (*end)(std::size_t, tools::VariableValue) = nullptr;

 private:
  Tool() {
    const char* names = std::getenv("KOKKOS_TOOLS_LIBS");
    if (names == nullptr || *names == '\0') names = std::getenv("KOKKOS_PROFILE_LIBRARY");
    if (names == nullptr || *names == '\0') return;
    const std::string first(names, std::strcspn(names, ";"));
    void* const library = ::dlopen(first.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "no tuning: %s\n", ::dlerror());
      return;
    }
    const auto find = [&](auto& function, const char* name) {
      void* const symbol = ::dlsym(library, name);
      std::memcpy(&function, &symbol, sizeof symbol);
      return symbol != nullptr;
    };
    void (*init)(int, std::uint64_t, std::uint32_t, void*) = nullptr;
    if (find(init, "kokkosp_init_library")) init(0, tools::kVersion, 0, nullptr);
    const bool complete = find(declare_output, "kokkosp_declare_output_type") &&
                          find(declare_input, "kokkosp_declare_input_type") && find(begin, "kokkosp_begin_context") &&
                          find(end, "kokkosp_end_context") && find(declare_goal, "kokkosp_declare_optimization_goal");
    find(finalize_, "kokkosp_finalize_library");
    if (!complete || !find(request, "kokkosp_request_values"))
      std::fprintf(stderr, "no tuning: %s is no tool that tunes\n", first.c_str());
  }
  ~Tool() {
    if (request != nullptr && finalize_ != nullptr) finalize_();
  }

  void (*finalize_)() = nullptr;
};

/// A value to be chosen. Declare each once, before the first context; it must live as long as it is used.
class Parameter {
 public:
  Parameter(const char* name, std::vector<std::int64_t> set, Category category = Category::ordinal) {
    declare_set(name, category, tools::ValueType::integer, set, &tools::ScalarArray::integer);
  }
  Parameter(const char* name, std::vector<double> set, Category category = Category::ordinal) {
    declare_set(name, category, tools::ValueType::real, set, &tools::ScalarArray::real);
  }
  /// Texts of up to 63 bytes.
  Parameter(const char* name, const std::vector<std::string>& set, Category category = Category::categorical) {
    std::vector<char> texts(set.size() * tools::kTextSize);
    for (std::size_t i = 0; i < set.size(); ++i)
      std::strncpy(&texts[i * tools::kTextSize], set[i].c_str(), tools::kTextSize - 1);
    info_.candidates.set.values.text = reinterpret_cast<tools::Text*>(texts.data());
    info_.candidates.set.size = set.size();
    declare(name, category, tools::ValueType::text, tools::Candidates::set);
  }
  /// lower, lower + step, ... up to upper.
  Parameter(const char* name, std::int64_t lower, std::int64_t upper, std::int64_t step,
            Category category = Category::interval) {
    declare_range(name, category, tools::ValueType::integer, &tools::Scalar::integer, lower, upper, step);
  }
  Parameter(const char* name, int lower, int upper, int step, Category category = Category::interval)
      : Parameter(name, std::int64_t{lower}, std::int64_t{upper}, std::int64_t{step}, category) {}
  Parameter(const char* name, double lower, double upper, double step, Category category = Category::interval) {
    declare_range(name, category, tools::ValueType::real, &tools::Scalar::real, lower, upper, step);
  }
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

 private:
  friend class Context;

  template <typename Value>
  void declare_set(const char* name, Category category, tools::ValueType type, std::vector<Value>& set,
                   Value* tools::ScalarArray::*values) {
    info_.candidates.set.values.*values = set.data();
    info_.candidates.set.size = set.size();
    declare(name, category, type, tools::Candidates::set);
  }
  template <typename Value>
  void declare_range(const char* name, Category category, tools::ValueType type, Value tools::Scalar::*number,
                     Value lower, Value upper, Value step) {
    tools::ValueRange& range = info_.candidates.range;
    range.lower.*number = lower;
    range.upper.*number = upper;
    range.step.*number = step;
    declare(name, category, type, tools::Candidates::range);
  }
  void declare(const char* name, Category category, tools::ValueType type, tools::Candidates quantity) {
    info_.type = type;
    info_.category = category;
    info_.quantity = quantity;
    if (Tool::get()) Tool::get().declare_output(name, id_, &info_);
  }

  std::size_t id_ = Tool::new_id();
  mutable tools::VariableInfo info_{};
};

/// Something that the best values depend on: a size is a ratio, the kind of something is categorical.
class Input {
 public:
  explicit Input(const char* name, tools::ValueType type = tools::ValueType::integer,
                 Category category = Category::ratio) {
    info_.type = type;
    info_.category = category;
    info_.quantity = tools::Candidates::unbounded;
    if (Tool::get()) Tool::get().declare_input(name, id_, &info_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

 private:
  friend class Context;

  std::size_t id_ = Tool::new_id();
  mutable tools::VariableInfo info_{};
};

/// A parameter, and the variable that has its default and gets its value.
struct Wanted {
  const Parameter& parameter;
  std::variant<std::int64_t*, double*, std::string*> value;
};

/// A piece of work, from its construction to its end. Contexts may lie within each other, on the same thread.
class Context {
 public:
  Context() : first_input_(inputs().size()) {
    if (Tool::get()) Tool::get().begin(id_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    if (!Tool::get()) return;
    inputs().resize(first_input_);
    Tool::get().end(id_, goal_);
  }

  /// Says what holds until the end of this context, for those within it, too.
  void set(const Input& input, std::int64_t value) {
    set(input, [&](tools::Scalar& scalar) { scalar.integer = value; });
  }
  void set(const Input& input, int value) { set(input, static_cast<std::int64_t>(value)); }
  void set(const Input& input, double value) {
    set(input, [&](tools::Scalar& scalar) { scalar.real = value; });
  }
  void set(const Input& input, const std::string& value) {
    set(input, [&](tools::Scalar& scalar) { std::strncpy(scalar.text, value.c_str(), tools::kTextSize - 1); });
  }

  /// Not the time decides, but what this input is set to in this context, which is above 0.
  void set_goal(const Input& input, Direction direction) {
    goal_.id = input.id_;
    if (Tool::get()) Tool::get().declare_goal(id_, {input.id_, direction});
  }

  /// Replaces the defaults by the values to use.
  void request(std::initializer_list<Wanted> wanted) const {
    if (!Tool::get()) return;
    std::vector<tools::VariableValue> values;
    for (const Wanted& want : wanted) {
      tools::VariableValue value{want.parameter.id_, {}, &want.parameter.info_};
      if (const auto* integer = std::get_if<std::int64_t*>(&want.value)) value.value.integer = **integer;
      if (const auto* real = std::get_if<double*>(&want.value)) value.value.real = **real;
      if (const auto* text = std::get_if<std::string*>(&want.value))
        std::strncpy(value.value.text, (*text)->c_str(), tools::kTextSize - 1);
      values.push_back(value);
    }
    Tool::get().request(id_, inputs().size(), inputs().data(), values.size(), values.data());
    std::size_t i = 0;
    for (const Wanted& want : wanted) {
      const tools::Scalar& chosen = values[i++].value;
      if (const auto* integer = std::get_if<std::int64_t*>(&want.value)) **integer = chosen.integer;
      if (const auto* real = std::get_if<double*>(&want.value)) **real = chosen.real;
      if (const auto* text = std::get_if<std::string*>(&want.value)) **text = chosen.text;
    }
  }

 private:
  /// Of all contexts of this thread that are open.
  static std::vector<tools::VariableValue>& inputs() {
    thread_local std::vector<tools::VariableValue> values;
    return values;
  }

  template <typename Write>
  void set(const Input& input, Write write) {
    if (!Tool::get()) return;
    tools::VariableValue value{input.id_, {}, &input.info_};
    write(value.value);
    if (goal_.id == input.id_) {
      goal_ = value;
      return;
    }
    for (std::size_t i = first_input_; i < inputs().size(); ++i)
      if (inputs()[i].id == input.id_) {
        inputs()[i] = value;
        return;
      }
    inputs().push_back(value);
  }

  std::size_t id_ = Tool::new_id();
  std::size_t first_input_;
  tools::VariableValue goal_{};
};

}  // namespace tune::tuning
