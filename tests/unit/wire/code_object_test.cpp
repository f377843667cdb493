#include "wire/binaries/code_object.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "wire/binaries/cubin.h"
#include "wire/messages.h"

namespace tune::wire::code_object_test {
namespace {

/// An ELF file with one segment of notes: one of another owner, then AMDGPU's with this description.
std::string elf(const std::string& description) {
  const auto bytes = [](const auto& object) {
    return std::string(reinterpret_cast<const char*>(&object), sizeof(object));
  };
  const auto padded = [](std::string text) { return text.append((4 - text.size() % 4) % 4, '\0'); };
  const auto note = [&](Elf64_Word type, const std::string& owner, const std::string& text) {
    const Elf64_Nhdr head{static_cast<Elf64_Word>(owner.size()), static_cast<Elf64_Word>(text.size()), type};
    return bytes(head) + padded(owner) + padded(text);
  };
  const std::string notes = note(1, {"GNU\0", 4}, "abcde") + note(32, {"AMDGPU\0", 7}, description);
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_phoff = sizeof(head);
  head.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(head) + sizeof(segment);
  segment.p_filesz = notes.size();
  return bytes(head) + bytes(segment) + notes;
}

/// {"amdhsa.kernels": [{".name": "k", ".vgpr_count": 300, ".vgpr_spill_count": 2, ".group_segment_fixed_size": 64,
///   ".args": [{".size": 8, ".value_kind": "global_buffer"}, {".size": 4, ".value_kind": "by_value"},
///             {".size": 4, ".value_kind": "hidden_block_count_x"}]}]}
const std::string kMetadata =
    "\x81\xae"
    "amdhsa.kernels\x91\x85\xa5.name\xa1k\xab.vgpr_count\xcd\x01\x2c\xb1.vgpr_spill_count\x02\xb9"
    ".group_segment_fixed_size\x40\xa5.args\x93\x82\xa5.size\x08\xab.value_kind\xadglobal_buffer\x82\xa5.size\x04"
    "\xab.value_kind\xa8"
    "by_value\x82\xa5.size\x04\xab.value_kind\xb4hidden_block_count_x";

TEST(CodeObject, TellsWhatItsKernelsNeed) {
  const auto kernels = read_code_object(elf(kMetadata));
  ASSERT_EQ(kernels.size(), 1u);
  const CodeObjectKernel& kernel = kernels.at("k");
  EXPECT_EQ(kernel.vector_registers, 300);
  EXPECT_EQ(kernel.spilled_registers, 2);
  EXPECT_EQ(kernel.shared, 64);
  EXPECT_EQ(kernel.parameters, (std::vector<std::size_t>{8, 4}));
  EXPECT_EQ(kernel.addresses, (std::vector<bool>{true, false}));
}

TEST(CodeObject, WithoutTheNoteThereAreNoKernels) {
  std::string other = elf(kMetadata);
  other.replace(other.find("AMDGPU"), 6, "NVIDIA");
  EXPECT_TRUE(read_code_object(other).empty());
}

TEST(CodeObject, EveryTruncationIsRefused) {
  const std::string whole = elf(kMetadata);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(read_code_object(whole.substr(0, size)), Malformed) << size;
}

TEST(CodeObject, OtherMetadataIsRefused) {
  EXPECT_THROW(read_code_object(elf("\x80")), Malformed);
  EXPECT_THROW(read_code_object(elf("\xc1 no MessagePack")), Malformed);
}

/// A cubin with one section of names and the section .nv.info.k with this text.
std::string cubin(const std::string& info) {
  const auto bytes = [](const auto& object) {
    return std::string(reinterpret_cast<const char*>(&object), sizeof(object));
  };
  const std::string names("\0.nv.info.k\0", 12);
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_shoff = sizeof(head) + names.size() + info.size();
  head.e_shnum = 2;
  Elf64_Shdr of_names{}, of_info{};
  of_names.sh_offset = sizeof(head);
  of_names.sh_size = names.size();
  of_info.sh_name = 1;
  of_info.sh_offset = sizeof(head) + names.size();
  of_info.sh_size = info.size();
  return bytes(head) + names + info + bytes(of_names) + bytes(of_info);
}

// As NVRTC 13.0 writes it for k(float*, short) with __launch_bounds__(128), the last parameter first.
const std::string kInfo(
    "\x04\x17\x0c\0\0\0\0\0\x01\0\x08\0\0\xf0\x09\0"
    "\x04\x17\x0c\0\0\0\0\0\0\0\0\0\0\xf0\x21\0"
    "\x03\x1b\xff\0"
    "\x04\x05\x0c\0\x80\0\0\0\x01\0\0\0\x01\0\0\0"
    "\x03\x19\x0a\0",
    56);

TEST(Cubin, TellsTheParametersOfItsKernels) {
  const auto kernels = read_cubin(cubin(kInfo));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels.at("k").parameters, (std::vector<std::size_t>{8, 2}));
  EXPECT_EQ(kernels.at("k").max_threads, 128);
}

TEST(Cubin, ThatDescribesItsParametersInAnotherWayIsRefused) {
  EXPECT_THROW(read_cubin(cubin(std::string("\x03\x19\x0a\0", 4))), Malformed);
  EXPECT_TRUE(read_cubin(cubin(std::string("\x03\x19\0\0", 4))).at("k").parameters.empty());
}

TEST(Cubin, EveryTruncationIsRefused) {
  const std::string whole = cubin(kInfo);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(read_cubin(whole.substr(0, size)), Malformed) << size;
}

}  // namespace
}  // namespace tune::wire::code_object_test
