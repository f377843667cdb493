#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include "commands/database/result_tables.h"

namespace tune::commands {
namespace {

/// A literal of C++ that is this text, whatever it holds. Bytes that are no letters, digits or common signs are octal.
std::string literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view(" _-+.,:;/()[]{}<>=*#$%&|!~^@'").find(c) != std::string_view::npos;
    quoted += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return quoted + '"';
}

/// The text without the characters that would end a comment of one line.
std::string in_comment(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\') c = ' ';
  return text;
}

enum class Member { integer, real, boolean, text };
constexpr const char* kMemberTypes[] = {"std::int64_t", "double", "bool", "std::string_view"};

Member member_of(const Value& value) {
  if (std::holds_alternative<std::int64_t>(value)) return Member::integer;
  if (std::holds_alternative<double>(value)) return Member::real;
  return std::holds_alternative<Bool>(value) ? Member::boolean : Member::text;
}

/// The parameters of all configurations, in the order of their first occurrence; texts where their values are of
/// several kinds.
std::vector<std::pair<std::string, Member>> members_of(const database::SizeRule& rule) {
  std::vector<std::pair<std::string, Member>> members;
  for (const database::Configuration& configuration : rule.configurations)
    for (const Setting& setting : configuration.params) {
      const auto known = std::ranges::find(members, setting.name, &std::pair<std::string, Member>::first);
      if (known == members.end())
        members.emplace_back(setting.name, member_of(setting.value));
      else if (known->second != member_of(setting.value))
        known->second = Member::text;
    }
  return members;
}

std::string value_of(const database::Configuration& configuration, const std::string& name, Member member) {
  const auto setting = std::ranges::find(configuration.params, name, &Setting::name);
  if (setting == configuration.params.end()) return "{}";
  const std::string text = to_text(setting->value);
  if (member == Member::text) return literal(text);
  if (member == Member::boolean) return std::get<Bool>(setting->value).value ? "true" : "false";
  return text;
}

// Words of C++, macros of GCC on Linux, and names that the header has itself.
constexpr std::string_view kTaken[] = {
    "alignas",     "alignof",       "and",        "and_eq",    "asm",       "auto",           "bitand",
    "bitor",       "bool",          "break",      "case",      "catch",     "char",           "char16_t",
    "char32_t",    "char8_t",       "class",      "co_await",  "co_return", "co_yield",       "compl",
    "concept",     "const",         "const_cast", "consteval", "constexpr", "constinit",      "continue",
    "decltype",    "default",       "delete",     "do",        "double",    "dynamic_cast",   "else",
    "enum",        "explicit",      "export",     "extern",    "false",     "float",          "for",
    "friend",      "goto",          "if",         "inline",    "int",       "long",           "mutable",
    "namespace",   "new",           "noexcept",   "not",       "not_eq",    "nullptr",        "operator",
    "or",          "or_eq",         "private",    "protected", "public",    "register",       "reinterpret_cast",
    "requires",    "return",        "short",      "signed",    "sizeof",    "static",         "static_assert",
    "static_cast", "struct",        "switch",     "template",  "this",      "thread_local",   "throw",
    "true",        "try",           "typedef",    "typeid",    "typename",  "typeof",         "union",
    "unsigned",    "using",         "virtual",    "void",      "volatile",  "wchar_t",        "while",
    "xor",         "xor_eq",        "linux",      "unix",      "i386",      "NULL",           "std",
    "Params",      "Configuration", "Match",      "Choice",    "choose",    "kConfigurations"};

/// An identifier for each name, and another one for each: a `_` stands behind what would not be one.
std::map<std::string, std::string> identifiers_for(const std::vector<std::string>& names) {
  std::set<std::string, std::less<>> taken(std::begin(kTaken), std::end(kTaken));
  std::map<std::string, std::string> identifiers;
  for (const std::string& name : names) {
    std::string identifier = identifier_of(name);
    while (!taken.insert(identifier).second) identifier += '_';
    identifiers.emplace(name, std::move(identifier));
  }
  return identifiers;
}

template <typename Pairs>
std::vector<std::string> names_in(const Pairs& pairs) {
  std::vector<std::string> names;
  for (const auto& [name, value] : pairs) names.push_back(name);
  return names;
}

class HeaderWriter {
 public:
  explicit HeaderWriter(const DispatchTable& table)
      : table_(&table),
        members_(members_of(table.rule)),
        member_names_(identifiers_for(names_in(members_))),
        size_names_(identifiers_for(names_in(table.rule.table.begin()->first))),
        problem_names_(identifiers_for(names_in(table.group.problem))) {}

  std::string write() {
    heading();
    types();
    configurations();
    choose();
    text_ += "}  // namespace " + space() + "\n";
    return std::move(text_);
  }

 private:
  std::string space() const { return "tuned_" + identifier_of(table_->group.kernel); }

  void line(const std::string& text) { text_ += text + "\n"; }

  void heading() {
    const database::TunedDevice& device = table_->group.device;
    line("// Written by tune export; changes are lost when it is written again.");
    line("// " + in_comment(fmt::format("{} on {} ({}), driver {}, compiler {}", table_->group.kernel, device.name,
                                        device.arch, device.driver, device.compiler)));
    line("#pragma once\n#include <cstdint>\n#include <string_view>\n");
    line("namespace " + space() + " {\n");
    line("/// What the results are of: compare these with what the program finds, and do not use them for others.");
    for (const auto& [name, text] : {std::pair("kDevice", device.name),
                                     {"kArch", device.arch},
                                     {"kDriver", device.driver},
                                     {"kCompiler", device.compiler},
                                     {"kSource", table_->group.source}})
      line(fmt::format("inline constexpr std::string_view {} = {};", name, literal(text)));
    for (const auto& [name, text] : table_->group.problem)
      line(fmt::format("inline constexpr std::string_view kProblem_{} = {};", problem_names_.at(name), literal(text)));
  }

  void types() {
    line("\n/// The parameters of a configuration.\nstruct Params {");
    for (const auto& [name, member] : members_)
      line(fmt::format("  {} {};", kMemberTypes[static_cast<int>(member)], member_names_.at(name)));
    line("};\n");
    line(
        "/// A configuration: `artifact` is the hash of its binary, which lies at `store_path` in tune's build store.");
    line("struct Configuration {\n  Params params;\n  std::string_view artifact, store_path;\n};\n");
    line("/// How a configuration was chosen: exact sizes, by the rule for others, or not at all.");
    line("enum class Match { exact, rule, none };\n");
    line("/// `configuration` is null if there is none.");
    line("struct Choice {\n  const Configuration* configuration;\n  Match match;\n};\n");
  }

  void configurations() {
    line("inline constexpr Configuration kConfigurations[] = {");
    for (const database::Configuration& configuration : table_->rule.configurations) {
      std::string values;
      for (const auto& [name, member] : members_)
        values += (values.empty() ? "" : ", ") + value_of(configuration, name, member);
      line(fmt::format("    {{{{{}}}, {}, {}}},", values, literal(configuration.artifact_hash),
                       literal(configuration.store_path)));
    }
    line("};\n");
  }

  void choose() {
    std::string arguments;
    const database::Sizes& names = table_->rule.table.begin()->first;
    for (const auto& [name, size] : names)
      arguments += fmt::format("{}std::int64_t {}", arguments.empty() ? "" : ", ", size_names_.at(name));
    line("/// Chooses the configuration for these sizes.");
    line(fmt::format("constexpr Choice choose({}) {{", arguments));
    for (const auto& [sizes, use] : table_->rule.table) {
      std::string condition;
      for (const auto& [name, size] : sizes)
        condition += fmt::format("{}{} == {}", condition.empty() ? "" : " && ", size_names_.at(name), size);
      line(fmt::format("  if ({}) return {{&kConfigurations[{}], Match::exact}};",
                       condition.empty() ? "true" : condition, use));
    }
    if (table_->rule.tree.empty())
      line("  return {nullptr, Match::none};");
    else
      branch(0, 1);
    line("}\n");
  }

  void branch(std::size_t index, std::size_t depth) {
    const database::SizeRule::Node& node = table_->rule.tree[index];
    const std::string margin(2 * depth, ' ');
    if (node.size.empty())
      return line(fmt::format("{}return {{&kConfigurations[{}], Match::rule}};", margin, node.use));
    line(fmt::format("{}if ({} <= {}) {{", margin, size_names_.at(node.size), node.most));
    branch(node.below, depth + 1);
    line(margin + "}");
    branch(node.above, depth);
  }

  const DispatchTable* table_;
  std::vector<std::pair<std::string, Member>> members_;
  std::map<std::string, std::string> member_names_, size_names_, problem_names_;  ///< identifiers
  std::string text_;
};

}  // namespace

std::string identifier_of(const std::string& text) {
  std::string identifier;
  for (const char c : text) identifier += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return identifier.empty() || std::isdigit(static_cast<unsigned char>(identifier[0])) != 0 ? '_' + identifier
                                                                                            : identifier;
}

std::string to_header(const DispatchTable& table) { return HeaderWriter(table).write(); }

}  // namespace tune::commands
