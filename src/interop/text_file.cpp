#include "interop/text_file.h"

#include <bzlib.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::size_t kMostBytes = std::size_t{1} << 32;

// Appends what `read` (into a buffer, returning how many bytes, 0 at the end) delivers.
template <class Read>
std::string collect(Read read) {
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    if (before > kMostBytes) throw std::length_error("more than 4 GiB");
    text.resize(before + kChunk);
    const int count = read(text.data() + before);
    text.resize(before + static_cast<std::size_t>(std::max(count, 0)));
    if (count <= 0) return text;
  }
}

// gzread delivers all that precedes a cut or a damaged block, then an error.
std::string read_gzip(const fs::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error("not enough memory");
  return collect([&](char* into) { return gzread(file.get(), into, kChunk); });
}

std::string read_bzip2(const fs::path& path) {
  const std::unique_ptr<void, void (*)(void*)> file(BZ2_bzopen(path.c_str(), "rb"), BZ2_bzclose);
  if (!file) throw std::runtime_error("not enough memory");
  return collect([&](char* into) { return BZ2_bzread(file.get(), into, kChunk); });
}

std::string read_plain(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::string read_text(const fs::path& path) {
  const auto fail = [&](const char* why) {
    throw Error(ExitCode::bad_input, path.string() + ": cannot be read: " + why);
  };
  if (fs::is_directory(path)) fail("is a folder");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(std::strerror(errno));
  char start[3] = {};
  stream.read(start, sizeof start);
  try {
    if (std::memcmp(start, "\x1f\x8b", 2) == 0) return read_gzip(path);
    return std::memcmp(start, "BZh", 3) == 0 ? read_bzip2(path) : read_plain(path);
  } catch (const std::exception& error) {
    fail(error.what());
  }
  return {};
}

}  // namespace tune
