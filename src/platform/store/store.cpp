#include "platform/store/store.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "model/values/error.h"
#include "platform/files/descriptor.h"

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

constexpr const char* kElsewhere = "; fix this, or choose another store by --store DIR";

[[noreturn]] void fail(ExitCode code, const std::string& doing, const fs::path& path, const std::string& why) {
  throw Error(code, "cannot " + doing + " " + path.string() + ": " + why + kElsewhere);
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
constexpr const char* kDistrust =
    ": whoever can write to the build store decides which code runs; give it to yourself alone (chown, chmod go-w), "
    "set XDG_CACHE_HOME to a folder of your own, or name a store that you share with people whom you trust by --store "
    "DIR";

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

/// The folder, or the one above it that is there.
fs::path nearest_there(fs::path folder) {
  std::error_code ignored;
  folder = fs::absolute(folder);
  while (folder.has_relative_path() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  return folder;
}

// As XDG's specification says: folders that are not there yet are the user's alone.
void make_folders(const fs::path& folder) {
  fs::path at;
  for (const fs::path& part : folder) {
    at /= part;
    if (::mkdir(at.c_str(), S_IRWXU) != 0 && errno != EEXIST && ::access(at.c_str(), F_OK) != 0)
      fail(ExitCode::environment, "create the build store", folder, std::strerror(errno));
  }
}

/// Whether it is the name of a folder that a build is made in: `tmp.`, the 32 digits of a key, and a number.
bool is_name_of_build(const std::string& name) {
  const std::string_view key = std::string_view(name).substr(std::string_view(kTemporary).size());
  return key.size() > 33 && key[32] == '.' && key.find_first_not_of("0123456789abcdef") == 32;
}

// A store that is named is for others too, whatever the umask. Nothing behind a link is changed.
void let_others_read(const fs::path& folder) {
  const auto add = [](const fs::path& path, mode_t bits) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || S_ISLNK(status.st_mode)) return;
    if (S_ISDIR(status.st_mode) || (status.st_mode & S_IXUSR) != 0) bits |= S_IXUSR | S_IXGRP | S_IXOTH;
    ::chmod(path.c_str(), (status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) | bits);
  };
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end; file.increment(error))
    add(file->path(), S_IRUSR | S_IRGRP | S_IROTH);
  // Last, so that nobody sees the files before.
  add(folder, S_IRUSR | S_IRGRP | S_IROTH);
}

/// Whether this is a folder, and not a link to one.
bool is_folder(const fs::path& path, struct stat& status) {
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Store::Store(StorePlaces places) : places_(std::move(places)) {
  fs::path& folder = places_.folder;
  if (folder.empty())
    throw Error(
        ExitCode::environment,
        "there is no folder for the build store: HOME is not set and this user has no home; set XDG_CACHE_HOME, "
        "or name one by --store DIR");
  if (!places_.base.empty() && kind_of_file(places_.base) != "a folder")
    throw Error(ExitCode::bad_input, "the base store " + places_.base.string() + " is no folder; give one that is");
  // Nothing is made in a folder of another user, whom it would be in the way of: root may have any user's HOME.
  if (!places_.named) Trust(kDistrust).walk_to(nearest_there(folder));
  make_folders(folder);
  // What a link on the way points to may change later.
  folder = places_.named ? fs::canonical(folder) : trust_.emplace(kDistrust).walk_to(folder);
  if (::access(folder.c_str(), W_OK) != 0)
    fail(ExitCode::environment, "write to the build store", folder, std::strerror(errno));
  LockedFolder::remove_abandoned(folder, kTemporary, is_name_of_build);
}

std::vector<fs::path> Store::find(std::string_view key) const {
  std::vector<fs::path> entries;
  for (const fs::path& store : {places_.folder, places_.base}) {
    struct stat status {};
    if (!store.empty() && is_folder(store / key, status)) entries.push_back(store / key);
  }
  return entries;
}

void Store::note_use(const fs::path& entry) const {
  if (entry.parent_path() == places_.folder) ::utimensat(AT_FDCWD, entry.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::string Store::read(const fs::path& entry, const std::string& name) const {
  const fs::path path = entry / name;
  struct stat status {};
  if (!is_plain_name(name)) fail(ExitCode::bad_input, "read", path, "it is not in the entry's folder");
  std::optional<Trust> trust = entry.parent_path() == places_.folder ? trust_ : std::nullopt;
  if (!is_folder(entry, status)) fail(ExitCode::bad_input, "read", entry, "it is no folder");
  if (trust) trust->step_to(entry, status);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &status) != 0) fail(ExitCode::bad_input, "read", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(ExitCode::bad_input, "read", path, "it is no regular file");
  if (trust) trust->step_to(path, status);
  return read_file(file, path);
}

LockedFolder Store::begin(std::string_view key) const {
  return {places_.folder, kTemporary + std::string(key) + ".", kElsewhere};
}

fs::path Store::commit(const fs::path& begun, std::string_view key) const {
  const fs::path entry = places_.folder / key;
  std::error_code error, ignored;
  if (places_.named) let_others_read(begun);
  do {
    fs::rename(begun, entry, error);
    if (!error || fs::is_directory(entry, ignored)) return entry;
  } while (error == std::errc::directory_not_empty || error == std::errc::file_exists);  // and was removed since
  fail(ExitCode::environment, "write to the build store", entry, error.message());
}

void Store::discard(const fs::path& begun) const {
  std::error_code ignored;
  if (begun.parent_path() == places_.folder) fs::remove_all(begun, ignored);
}

}  // namespace tune::platform
