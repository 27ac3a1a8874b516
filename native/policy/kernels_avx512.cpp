/// For x86 with AVX-512.
#include "policy/instruction_sets.hpp"

#if WARPZONE_X86_KERNELS

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC target("avx512f")
#endif

#include "policy/adam_rows.hpp"

namespace warpzone::policy {

// Products of pairs need more than AVX-512's foundation, so `available_kernels` takes convolutions
// from AVX2, which every such processor has.
constinit const Kernels kAvx512Kernels{"avx512", sum_rows<16, 16>, sum_squares<16>, adam_row, {}};

}  // namespace warpzone::policy

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
