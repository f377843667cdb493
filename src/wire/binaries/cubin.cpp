#include "wire/binaries/cubin.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "wire/binaries/elf_reader.h"

namespace tune::wire {
namespace {

constexpr std::string_view kInfo = ".nv.info.";
constexpr std::uint8_t kWithSize = 4;  // the format of an attribute whose value's size is told
constexpr std::uint8_t kParameter = 0x17, kMaxThreads = 0x05, kParameterBytes = 0x19;

struct Attribute {
  std::uint8_t format, name;
  std::uint16_t value;  ///< or the size of what follows
};

struct Parameter {
  std::uint32_t index;
  std::uint16_t ordinal, offset;
  std::uint32_t flags;  ///< the size in bytes from bit 18 on
};

struct Threads {
  std::uint32_t x, y, z;
};

CubinKernel kernel_of(std::string_view info) {
  CubinKernel kernel;
  std::size_t bytes = 0;  // of all parameters
  std::vector<std::pair<std::uint16_t, std::size_t>> parameters;
  for (std::size_t at = 0; at < info.size();) {
    const auto attribute = read_at<Attribute>(info, at);
    at += sizeof(attribute);
    if (attribute.name == kParameterBytes) bytes = attribute.value;
    if (attribute.format != kWithSize) continue;
    const std::string_view value = part_of(info, at, attribute.value);
    at += value.size();
    if (attribute.name == kParameter) {
      const auto parameter = read_at<Parameter>(value, 0);
      parameters.emplace_back(parameter.ordinal, parameter.flags >> 18);
    } else if (attribute.name == kMaxThreads) {
      const auto threads = read_at<Threads>(value, 0);
      kernel.max_threads = std::int64_t{threads.x} * threads.y * threads.z;
    }
  }
  if (parameters.empty() && bytes > 0) throw Malformed("a cubin that does not describe its parameters as known here");
  std::ranges::sort(parameters);
  for (const auto& [ordinal, size] : parameters) kernel.parameters.push_back(size);
  return kernel;
}

}  // namespace

std::map<std::string, CubinKernel> read_cubin(std::string_view elf) {
  std::map<std::string, CubinKernel> kernels;
  if (!elf.starts_with(ELFMAG)) throw Malformed("not a cubin");
  const auto head = read_at<Elf64_Ehdr>(elf, 0);
  const auto section = [&](std::size_t index) {
    return read_at<Elf64_Shdr>(elf, head.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = section(head.e_shstrndx);
  const std::string_view text = part_of(elf, names.sh_offset, names.sh_size);
  for (std::size_t i = 0; i < head.e_shnum; ++i) {
    const auto info = section(i);
    const std::string_view name = text.substr(std::min<std::size_t>(info.sh_name, text.size()));
    if (!name.starts_with(kInfo)) continue;
    const std::string_view kernel = name.substr(kInfo.size());
    kernels[std::string(kernel.substr(0, kernel.find('\0')))] = kernel_of(part_of(elf, info.sh_offset, info.sh_size));
  }
  return kernels;
}

}  // namespace tune::wire
