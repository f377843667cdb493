#include "kokkos/results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "database/database_file.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "platform/files/file.h"
#include "platform/files/shared_file.h"

namespace tune::kokkos {
namespace {

constexpr double kFarthest = 4;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

void read_line(const std::string& line, std::map<std::string, RegionRecord>& records) {
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() < 2) return;
  if (fields[0] == "region" && fields.size() == 4) {
    records[fields[1]].description = fields[2];
    records[fields[1]].nearest = fields[3];
  } else if (fields[0] == "turn" && fields.size() == 5) {
    const auto round = number_from<int>(fields[3]);
    const auto cost = number_from<double>(fields[4]);
    if (round && cost && *round >= 0) records[fields[1]].turns.push_back({fields[2], *round, *cost});
  } else if (fields[0] == "decided") {
    records[fields[1]].decided = true;
  }
}

/// The sizes of a key, with those that the problem has as texts; nullopt if one of these is no number.
std::optional<std::map<std::string, double>> numbers_of(const database::ResultKey& key,
                                                        const std::vector<std::string>& names) {
  std::map<std::string, double> numbers;
  for (const auto& [name, size] : key.sizes) numbers[name] = static_cast<double>(size);
  for (const std::string& name : names) {
    const auto text = key.group.problem.find(name);
    const auto number = text == key.group.problem.end() ? std::nullopt : number_from<double>(text->second);
    if (!number) return std::nullopt;
    numbers[name] = *number;
  }
  return numbers;
}

database::ResultGroup without(database::ResultGroup group, const std::vector<std::string>& names) {
  for (const std::string& name : names) group.problem.erase(name);
  return group;
}

/// The logarithm of the ratio; infinite if it is too large, or the signs differ.
double distance(double x, double y) {
  if (x == y) return 0;
  if (!(x * y > 0)) return INFINITY;
  const double log = std::abs(std::log(x / y));
  return log <= std::log(kFarthest) ? log : INFINITY;
}

double distance(const std::map<std::string, double>& x, const std::map<std::string, double>& y) {
  double sum = 0;
  for (const auto& [name, number] : x) {
    const auto other = y.find(name);
    if (other == y.end()) return INFINITY;
    sum += std::pow(distance(number, other->second), 2);
  }
  return x.size() == y.size() ? sum : INFINITY;
}

std::string text_of(const std::map<std::string, double>& numbers) {
  std::string text;
  for (const auto& [name, number] : numbers) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, number);
  return text;
}

}  // namespace

std::filesystem::path turns_file(const std::filesystem::path& database) { return database.string() + ".turns"; }

std::map<std::string, RegionRecord> read_turns(const std::filesystem::path& database) {
  std::map<std::string, RegionRecord> records;
  const std::filesystem::path file = turns_file(database);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return records;
  const std::string text = platform::read_file(file);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; begin = end + 1, end = text.find('\n', begin))
    read_line(text.substr(begin, end - begin), records);
  return records;
}

Results::Results(const std::filesystem::path& database) : path_(std::filesystem::absolute(database)) {
  if (::access(path_.c_str(), F_OK) == 0 && ::access(path_.c_str(), W_OK) != 0) {
    database_ = database::read_database(path_);
    path_.clear();
    return;
  }
  database_ = database::parse_database(platform::SharedFile(path_).read(), path_.string());
  records_ = read_turns(path_);
  turns_ = platform::Descriptor(::open(turns_file(path_).c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!turns_)
    throw Error(ExitCode::environment,
                fmt::format("cannot write {}: {}", turns_file(path_).string(), std::strerror(errno)));
  char last = '\n';
  const off_t size = ::lseek(turns_.get(), 0, SEEK_END);
  if (size > 0 && ::pread(turns_.get(), &last, 1, size - 1) == 1 && last != '\n') append("");  // of a killed process
}

const database::TunedResult* Results::find(const database::ResultKey& key) const {
  const auto found = database_.results.find(key);
  return found == database_.results.end() ? nullptr : &found->second;
}

std::optional<NearResult> Results::nearest(const database::ResultKey& key,
                                           const std::vector<std::string>& numbers) const {
  const auto wanted = numbers_of(key, numbers);
  const database::ResultGroup group = without(key.group, numbers);
  std::optional<NearResult> nearest;
  double least = INFINITY;
  if (!wanted || wanted->empty()) return nearest;
  for (const auto& [other, result] : database_.results) {
    if (without(other.group, numbers) != group) continue;
    const auto has = numbers_of(other, numbers);
    if (!has || !(distance(*wanted, *has) < least)) continue;
    least = distance(*wanted, *has);
    nearest = NearResult{&result, text_of(*has)};
  }
  return nearest;
}

void Results::add(const database::ResultKey& key, const database::TunedResult& result) {
  database::add_result(database_, key, result);
  if (path_.empty()) return;
  platform::SharedFile file(path_);
  database::Database there = database::parse_database(file.read(), path_.string());
  database::add_result(there, key, result);
  file.write(database::write_database(there));
}

const RegionRecord* Results::record(const std::string& region) const {
  const auto found = records_.find(region);
  return found == records_.end() ? nullptr : &found->second;
}

void Results::add_region(const std::string& region, const std::string& description, const std::string& nearest) {
  append(fmt::format("region\t{}\t{}\t{}", region, line_with_escapes(description), line_with_escapes(nearest)));
}

void Results::add_turn(const std::string& region, const Turn& turn) {
  append(fmt::format("turn\t{}\t{}\t{}\t{}", region, turn.configuration, turn.round, turn.cost));
}

void Results::add_decision(const std::string& region) { append("decided\t" + region); }

void Results::append(const std::string& line) {
  if (turns_) turns_.write(line + "\n");
}

}  // namespace tune::kokkos
