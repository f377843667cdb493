// The products of a warpgroup: 64 rows times BN columns, by wgmma, which reads both operands from shared memory and
// adds to sums in registers. BN is a multiple of 8 up to 256.
//
// An operand lies in shared memory as the TMA writes it with a swizzle of 128 bytes: its rows have 128 bytes of k each,
// one behind the other. One instruction takes 32 bytes of k, which are 16 elements of bf16 or f16, or 32 of e4m3.
#pragma once
#include "tiles.cuh"

#if type_a_e4m3
#define SHAPE_K "k32.f32.e4m3.e4m3"
#define READ_ALONG_K ""  // there is no other way
#elif type_a_f16
#define SHAPE_K "k16.f32.f16.f16"
#define READ_ALONG_K ", 0, 0"
#else
#define SHAPE_K "k16.f32.bf16.bf16"
#define READ_ALONG_K ", 0, 0"
#endif

// The registers of an wgmma have to be listed, four for eight columns. The operands come first, so that their numbers
// do not depend on BN.
#define REGISTERS_8 "%3,%4,%5,%6"
#define REGISTERS_16 REGISTERS_8 ",%7,%8,%9,%10"
#define REGISTERS_24 REGISTERS_16 ",%11,%12,%13,%14"
#define REGISTERS_32 REGISTERS_24 ",%15,%16,%17,%18"
#define REGISTERS_40 REGISTERS_32 ",%19,%20,%21,%22"
#define REGISTERS_48 REGISTERS_40 ",%23,%24,%25,%26"
#define REGISTERS_56 REGISTERS_48 ",%27,%28,%29,%30"
#define REGISTERS_64 REGISTERS_56 ",%31,%32,%33,%34"
#define REGISTERS_72 REGISTERS_64 ",%35,%36,%37,%38"
#define REGISTERS_80 REGISTERS_72 ",%39,%40,%41,%42"
#define REGISTERS_88 REGISTERS_80 ",%43,%44,%45,%46"
#define REGISTERS_96 REGISTERS_88 ",%47,%48,%49,%50"
#define REGISTERS_104 REGISTERS_96 ",%51,%52,%53,%54"
#define REGISTERS_112 REGISTERS_104 ",%55,%56,%57,%58"
#define REGISTERS_120 REGISTERS_112 ",%59,%60,%61,%62"
#define REGISTERS_128 REGISTERS_120 ",%63,%64,%65,%66"
#define REGISTERS_136 REGISTERS_128 ",%67,%68,%69,%70"
#define REGISTERS_144 REGISTERS_136 ",%71,%72,%73,%74"
#define REGISTERS_152 REGISTERS_144 ",%75,%76,%77,%78"
#define REGISTERS_160 REGISTERS_152 ",%79,%80,%81,%82"
#define REGISTERS_168 REGISTERS_160 ",%83,%84,%85,%86"
#define REGISTERS_176 REGISTERS_168 ",%87,%88,%89,%90"
#define REGISTERS_184 REGISTERS_176 ",%91,%92,%93,%94"
#define REGISTERS_192 REGISTERS_184 ",%95,%96,%97,%98"
#define REGISTERS_200 REGISTERS_192 ",%99,%100,%101,%102"
#define REGISTERS_208 REGISTERS_200 ",%103,%104,%105,%106"
#define REGISTERS_216 REGISTERS_208 ",%107,%108,%109,%110"
#define REGISTERS_224 REGISTERS_216 ",%111,%112,%113,%114"
#define REGISTERS_232 REGISTERS_224 ",%115,%116,%117,%118"
#define REGISTERS_240 REGISTERS_232 ",%119,%120,%121,%122"
#define REGISTERS_248 REGISTERS_240 ",%123,%124,%125,%126"
#define REGISTERS_256 REGISTERS_248 ",%127,%128,%129,%130"
#define SUMS(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define SUMS_8 SUMS(0)
#define SUMS_16 SUMS_8, SUMS(1)
#define SUMS_24 SUMS_16, SUMS(2)
#define SUMS_32 SUMS_24, SUMS(3)
#define SUMS_40 SUMS_32, SUMS(4)
#define SUMS_48 SUMS_40, SUMS(5)
#define SUMS_56 SUMS_48, SUMS(6)
#define SUMS_64 SUMS_56, SUMS(7)
#define SUMS_72 SUMS_64, SUMS(8)
#define SUMS_80 SUMS_72, SUMS(9)
#define SUMS_88 SUMS_80, SUMS(10)
#define SUMS_96 SUMS_88, SUMS(11)
#define SUMS_104 SUMS_96, SUMS(12)
#define SUMS_112 SUMS_104, SUMS(13)
#define SUMS_120 SUMS_112, SUMS(14)
#define SUMS_128 SUMS_120, SUMS(15)
#define SUMS_136 SUMS_128, SUMS(16)
#define SUMS_144 SUMS_136, SUMS(17)
#define SUMS_152 SUMS_144, SUMS(18)
#define SUMS_160 SUMS_152, SUMS(19)
#define SUMS_168 SUMS_160, SUMS(20)
#define SUMS_176 SUMS_168, SUMS(21)
#define SUMS_184 SUMS_176, SUMS(22)
#define SUMS_192 SUMS_184, SUMS(23)
#define SUMS_200 SUMS_192, SUMS(24)
#define SUMS_208 SUMS_200, SUMS(25)
#define SUMS_216 SUMS_208, SUMS(26)
#define SUMS_224 SUMS_216, SUMS(27)
#define SUMS_232 SUMS_224, SUMS(28)
#define SUMS_240 SUMS_232, SUMS(29)
#define SUMS_248 SUMS_240, SUMS(30)
#define SUMS_256 SUMS_248, SUMS(31)
#define JOIN(x, y) x##y
#define OF(list, columns) JOIN(list, columns)
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

namespace {

/// Describes rows of 128 bytes from `address` on to wgmma: 1024 bytes from eight rows to the next, 128-byte swizzle.
__device__ __forceinline__ unsigned long long describe(unsigned address) {
  return (address & 0x3ffff) >> 4 | 1ULL << 16 | 1024ULL >> 4 << 32 | 1ULL << 62;
}

/// Describes the place so many bytes further, a multiple of 16.
__device__ __forceinline__ unsigned long long moved(unsigned long long description, unsigned bytes) {
  return (description & ~0xffffffffULL) | (static_cast<unsigned>(description) + (bytes >> 4));
}

/// Starts d = a * b, or d += a * b, for 64 rows, BN columns and 32 bytes of k.
__device__ __forceinline__ void multiply_async(unsigned long long a, unsigned long long b, bool add, Sums<BN / 8>& d) {
  int adds = add;
  asm volatile(
      "{ .reg .pred p;\n setp.ne.b32 p, %2, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n" TEXT_OF(BN) SHAPE_K " {" OF(REGISTERS_, BN) "}, %0, %1, p, 1, 1" READ_ALONG_K
                                                                                      "; }"
      : "+l"(a), "+l"(b), "+r"(adds), OF(SUMS_, BN));
}

__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until all but the latest kPending committed groups are done.
template <int kPending>
__device__ __forceinline__ void await_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Tells the compiler that the sums are not known before this point: what it sees of them is the start of an wgmma.
__device__ __forceinline__ void are_written_here(Sums<BN / 8>& sums) {
#pragma unroll
  for (int j = 0; j < BN / 8; ++j)
    asm volatile("" : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])::"memory");
}

// The warpgroups share the registers of a multiprocessor unevenly: who only loads needs few.

template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace
