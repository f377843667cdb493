#include "config/source.h"

#include <fmt/format.h>

#include "config/fields.h"
#include "config/t1.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& yaml) {
  return std::filesystem::absolute(yaml).lexically_normal().parent_path();
}

Node read_root(const std::filesystem::path& yaml, Problems& problems) {
  Node root = read_yaml(yaml, problems);
  const char* advice = "a tuning file is a mapping with name, file and params";
  if (root.kind == Node::Kind::null) {
    throw Error(ExitCode::bad_input, fmt::format("{}: the file is empty; {}", yaml.string(), advice));
  }
  if (!root.is_mapping()) {
    throw Error(ExitCode::bad_input,
                fmt::format("{}: the file is {}; {}", to_text(root.place), describe(root), advice));
  }
  return is_t1(root) ? from_t1(root, problems) : root;
}

/// The list of a key's entries: params and constraints may be a single entry.
void append(Node& target, const Node& more) {
  Node list = make_list(target.place);
  list.flow = false;
  for (const Node* item : as_list(target)) list.items.push_back(*item);
  for (const Node* item : as_list(more)) list.items.push_back(*item);
  target = std::move(list);
}

/// Adds another tuning file's entries to the first one's.
class Joiner {
 public:
  Joiner(Node& root, const std::filesystem::path& folder, Problems& problems)
      : root_(&root), folder_(folder), problems_(&problems) {}

  void join(const Node& other, const std::filesystem::path& other_folder) {
    for (const Entry& entry : other.entries) {
      Node* mine = root_->find(entry.key.text);
      if (mine == nullptr) {
        root_->entries.push_back(entry);
      } else if (is_joined(entry.key.text)) {
        append(*mine, entry.value);
      } else if (!agree(entry.key.text, *mine, entry.value, other_folder)) {
        problems_->add(entry.key.place, fmt::format("'{}' differs from {}; files tuned together must share it",
                                                    entry.key.text, to_text(mine->place)));
      }
    }
  }

 private:
  static bool is_joined(const std::string& key) { return key == "params" || key == "constraints" || key == "rules"; }

  bool agree(const std::string& key, const Node& x, const Node& y, const std::filesystem::path& other_folder) const {
    if (key != "file" || !x.is_scalar() || !y.is_scalar())
      return same(x, y) && (key != "file" || folder_ == other_folder);
    return (folder_ / x.text).lexically_normal() == (other_folder / y.text).lexically_normal();
  }

  Node* root_;
  std::filesystem::path folder_;
  Problems* problems_;
};

}  // namespace

Source read_source(std::span<const std::filesystem::path> yamls, Problems& problems) {
  if (yamls.empty()) throw Error(ExitCode::bad_input, "no tuning file; give one with --yaml");
  Source source{folder_of(yamls.front()), read_root(yamls.front(), problems)};
  Joiner joiner(source.root, source.folder, problems);
  for (const std::filesystem::path& yaml : yamls.subspan(1)) joiner.join(read_root(yaml, problems), folder_of(yaml));
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
