#pragma once
#include <cstddef>
#include <cstring>
#include <string_view>

#include "wire/json.h"

namespace tune::wire {

/// A structure that starts at this byte of an ELF file. Throws Malformed behind its end.
template <typename T>
T read_at(std::string_view elf, std::size_t offset) {
  if (offset > elf.size() || sizeof(T) > elf.size() - offset) throw Malformed("a code object that is cut off");
  T value{};
  std::memcpy(&value, elf.data() + offset, sizeof(T));
  return value;
}

/// The bytes of a part of it. Throws Malformed behind its end.
inline std::string_view part_of(std::string_view elf, std::size_t offset, std::size_t size) {
  if (offset > elf.size() || size > elf.size() - offset) throw Malformed("a code object that is cut off");
  return elf.substr(offset, size);
}

}  // namespace tune::wire
