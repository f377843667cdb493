#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/files/file.h"
#include "platform/files/locked_folder.h"
#include "platform/files/path_trust.h"

namespace tune::platform {

/// 128-bit hash in 32 hex digits (XXH3). The parts are hashed with their lengths, so that ("ab","c") != ("a","bc").
class Hash {
 public:
  Hash();
  ~Hash();
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  Hash& add(std::string_view part);
  std::string hex() const;

 private:
  void* state_;
};

/// Hash of a file's bytes. Throws Error(environment) if it cannot be read.
std::string hash_file(const std::filesystem::path& path);

/// Where build artifacts lie.
struct StorePlaces {
  std::filesystem::path folder;
  bool named = false;          ///< the user chose it, and trusts all who can write to it; if not, nobody else may
  std::filesystem::path base;  ///< another store, only read, and trusted like a named one; empty: none
  std::int64_t limit = 0;      ///< bytes that it may hold, see trim; 0: no limit
};

/// Build artifacts by key: one folder per key, made under a temporary name and renamed, never changed afterwards.
class Store {
 public:
  /// Makes the folder, and removes what killed builds left there. Throws Error(environment) if it cannot be written, or
  /// if it is not `named` and others can write to it.
  explicit Store(StorePlaces places);

  /// The folders of this key's entries, the own store's before the base store's.
  std::vector<std::filesystem::path> find(std::string_view key) const;
  const std::filesystem::path& folder() const { return places_.folder; }
  /// Notes that an entry is used now, if it is in the own store: those that were not used for longest leave it first.
  void note_use(const std::filesystem::path& entry) const;
  /// The bytes of an entry's file `name`. Throws Error(bad_input) if it cannot be read or is not a regular file in the
  /// entry's own folder, and Error(environment) if another user can change it.
  std::string read(const std::filesystem::path& entry, const std::string& name) const;
  /// An empty temporary folder in the store, to build into. It is removed by a later run if this one is killed.
  LockedFolder begin(std::string_view key) const;
  /// Makes what was built under `begin` the entry of `key` and returns its folder. If another process was first, its
  /// entry stands, and what was built stays where it is, to be discarded.
  std::filesystem::path commit(const std::filesystem::path& begun, std::string_view key) const;
  /// Removes a temporary folder of a build that failed, or an entry that is damaged; nothing of the base store.
  void discard(const std::filesystem::path& begun) const;

 private:
  StorePlaces places_;
  std::optional<Trust> trust_;  ///< of the own store, unless it is named
};

}  // namespace tune::platform
