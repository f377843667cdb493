#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "config/yaml/node.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "model/values/value.h"
#include "platform/files/file.h"

namespace tune::config {
namespace {

/// Aliases are copied in, so a few lines of nested aliases could stand for any number of nodes. What is written out
/// takes a byte or more per two nodes.
constexpr std::size_t kMaxCopies = 100'000;
constexpr int kMaxDepth = 64;
constexpr std::string_view kMargin = " \t";
constexpr std::string_view kNoBreakSpace = "\u00a0";
constexpr std::size_t kLongestKey = 1000;  // as it is written; YAML has 1024 at most
constexpr std::uintmax_t kMostBytes = 16 << 20;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

/// The index just after the quoted scalar that starts at `begin`; npos if it does not end on this line.
std::size_t end_of_quoted(std::string_view line, std::size_t begin) {
  const char quote = line[begin];
  for (std::size_t i = begin + 1; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\') {
      ++i;
    } else if (line[i] == quote) {
      if (quote == '"' || i + 1 == line.size() || line[i + 1] != quote) return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

/// The comment that follows a scalar on its line, if nothing but a comma of its list stands between them.
std::string trailing_comment(std::string_view line, std::size_t begin, const std::string& text) {
  if (begin >= line.size()) return {};
  const bool quoted = line[begin] == '"' || line[begin] == '\'';
  if (!quoted && line.substr(begin, text.size()) != text) return {};
  const std::size_t end = quoted ? end_of_quoted(line, begin) : begin + text.size();
  if (end == std::string_view::npos) return {};
  std::string_view rest = trimmed(line.substr(end), kMargin);
  if (rest.starts_with(',')) rest = trimmed(rest.substr(1), kMargin);
  if (!rest.starts_with('#')) return {};
  return std::string(trimmed(rest.substr(1), kMargin));
}

/// The line of the last `begin`, [ or {, that is not closed; nullopt if there is none. yaml-cpp tells where it gave up,
/// which may be lines behind.
std::optional<int> line_of_open(const std::vector<std::string>& lines, char begin) {
  std::vector<int> open;
  char quote = 0;  // of the text that goes on
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::string& text = lines[line];
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool starts = i == 0 || std::string_view(" \t[{,").find(text[i - 1]) != std::string_view::npos;
      if (quote == '"' && text[i] == '\\')
        ++i;
      else if (quote != 0)
        quote = text[i] == quote ? 0 : quote;
      else if (starts && text[i] == '#')
        break;
      else if (starts && (text[i] == '"' || text[i] == '\''))
        quote = text[i];
      else if (starts && text[i] == begin)
        open.push_back(static_cast<int>(line));
      else if (text[i] == (begin == '[' ? ']' : '}') && !open.empty())
        open.pop_back();
    }
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

/// What to look for, since yaml-cpp only says what it did not find.
std::string_view advice_on(std::string_view complaint) {
  static constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"end of map flow", "; close the {"},
      {"end of sequence flow", "; close the ["},
      {"end of map", "; indent the keys of a mapping alike, and put a blank behind each colon"},
      {"end of sequence", "; indent the entries of a list alike"},
      {"illegal map value",
       "; in this line or the one before: a key is followed by a colon and a blank, the keys of a mapping are indented "
       "alike, and a text that contains ': ' is quoted"},
      {"unknown token", "; quote a text that begins with a sign such as % or @"},
      {"EOF in scalar", "; close the quotes"}};
  for (const auto& [part, advice] : kAdvice)
    if (complaint.find(part) != std::string_view::npos) return advice;
  return "";
}

/// Where the second document of a text starts. YAML::LoadAll would tell too, but never returns from a text such as `,`.
class DocumentCounter : public YAML::EventHandler {
 public:
  static std::optional<YAML::Mark> second(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentCounter counter;
    if (!parser.HandleNextDocument(counter) || !parser.HandleNextDocument(counter)) return {};
    return counter.start_;
  }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  YAML::Mark start_;
};

/// Turns yaml-cpp's nodes into ours; keeps what yaml-cpp passes over: duplicate keys and comments.
class Converter {
 public:
  Converter(const std::string& text, const std::string& file, Diagnostics& diagnostics)
      : lines_(split_lines(text)),
        most_nodes_(2 * text.size() + kMaxCopies),
        file_(std::make_shared<const std::string>(file)),
        diagnostics_(&diagnostics) {}

  [[noreturn]] static void fail(const Place& place, const std::string& why) {
    throw Error(ExitCode::bad_input, fmt::format("{}: {}", to_text(place), why));
  }

  /// Complains of the first byte that YAML does not allow: arguments, file names and identities are made of these
  /// texts, and yaml-cpp takes some of them for the end.
  void require_readable(std::string_view text) const {
    std::size_t at = 0;
    CodePoint point;
    for (bool fine = true; fine && at < text.size(); at += fine ? point.bytes : 0) {
      point = first_code_point(text.substr(at));
      const bool blank = point.value == '\t' || point.value == '\n' || point.value == '\r';
      fine = point.valid && (point.value >= 0x20 || blank) && point.value != 0x7F;
    }
    if (at == text.size()) return;
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const Place place{file_, static_cast<int>(line) + 1, 0};
    const std::string bytes = line_with_escapes(text.substr(at, point.bytes));
    if (!point.valid) fail(place, fmt::format("the byte {} is no UTF-8; save the file as UTF-8", bytes));
    fail(place, fmt::format("the character {0} cannot stand in YAML; write it in double quotes, as \"{0}\"", bytes));
  }

  /// Of what yaml-cpp does not understand. It asks for the end of a list also where a comma is missing.
  [[noreturn]] void fail(YAML::Mark mark, const std::string& complaint) const {
    std::string_view advice = advice_on(complaint);
    if (advice.starts_with("; close the ") && !advice.ends_with("quotes")) {
      const std::optional<int> open = line_of_open(lines_, advice.back());
      if (!open)
        advice = advice.ends_with('{') ? "; put a comma between the entries, and a blank behind a key's colon"
                                       : "; put a comma between the entries";
      mark.line = open.value_or(mark.line);
    }
    fail(place(mark), fmt::format("malformed YAML: {}{}", complaint, advice));
  }

  Node convert(const YAML::Node& from) {
    Node node;
    node.place = place(from.Mark());
    if (++nodes_ > most_nodes_)
      fail(node.place, fmt::format("its aliases stand for more than {} values; write fewer of them", kMaxCopies));
    if (depth_ > kMaxDepth)
      fail(node.place, fmt::format("more than {} levels are nested here; no tuning file has as many", kMaxDepth));
    ++depth_;
    if (from.IsScalar()) convert_scalar(from, node);
    if (from.IsSequence()) convert_list(from, node);
    if (from.IsMap()) convert_mapping(from, node);
    --depth_;
    return node;
  }

  /// Complains if one of these lines has blanks that YAML does not take for blanks.
  void refuse_blanks(int first_line, int last_line) const {
    refuse_tabs(first_line, last_line);
    for (int line = std::max(first_line, 0); line <= last_line && line < static_cast<int>(lines_.size()); ++line)
      if (const std::size_t at = lines_[static_cast<std::size_t>(line)].find(kNoBreakSpace); at != std::string::npos)
        fail({file_, line + 1, 1}, fmt::format("its character {} is a no-break space, which YAML does not take for a "
                                               "blank; replace it by one",
                                               at + 1));
  }

  /// Complains if one of these lines is indented by a tab: yaml-cpp has another reason for refusing it, or takes it for
  /// the rest of the value before it.
  void refuse_tabs(int first_line, int last_line) const {
    for (int line = std::max(first_line, 0); line <= last_line; ++line)
      if (is_indented_by_tab(static_cast<std::size_t>(line)))
        fail({file_, line + 1, 1}, "YAML does not allow tabs in the indentation of a line; write blanks instead");
  }

  Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

 private:
  bool is_indented_by_tab(std::size_t line) const {
    if (line >= lines_.size()) return false;
    const std::size_t first = lines_[line].find_first_not_of(" \t");
    if (first == std::string::npos || lines_[line][first] == '#') return false;
    return std::string_view(lines_[line]).substr(0, first).find('\t') != std::string_view::npos;
  }

  bool ends_on_its_line(const YAML::Mark& mark, const std::string& text) const {
    const auto line = static_cast<std::size_t>(mark.line), column = static_cast<std::size_t>(mark.column);
    return line >= lines_.size() || column > lines_[line].size() ||
           lines_[line].compare(column, text.size(), text) == 0;
  }

  void convert_scalar(const YAML::Node& from, Node& node) {
    node.kind = Node::Kind::scalar;
    node.text = from.Scalar();
    node.quoted = from.Tag() == "!";
    if (!node.quoted && flow_depth_ == 0)
      refuse_tabs(from.Mark().line, from.Mark().line + (ends_on_its_line(from.Mark(), node.text) ? 0 : 1));
    if (node.text.find('\0') != std::string::npos)
      fail(node.place, "the character \\0 ends arguments and file names; remove it");
    // yaml-cpp has single bytes for two of YAML's escapes.
    if (find_no_utf8(node.text) != std::string::npos)
      fail(node.place,
           "the escapes \\N and \\_ are not supported here; write \\u0085 or \\u00a0, or \\\\ if you mean a backslash");
    const auto line = static_cast<std::size_t>(from.Mark().line);
    if (line < lines_.size()) {
      node.comment = trailing_comment(lines_[line], static_cast<std::size_t>(from.Mark().column), node.text);
    }
  }

  void convert_list(const YAML::Node& from, Node& node) {
    node.kind = Node::Kind::list;
    node.flow = from.Style() == YAML::EmitterStyle::Flow;
    flow_depth_ += node.flow ? 1 : 0;
    for (const auto& item : from) node.items.push_back(convert(item));
    flow_depth_ -= node.flow ? 1 : 0;
  }

  void convert_mapping(const YAML::Node& from, Node& node) {
    node.kind = Node::Kind::mapping;
    node.flow = from.Style() == YAML::EmitterStyle::Flow;
    flow_depth_ += node.flow ? 1 : 0;
    std::set<std::string> seen;
    for (const auto& pair : from) {
      Entry entry{convert(pair.first), convert(pair.second)};
      if (!entry.key.quoted && entry.key.text.find(kNoBreakSpace) != std::string::npos)
        refuse_blanks(pair.first.Mark().line, pair.first.Mark().line);
      if (!entry.key.is_scalar()) {
        diagnostics_->add(entry.key.place, fmt::format("a key must be a text, not {}", describe(entry.key)));
      } else if (to_yaml(Value(entry.key.text)).size() > kLongestKey) {
        diagnostics_->add(entry.key.place, fmt::format("a key is longer than {} characters; shorten it", kLongestKey));
      } else if (!seen.insert(entry.key.text).second) {
        diagnostics_->add(entry.key.place, fmt::format("duplicate key '{}'; remove one of the two", entry.key.text));
      } else {
        // Where there is no value, yaml-cpp tells where the next thing stands.
        if (entry.value.kind == Node::Kind::null) entry.value.place = entry.key.place;
        node.entries.push_back(std::move(entry));
      }
    }
    flow_depth_ -= node.flow ? 1 : 0;
  }

  std::vector<std::string> lines_;
  std::size_t most_nodes_;
  std::shared_ptr<const std::string> file_;
  Diagnostics* diagnostics_;
  std::size_t nodes_ = 0;
  int depth_ = 0, flow_depth_ = 0;
};

}  // namespace

Node parse_yaml(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  Converter converter(text, file, diagnostics);
  converter.require_readable(text);
  YAML::Node document;
  std::optional<YAML::Mark> second;
  try {
    document = YAML::Load(text);
    second = DocumentCounter::second(text);
  } catch (const YAML::DeepRecursion& e) {
    Converter::fail(converter.place(e.mark),
                    fmt::format("more than {} levels are nested here; no tuning file has as many", kMaxDepth));
  } catch (const YAML::Exception& e) {
    converter.refuse_blanks(e.mark.line - 1, e.mark.line);
    converter.fail(e.mark, e.msg);
  }
  if (second) Converter::fail(converter.place(*second), "several YAML documents; put them into files of their own");
  return converter.convert(document);
}

Node read_yaml(const std::filesystem::path& path, Diagnostics& diagnostics) {
  return parse_yaml(platform::read_file(path, kMostBytes), path.string(), diagnostics);
}

}  // namespace tune::config
