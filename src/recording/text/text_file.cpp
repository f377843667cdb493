#include "recording/text/text_file.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>

#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::recording {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::size_t kMostBytes = std::size_t{1} << 32;
// A few bytes can stand for gigabytes of the same. Recordings shrink to a tenth or a hundredth.
constexpr std::size_t kMostOfSmallFile = std::size_t{256} << 20, kMostTimesThePacked = 200;

constexpr const char* kCut = "the file ends within it";

enum class Packing { none, gzip, bzip2 };

Packing packing_of(std::istream& stream) {
  char start[3] = {};
  stream.read(start, sizeof start);
  if (std::memcmp(start, "\x1f\x8b", 2) == 0) return Packing::gzip;
  return std::memcmp(start, "BZh", 3) == 0 ? Packing::bzip2 : Packing::none;
}

/// How much a compressed file of this size may hold.
std::size_t most_of(std::size_t packed) {
  return std::min(kMostBytes, std::max(kMostOfSmallFile, packed * kMostTimesThePacked));
}

/// Room for another chunk behind the text.
char* grow(std::string& text, std::size_t most) {
  const std::size_t before = text.size();
  if (before > most)
    throw std::length_error(
        fmt::format("it unpacks to more than {} MiB, which no recording of its size does; if it is "
                    "one, unpack it first",
                    most >> 20));
  text.resize(before + kChunk);
  return text.data() + before;
}

[[noreturn]] void throw_damaged(std::int64_t offset, const std::string& why) {
  throw std::runtime_error(fmt::format("it is damaged before byte {}: {}; take another copy of it", offset, why));
}

std::string read_gzip(const fs::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error("not enough memory");
  const std::size_t most = most_of(fs::file_size(path));
  std::string text;
  for (;;) {
    char* into = grow(text, most);
    const int count = gzread(file.get(), into, kChunk);
    text.resize(text.size() - kChunk + static_cast<std::size_t>(std::max(count, 0)));
    if (count > 0) continue;
    // After a cut gzread delivers what stands before it, and then 0 as at the end.
    int code = Z_OK;
    const std::string_view why = gzerror(file.get(), &code);  // with the path in front
    if (count == 0 && code != Z_BUF_ERROR) return text;
    throw_damaged(gzoffset(file.get()),
                  code == Z_BUF_ERROR ? kCut : std::string(why.substr(std::min(why.size(), path.native().size() + 2))));
  }
}

const char* bzip2_error(int status) {
  if (status == BZ_DATA_ERROR_MAGIC) return "no bzip2 stream begins here";
  return status == BZ_MEM_ERROR ? "not enough memory" : "data error";
}

/// One stream of a file, of which parallel compressors write many; `size` is the file's.
void read_stream(bz_stream& stream, std::size_t size, std::string& text) {
  for (;;) {
    stream.next_out = grow(text, most_of(size));
    stream.avail_out = kChunk;
    const int status = BZ2_bzDecompress(&stream);
    text.resize(text.size() - stream.avail_out);
    if (status == BZ_STREAM_END) return;
    if (status != BZ_OK) throw_damaged(static_cast<std::int64_t>(size - stream.avail_in), bzip2_error(status));
    if (stream.avail_in == 0 && stream.avail_out > 0) throw_damaged(static_cast<std::int64_t>(size), kCut);
  }
}

std::string read_bzip2(const fs::path& path) {
  std::string packed = platform::read_file(path, kMostBytes - 1);
  std::string text;
  for (std::size_t begin = 0; begin < packed.size();) {
    bz_stream stream{};
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) throw std::runtime_error("not enough memory");
    const std::unique_ptr<bz_stream, int (*)(bz_stream*)> end(&stream, BZ2_bzDecompressEnd);
    stream.next_in = packed.data() + begin;
    stream.avail_in = static_cast<unsigned>(packed.size() - begin);
    read_stream(stream, packed.size(), text);
    begin = packed.size() - stream.avail_in;
  }
  return text;
}

}  // namespace

std::string read_text(const fs::path& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(ExitCode::bad_input, path.string() + ": cannot be read: " + why);
  };
  // It is opened twice, which a pipe cannot be.
  if (const std::string kind = platform::kind_of_file(path); !kind.empty())
    fail("it is " + kind + "; give a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return platform::read_file(path);  // which says why it cannot be read
  try {
    const Packing packing = packing_of(stream);
    if (packing == Packing::gzip) return read_gzip(path);
    return packing == Packing::bzip2 ? read_bzip2(path) : platform::read_file(path);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail("not enough memory");
  } catch (const std::exception& error) {
    fail(error.what());
  }
  return {};
}

bool is_compressed(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return packing_of(stream) != Packing::none;
}

}  // namespace tune::recording
