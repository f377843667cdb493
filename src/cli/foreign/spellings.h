#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tune::cli {

/// An option of another tool, and what stands for it here.
struct Spelling {
  enum class Treatment {
    same,     ///< `ours` means the same
    implied,  ///< `tune` always works like that, so the option changes nothing
    refused   ///< there is no such option here, and `ours` is the sentence that says what to use instead
  };
  using ValueRule = std::string (*)(const std::string& name, const std::string& value);

  std::string_view tool;
  std::string_view name;  ///< with its dashes
  Treatment treatment = Treatment::same;
  std::string_view ours;      ///< of an option: its words; what the rule returns is appended to the last one
  ValueRule value = nullptr;  ///< how the option's value is written here; null: it takes none
};

/// The options of kbench and tune_gemm that do not have the same name here.
std::span<const Spelling> spellings();

/// The words of a command line, with the options of other tools replaced by ours. What follows `--` stays as it is.
/// Throws Error(bad_input) for an option that is refused.
std::vector<std::string> in_our_spelling(int argc, const char* const* argv);

}  // namespace tune::cli
