#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tune::platform {

/// Identifies the state of a regular file: one that is written or replaced has another stamp. All 0: there is none.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t bytes = 0, seconds = 0, nanoseconds = 0;  ///< the times are those of the last change
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::filesystem::path& path);

/// Files that something is made from, and places without a file that would count if there was one: tells whether they
/// still are what they were.
class WatchedFiles {
 public:
  /// What happened to a file: it was written with the content that it had, or with another one, or it is new.
  enum class Event { rewritten, changed, appeared };
  struct Change {
    std::filesystem::path file;
    Event event;
  };

  /// The text of a file, which is watched from now on. Throws Error(bad_input) if it cannot be read.
  std::string read(const std::filesystem::path& file);
  /// Tells the content of a file from others, and watches it: a hash, or of a file above 64 MiB size and time. Throws
  /// as `read`.
  std::string identity(const std::filesystem::path& file);
  /// Whether there is a regular file. If there is none, the place is watched.
  bool finds(const std::filesystem::path& file);
  /// Watches what the other does.
  void add(const WatchedFiles& other);
  /// With those where there is none.
  std::vector<std::filesystem::path> paths() const;

  /// What happened since the last call, or since the files were read: of several changes one of the worst.
  std::optional<Change> change();

 private:
  struct State {
    FileStamp stamp;
    std::string identity;  ///< of the content; empty: there is no file
  };
  std::map<std::filesystem::path, State> states_;
};

}  // namespace tune::platform
