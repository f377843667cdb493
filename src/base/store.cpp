#include "base/store.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/descriptor.h"
#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(ExitCode code, const std::string& doing, const fs::path& path, const std::string& why) {
  throw Error(code, "cannot " + doing + " " + path.string() + ": " + why);
}

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
