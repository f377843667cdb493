#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/database.h"
#include "kokkos/region.h"
#include "platform/files/descriptor.h"

/// What is known of the regions of applications, in the database of results and in the file of turns beside it.
namespace tune::kokkos {

/// What the file of turns tells of one region.
struct RegionRecord {
  std::string description;
  std::vector<Turn> turns;
  bool decided = false;
  std::string nearest;  ///< the sizes whose values it began with; empty: none
};

/// `results.yaml.turns`
std::filesystem::path turns_file(const std::filesystem::path& database);
/// By region. A file that is not there has none; lines that cannot be read are left out.
std::map<std::string, RegionRecord> read_turns(const std::filesystem::path& database);

/// A known result for other sizes, and which.
struct NearResult {
  const database::TunedResult* result;
  std::string sizes;
};

/// Results of this process and of those before it. Several processes may have the same file: results are added while
/// the file is locked, and a line of the file of turns is written in one piece. Without a file it forgets.
class Results {
 public:
  /// Nothing is known, and nothing is kept.
  Results() = default;
  /// A file that may only be read is never written. Throws Error if it is no database, or cannot be created.
  explicit Results(const std::filesystem::path& database);

  const database::TunedResult* find(const database::ResultKey& key) const;
  /// That of the nearest sizes, none of which is larger or smaller by more than a factor of 4. Of the problem's texts
  /// those in `numbers` count as sizes, too.
  std::optional<NearResult> nearest(const database::ResultKey& key, const std::vector<std::string>& numbers) const;
  /// Keeps a result here, and in the file. Throws Error if that fails.
  void add(const database::ResultKey& key, const database::TunedResult& result);

  const RegionRecord* record(const std::string& region) const;
  void add_region(const std::string& region, const std::string& description, const std::string& nearest);
  void add_turn(const std::string& region, const Turn& turn);
  void add_decision(const std::string& region);

 private:
  void append(const std::string& line);

  std::filesystem::path path_;  ///< empty: there is no file
  database::Database database_;
  std::map<std::string, RegionRecord> records_;
  platform::Descriptor turns_;
};

}  // namespace tune::kokkos
