#include "wire/binaries/code_object.h"

#include <elf.h>

#include <optional>

#include "wire/binaries/elf_reader.h"

namespace tune::wire {
namespace {

constexpr std::uint32_t kMetadata = 32;  // NT_AMDGPU_METADATA
constexpr std::string_view kOwner = std::string_view("AMDGPU\0", 7);

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

std::optional<std::string_view> metadata_in(std::string_view notes) {
  for (std::size_t at = 0; at < notes.size();) {
    const auto head = read_at<Elf64_Nhdr>(notes, at);
    const std::size_t name = at + sizeof(head), text = name + padded(head.n_namesz), end = text + head.n_descsz;
    if (end > notes.size()) throw Malformed("a code object with a note that is cut off");
    if (head.n_type == kMetadata && notes.substr(name, head.n_namesz) == kOwner)
      return notes.substr(text, head.n_descsz);
    at = text + padded(head.n_descsz);
  }
  return std::nullopt;
}

std::optional<std::string_view> metadata_of(std::string_view elf) {
  const auto head = read_at<Elf64_Ehdr>(elf, 0);
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(elf, head.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_NOTE) continue;
    if (const auto found = metadata_in(part_of(elf, segment.p_offset, segment.p_filesz))) return found;
  }
  return std::nullopt;
}

CodeObjectKernel kernel_of(const nlohmann::json& entry) {
  CodeObjectKernel kernel;
  kernel.vector_registers = entry.value(".vgpr_count", 0);
  kernel.spilled_registers = entry.value(".vgpr_spill_count", 0);
  kernel.shared = entry.value(".group_segment_fixed_size", 0);
  kernel.max_threads = entry.value(".max_flat_workgroup_size", 0);
  for (const auto& arg : entry.value(".args", nlohmann::json::array())) {
    const auto kind = arg.at(".value_kind").get<std::string>();
    if (kind.starts_with("hidden_")) continue;
    kernel.parameters.push_back(arg.at(".size").get<std::size_t>());
    kernel.addresses.push_back(kind == "global_buffer");
  }
  return kernel;
}

}  // namespace

std::map<std::string, CodeObjectKernel> read_code_object(std::string_view elf) try {
  std::map<std::string, CodeObjectKernel> kernels;
  if (!elf.starts_with(ELFMAG)) throw Malformed("not a code object");
  const auto metadata = metadata_of(elf);
  if (!metadata) return kernels;
  const auto document = nlohmann::json::from_msgpack(*metadata);
  for (const auto& entry : document.at("amdhsa.kernels"))
    kernels[entry.at(".name").get<std::string>()] = kernel_of(entry);
  return kernels;
} catch (const nlohmann::json::exception& error) {
  throw Malformed(std::string("a code object's metadata: ") + fault_of(error));
}

}  // namespace tune::wire
