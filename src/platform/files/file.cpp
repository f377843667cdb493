#include "platform/files/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "model/values/error.h"
#include "model/values/names.h"

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t kLongestStream = 64 << 20;
constexpr std::size_t kChunk = 1 << 20;
constexpr const char* kUnfinished = ".tune-tmp";  // no file of a user ends so
constexpr int kNames = 100;

/// The last `parts` parts of a path.
fs::path end_of(const fs::path& path, std::ptrdiff_t parts) {
  fs::path end;
  auto part = std::next(path.begin(), std::max(std::distance(path.begin(), path.end()) - parts, std::ptrdiff_t{0}));
  for (; part != path.end(); ++part) end /= *part;
  return end;
}

std::string size_text(std::uintmax_t bytes) {
  return bytes >> 30 > 0 ? std::to_string(bytes >> 30) + " GiB" : std::to_string(bytes >> 20) + " MiB";
}

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISREG(mode) ? "" : "a device";
}

[[noreturn]] void fail_to_read(const fs::path& path, const std::string& why) {
  throw Error(ExitCode::bad_input, path.string() + ": cannot be read: " + why);
}

std::string why_not_opened(const fs::path& path, int error) {
  const std::string suffix = path.extension().string();
  fs::path nearest;
  if (error == ENOENT) nearest = nearest_file(path, std::array<std::string_view, 1>{suffix});
  if (error == ENOENT && nearest.empty() && suffix.empty())  // the PREFIX of a run's --output
    nearest = nearest_file(path, std::array<std::string_view, 1>{".yaml"});
  return std::strerror(error) + (nearest.empty() ? "" : ", did you mean '" + nearest.string() + "'?");
}

[[noreturn]] void fail_as_too_long(const fs::path& path, std::uintmax_t most) {
  fail_to_read(path, "it is longer than " + size_text(most) + ", the limit for such a file; give another one");
}

/// Waits for something to read, or for the last writer of a pipe to leave it. Returns false if neither happens.
bool ready(int fd, std::chrono::milliseconds patience) {
  pollfd waiting{fd, POLLIN, 0};
  int count = 0;
  do count = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  while (count < 0 && errno == EINTR);
  return count > 0;
}

/// Whether a file that nobody writes any more stood under this name, and is gone now. A living writer holds a lock.
bool removed_left_over(const std::string& name) {
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  const bool ours = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_uid == ::geteuid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  return ours && ::unlink(name.c_str()) == 0;
}

/// Creates and locks a new file next to `path`, and stores its name in `name`. Returns none and sets errno if that
/// fails.
Descriptor create_beside(const fs::path& path, std::string& name) {
  for (int i = 0; i < kNames; ++i) {
    name = path.string() + kUnfinished + (i > 0 ? std::to_string(i) : "");
    for (int attempt = 0; attempt < 2; ++attempt) {
      Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
      // Before it is locked, another writer may have taken it for left over; where no locks are, nobody does.
      if (file && (::flock(file.get(), LOCK_EX | LOCK_NB), leads_to(name, file))) return file;
      if (!file && errno != EEXIST) return file;
      if (!file && !removed_left_over(name)) break;
    }
  }
  errno = EEXIST;
  return Descriptor();
}

}  // namespace

std::vector<std::string> distinct_names(std::span<const fs::path> paths) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    const auto all = std::distance(path.begin(), path.end());
    std::ptrdiff_t parts = 1;
    const auto alike = [&](const fs::path& other) {
      return other != path && end_of(other, parts) == end_of(path, parts);
    };
    while (parts < all && std::ranges::any_of(paths, alike)) ++parts;
    names.push_back(end_of(path, parts).string());
  }
  return names;
}

std::string kind_of_file(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? kind_of(status.st_mode) : "";
}

bool is_yaml(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

fs::path nearest_file(const fs::path& path, std::span<const std::string_view> suffixes) {
  std::vector<fs::path> files;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != end(entry); entry.increment(error))
    if (std::error_code ignored; entry->is_regular_file(ignored) &&
                                 std::ranges::find(suffixes, entry->path().extension().string()) != suffixes.end())
      files.push_back(path.parent_path() / entry->path().filename());
  std::ranges::sort(files);
  std::vector<std::string> stems;
  for (const fs::path& file : files) stems.push_back(file.stem().string());
  const std::string nearest = nearest_name(path.stem().string(), stems);
  const auto found = std::ranges::find(stems, nearest);
  return nearest.empty() ? fs::path() : files[static_cast<std::size_t>(found - stems.begin())];
}

bool leads_to(const fs::path& path, const Descriptor& file) {
  struct stat here {
  }, there{};
  // Not the number of links: some file systems say that a folder has none.
  return ::lstat(path.c_str(), &here) == 0 && ::fstat(file.get(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

std::string read_file(const fs::path& path, std::uintmax_t most, std::chrono::milliseconds patience) {
  // A pipe without a writer would hold an ordinary open.
  return read_file(Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), path, most, patience);
}

std::string read_file(const Descriptor& file, const fs::path& path, std::uintmax_t most,
                      std::chrono::milliseconds patience) {
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) fail_to_read(path, why_not_opened(path, errno));
  if (S_ISDIR(status.st_mode)) fail_to_read(path, "it is a folder");
  const bool regular = S_ISREG(status.st_mode);
  if (!regular) most = std::min(most, kLongestStream);
  if (regular && static_cast<std::uintmax_t>(status.st_size) > most) fail_as_too_long(path, most);
  std::string text;
  // Files under /proc have no size.
  const std::size_t size = regular ? static_cast<std::size_t>(status.st_size) : 0;
  std::size_t room = size > 0 ? size + 1 : kChunk;
  for (bool ended = false, had_writer = false; !ended; room = kChunk) {
    const bool waited_in_vain = !regular && !ready(file.get(), patience);
    const std::size_t before = text.size();
    text.resize(before + room);
    ssize_t count = 0;
    do count = ::read(file.get(), text.data() + before, room);
    while (count < 0 && errno == EINTR);
    // While a program has a pipe open to write into it, however slowly, this is EAGAIN.
    if (count < 0 && errno != EAGAIN) fail_to_read(path, std::strerror(errno));
    had_writer = had_writer || count != 0;
    if (count == 0 && waited_in_vain && !had_writer)
      fail_to_read(path, "no program has opened this pipe to write into it; give a regular file, or start its writer");
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (text.size() > most) fail_as_too_long(path, most);
    ended = count == 0 || (size > 0 && text.size() == size);  // there was room for more
  }
  return text;
}

std::error_code make_folder_of(const fs::path& file) {
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  return error;
}

void write_file(const fs::path& path, std::string_view text) {
  const auto fail = [&](const std::string& why) {
    throw Error(ExitCode::environment,
                "cannot write " + path.string() + ": " + why + "; fix this, or choose another place");
  };
  if (const std::string kind = kind_of_file(path); !kind.empty()) fail("it is " + kind);
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) fail(error.message());
  std::string temporary;
  Descriptor file = create_beside(path, temporary);
  if (!file) fail(std::strerror(errno));
  // Renamed while it is locked, so that nobody takes it for left over.
  const bool written = file.write(text) && ::fsync(file.get()) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0;
  const std::string why = std::strerror(errno);
  if (!written) ::unlink(temporary.c_str());
  if (!written) fail(why);
  if (!file.close()) fail(std::strerror(errno));
}

// Some file systems count neither blocks nor files.
bool is_full(const fs::path& folder) {
  constexpr std::uintmax_t kSmall = 64 * 1024;
  struct statvfs system {};
  if (::statvfs(folder.c_str(), &system) != 0) return false;
  const bool privileged = ::geteuid() == 0;
  const std::uintmax_t blocks = privileged ? system.f_bfree : system.f_bavail;
  const std::uintmax_t files = privileged ? system.f_ffree : system.f_favail;
  return (system.f_blocks > 0 && blocks * system.f_frsize < kSmall) || (system.f_files > 0 && files == 0);
}

}  // namespace tune::platform
