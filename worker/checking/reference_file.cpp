#include "checking/reference_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "backend.h"
#include "platform/files/descriptor.h"
#include "platform/store/store.h"

namespace tune::worker {
namespace {

constexpr std::array<char, 8> kMagic = {'T', 'U', 'N', 'E', 'R', 'E', 'F', '1'};

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t count = 0;
  std::array<char, 32> identity{};
  std::array<char, 32> checksum{};
};
static_assert(sizeof(Header) % alignof(double) == 0);

std::string_view text(std::span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::array<char, 32> digits(const std::string& hex) {
  std::array<char, 32> result{};
  std::memcpy(result.data(), hex.data(), std::min(hex.size(), result.size()));
  return result;
}

/// `y[7]`: a value of the outputs, which stand one after the other.
std::string name_of_output(const Custom& custom, std::int64_t index) {
  for (const Buffer& buffer : custom.buffers) {
    if (buffer.role == Buffer::Role::in) continue;
    if (index < buffer.count) return fmt::format("{}[{}]", buffer.name, index);
    index -= buffer.count;
  }
  return fmt::format("value {} of its outputs", index);
}

void require_finite(std::span<const double> values, const Problem& problem) {
  const auto odd = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (odd == values.end()) return;
  const std::int64_t index = odd - values.begin();
  const auto* custom = std::get_if<Custom>(&problem);
  if (custom == nullptr) refuse_infinite(*odd, index);
  throw SpecFailure(
      Stage::start,
      fmt::format("it has {} as {}, and no result can be compared with that; it must write all of its "
                  "outputs, read no more than its buffers have, and get inputs (init, scale) that give numbers",
                  *odd, name_of_output(*custom, index)));
}

}  // namespace

void refuse_infinite(double value, std::int64_t index) {
  throw SpecFailure(Stage::start, fmt::format("the reference has {} as value {} of C, and no result can be compared "
                                              "with that; other inputs (init, alpha, beta) give numbers",
                                              value, index));
}

std::string reference_identity(const Problem& problem, std::uint64_t seed) {
  wire::ReferenceRequest request;
  request.problem = problem;
  request.seed = seed;
  return platform::Hash().add(wire::encode(wire::Request(request))).hex();
}

void write_reference(const std::filesystem::path& path, const Problem& problem, const std::string& identity,
                     std::span<const double> values) {
  require_finite(values, problem);
  Header header;
  header.count = values.size();
  header.identity = digits(identity);
  header.checksum = digits(platform::Hash().add(text(values)).hex());
  const std::string temporary = fmt::format("{}.tmp{}", path.string(), ::getpid());
  platform::Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const std::string_view head(reinterpret_cast<const char*>(&header), sizeof header);
  const bool written = file.write(head) && file.write(text(values)) && file.close();
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  ::unlink(temporary.c_str());
  throw SpecFailure(Stage::start,
                    fmt::format("cannot write the reference {}: {}", path.string(), std::strerror(error)));
}

ReferenceFile::ReferenceFile(const std::filesystem::path& path, const std::string& identity) : ReferenceFile() {
  const auto refuse = [&path](const char* why) {
    throw SpecFailure(Stage::load, fmt::format("cannot use the reference {}: {}", path.string(), why));
  };
  const platform::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) refuse(std::strerror(errno));
  if (static_cast<std::size_t>(status.st_size) < sizeof(Header)) refuse("it is cut short");
  mapped_ = static_cast<std::size_t>(status.st_size);
  void* mapping = ::mmap(nullptr, mapped_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapping == MAP_FAILED) refuse(std::strerror(errno));
  mapping_ = mapping;
  const auto& header = *static_cast<const Header*>(mapping_);
  if (header.magic != kMagic) refuse("it is no reference file of this version");
  if (mapped_ != sizeof(Header) + header.count * sizeof(double)) refuse("it is cut short");
  if (header.identity != digits(identity)) refuse("it belongs to another problem or seed");
  if (header.checksum != digits(platform::Hash().add(text(values())).hex())) refuse("its checksum is wrong");
}

ReferenceFile::~ReferenceFile() {
  if (mapping_) ::munmap(mapping_, mapped_);
}

std::span<const double> ReferenceFile::values() const {
  const auto* header = static_cast<const Header*>(mapping_);
  return {reinterpret_cast<const double*>(header + 1), header->count};
}

}  // namespace tune::worker
