#include "base/store.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "base/descriptor.h"
#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(ExitCode code, const std::string& doing, const fs::path& path, const std::string& why) {
  throw Error(code, "cannot " + doing + " " + path.string() + ": " + why);
}

/// The name in an `#include "name"` or `#include <name>` line; empty for any other line.
std::string_view included_name(std::string_view line) {
  const auto skip = [&line](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool found = line.starts_with(word);
    if (found) line.remove_prefix(word.size());
    return found;
  };
  if (!skip("#") || !skip("include")) return {};
  const char close = skip("\"") ? '"' : skip("<") ? '>' : '\0';
  const std::size_t end = close == '\0' ? std::string_view::npos : line.find(close);
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

/// The files a source stands for: itself and the headers that resolve, each once.
class Closure {
 public:
  Closure(const fs::path& source, const std::vector<fs::path>& include) : folders_(include) {
    folders_.insert(folders_.begin(), source.parent_path());
    visit(source);
  }
  /// Path to contents, sorted.
  const std::map<fs::path, std::string>& files() const { return files_; }

 private:
  void visit(const fs::path& path) {
    const fs::path file = fs::weakly_canonical(path);
    if (files_.contains(file)) return;
    const std::string& text = files_[file] = read_file(file);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (const auto header = resolve(included_name(line), file.parent_path())) visit(*header);
  }

  std::optional<fs::path> resolve(std::string_view name, const fs::path& beside) const {
    if (name.empty()) return std::nullopt;
    std::error_code ignored;
    if (fs::is_regular_file(beside / name, ignored)) return beside / name;
    for (const fs::path& folder : folders_)
      if (fs::is_regular_file(folder / name, ignored)) return folder / name;
    return std::nullopt;
  }

  std::vector<fs::path> folders_;
  std::map<fs::path, std::string> files_;
};

}  // namespace

Hash::Hash() : state_(XXH3_createState()) { XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_)); }
Hash::~Hash() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

Hash& Hash::add(std::string_view part) {
  auto* state = static_cast<XXH3_state_t*>(state_);
  const std::uint64_t size = part.size();
  XXH3_128bits_update(state, &size, sizeof size);
  XXH3_128bits_update(state, part.data(), part.size());
  return *this;
}

std::string Hash::hex() const {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_)));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes.digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string hash_file(const fs::path& path) { return Hash().add(read_file(path)).hex(); }

std::string hash_sources(const fs::path& source, const std::vector<fs::path>& include) {
  Hash hash;
  const Closure closure(source, include);
  // File names without folders: the same sources elsewhere are the same build.
  for (const auto& [path, text] : closure.files()) hash.add(path.filename().string()).add(text);
  return hash.hex();
}

namespace {

constexpr const char* kTemporary = "tmp.";

// Builds that were killed leave their folders; a day later nobody is building there any more.
void remove_abandoned(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(kTemporary)) continue;
    const auto changed = fs::last_write_time(entry.path(), error);
    if (!error && fs::file_time_type::clock::now() - changed > std::chrono::hours(24))
      fs::remove_all(entry.path(), error);
  }
}

}  // namespace

Store::Store(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail(ExitCode::environment, "create the build store", folder_, error.message());
  if (::access(folder_.c_str(), W_OK) != 0)
    fail(ExitCode::environment, "write to the build store", folder_, std::strerror(errno));
  remove_abandoned(folder_);
}

std::optional<fs::path> Store::find(std::string_view key) const {
  std::error_code ignored;
  const fs::path entry = folder_ / key;
  if (!fs::is_directory(entry, ignored)) return std::nullopt;
  return entry;
}

fs::path Store::begin(std::string_view key) const {
  std::string name = (folder_ / (kTemporary + std::string(key) + ".XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    fail(ExitCode::environment, "write to the build store", folder_, std::strerror(errno));
  return name;
}

fs::path Store::commit(const fs::path& begun, std::string_view key) const {
  const fs::path entry = folder_ / key;
  std::error_code error;
  fs::rename(begun, entry, error);
  if (error && find(key))
    discard(begun);
  else if (error)
    fail(ExitCode::environment, "write to the build store", entry, error.message());
  return entry;
}

void Store::discard(const fs::path& begun) const {
  std::error_code ignored;
  fs::remove_all(begun, ignored);
}

void write_file(const fs::path& path, std::string_view text) {
  const std::string temporary = path.string() + ".tmp" + std::to_string(::getpid());
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  const bool written = file.write(text) && ::fsync(file.get()) == 0 && file.close();
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    fail(ExitCode::environment, "write", path, why);
  }
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(path))
    fail(ExitCode::bad_input, "read", path, fs::is_directory(path) ? "it is a folder" : std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tune
