#include "config/reader/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "config/foreign/t1.h"
#include "config/yaml/fields.h"
#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::config {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& yaml) {
  return std::filesystem::absolute(yaml).lexically_normal().parent_path();
}

bool is_one_of(const std::string& suffix, std::initializer_list<std::string_view> suffixes) {
  return std::ranges::find(suffixes, suffix) != suffixes.end();
}

[[noreturn]] void refuse(const std::string& place, const std::string& text) {
  throw Error(ExitCode::bad_input, fmt::format("{}: {}", place, text));
}

std::string if_recorded(const std::filesystem::path& path) {
  return fmt::format("if it is a recorded run, write --simulate {}", path.string());
}

/// Whether a file is an executable or a script, without reading from pipes.
bool is_program(const std::filesystem::path& path) {
  std::error_code ignored;
  std::array<char, 4> bytes = {};
  if (std::filesystem::is_regular_file(path, ignored)) std::ifstream(path).read(bytes.data(), bytes.size());
  const std::string_view begin(bytes.data(), bytes.size());
  return begin == "\177ELF" || (begin.starts_with("#!") && !platform::is_yaml(path));
}

/// Throws Error(bad_input) for what people give by mistake: a recorded run, a source, a program.
void require_tuning_file(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& text) { refuse(path.string(), text); };
  const std::string suffix = path.extension().string();
  std::error_code error;  // whoever reads the file says what it is
  if (!std::filesystem::exists(path, error)) {
    constexpr std::array<std::string_view, 2> kSuffixes = {".yaml", ".yml"};
    const std::filesystem::path nearest = platform::nearest_file(path, kSuffixes);
    if (!nearest.empty()) fail(fmt::format("there is no such file, did you mean '{}'?", nearest.string()));
    if (!error && !path.has_parent_path() && !path.has_extension())
      fail("there is neither a file nor a command of tune of this name; see tune --help");
    if (path.string().find('{') != std::string::npos) fail("there is no such file; a command line stands behind --");
    if (!error && platform::is_yaml(path)) fail("there is no such file; tune init SOURCE writes one for a kernel");
    return;
  }
  if (is_program(path))
    fail(
        fmt::format("this is a program; write a tuning file in YAML that names it, with file: {1}, or tune its command "
                    "line:\n\ttune --tune --param NAME:[1,2] -- {0} {{NAME}}",
                    (path.has_parent_path() ? path : "." / path).string(), path.filename().string()));
  if (suffix == ".jsonl")
    fail(
        fmt::format("this is the journal of a run and no tuning file; to answer specs from it, write --simulate {}; "
                    "to resume that run, repeat its command",
                    path.string()));
  if (is_one_of(suffix, {".csv", ".gz", ".bz2"})) fail("this is no tuning file; " + if_recorded(path));
  if (is_one_of(suffix, {".cu", ".hip", ".cpp", ".cc", ".cxx", ".c"}))
    fail(
        fmt::format("this is a source file; this writes a tuning file for its kernel:\n\ttune init {}", path.string()));
  if (is_one_of(suffix, {".cuh", ".h", ".hpp", ".py", ".sh"}))
    fail(fmt::format("this is a source file; write a tuning file in YAML that names it, with file: {}",
                     path.filename().string()));
}

/// Whether a mapping in JSON is something else than a tuning file: a Kernel Tuner cache, for example.
bool is_other_json(const std::filesystem::path& path, const Node& root) {
  return path.extension() == ".json" && root.find("params") == nullptr && root.find("file") == nullptr;
}

Node parse(const std::filesystem::path& path, Diagnostics& diagnostics) try {
  return read_yaml(path, diagnostics);
} catch (const Error& error) {
  if (path.extension() != ".json") throw;
  throw Error(error.code(), fmt::format("{}; {}", error.what(), if_recorded(path)));
}

Node read_root(const std::filesystem::path& yaml, bool launched, Diagnostics& diagnostics) {
  require_tuning_file(yaml);
  Node root = parse(yaml, diagnostics);
  const char* advice = "a tuning file is a mapping with name, file and params";
  if (root.kind == Node::Kind::null) refuse(yaml.string(), fmt::format("the file is empty; {}", advice));
  if (!root.is_mapping())
    refuse(to_text(root.place), fmt::format("the file is {}; {}{}", describe(root), advice,
                                            root.is_list() ? "; a list of sizes is given with --shapes" : ""));
  if (root.find("tune_database") != nullptr)
    refuse(
        yaml.string(),
        "this is no tuning file, but a database of results: tune package makes a library of it, tune retime times its "
        "results again");
  if (root.find("properties") != nullptr && root.find("arch") != nullptr && root.find("params") == nullptr)
    refuse(yaml.string(), "this is no tuning file, but describes a device, as --device-file FILE wants it");
  if (is_t1(root)) return from_t1(root, launched, diagnostics);
  if (is_other_json(yaml, root))
    refuse(yaml.string(),
           fmt::format("this is no tuning file, which has name, file and params; {}", if_recorded(yaml)));
  return root;
}

/// The list of a key's entries: params and constraints may be a single entry.
void append(Node& target, const Node& more) {
  Node list = make_list(target.place);
  list.flow = false;
  for (const Node* item : as_list(target)) list.items.push_back(*item);
  for (const Node* item : as_list(more)) list.items.push_back(*item);
  target = std::move(list);
}

/// Whether two files say the same with a key, each in its folder.
bool agree(const std::string& key, const Node& x, const Node& y, const std::filesystem::path& folder_of_x,
           const std::filesystem::path& folder_of_y) {
  if (key != "file") return same(x, y);
  if (!x.is_scalar() || !y.is_scalar()) return same(x, y) && folder_of_x == folder_of_y;
  return (folder_of_x / x.text).lexically_normal() == (folder_of_y / y.text).lexically_normal();
}

/// Adds another tuning file's entries to the first one's.
void add_entries(Source& first, const Source& other, Diagnostics& diagnostics) {
  for (const Entry& entry : other.root.entries) {
    const std::string& key = entry.key.text;
    Node* mine = first.root.find(key);
    if (mine == nullptr)
      first.root.entries.push_back(entry);
    else if (key == "params" || key == "constraints" || key == "rules")
      append(*mine, entry.value);
    else if (!agree(key, *mine, entry.value, first.folder, other.folder))
      diagnostics.add(entry.key.place, fmt::format("'{}' differs from {}; files tuned together must share it", key,
                                                   to_text(mine->place)));
  }
}

/// The name of the program that a command starts; `command` if it has none.
std::string name_of_command(const Node& run) {
  std::string program;
  std::istringstream(run.text) >> program;
  if (run.is_list()) program = run.items.empty() ? "" : run.items.front().text;
  const std::string name = std::filesystem::path(program).filename().string();
  return name.empty() ? "command" : name;
}

}  // namespace

Source read_source(std::span<const std::filesystem::path> yamls, bool launched, Diagnostics& diagnostics) {
  if (yamls.empty()) throw Error(ExitCode::bad_input, "no tuning file; give one with --yaml");
  Source source{folder_of(yamls.front()), read_root(yamls.front(), launched, diagnostics)};
  for (const std::filesystem::path& yaml : yamls.subspan(1))
    add_entries(source, {folder_of(yaml), read_root(yaml, launched, diagnostics)}, diagnostics);
  const Node* run = source.root.find("run");
  if (run != nullptr && source.root.find("file") == nullptr && source.root.find("name") == nullptr)
    source.root.set("name", make_text(name_of_command(*run), run->place));
  return source;
}

Source source_of_command(const LoadSettings& settings) {
  if (settings.params.empty() && settings.new_params.empty())
    throw Error(
        ExitCode::bad_input,
        "the command has no parameter; give one as in --param LEVEL:[1,9], and write {LEVEL} where its value is "
        "to stand");
  const Place place = place_of_option("the command behind --");
  const std::vector<std::string>& words = settings.command;
  Node run = make_list(place);
  for (const std::string& word : words) run.items.push_back(make_text(word, place));
  if (settings.shell || (words.size() == 1 && words.front().find(' ') != std::string::npos))
    run = make_text(fmt::format("{}", fmt::join(words, " ")), place);
  Source source{std::filesystem::current_path(), make_mapping(place)};
  source.root.set("name", make_text(name_of_command(run), place));
  source.root.set("run", run);
  source.root.set("params", make_mapping(place));
  return source;
}

std::vector<Node*> parameter_mappings(Node& root) {
  std::vector<Node*> mappings;
  Node* params = root.find("params");
  if (params == nullptr) return mappings;
  if (params->is_mapping()) mappings.push_back(params);
  for (Node& item : params->items) {
    if (item.is_mapping()) mappings.push_back(&item);
  }
  return mappings;
}

}  // namespace tune::config
