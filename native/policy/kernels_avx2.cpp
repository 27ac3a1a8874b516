/// For x86 with AVX2 and FMA.
#include "policy/instruction_sets.hpp"

#if WARPZONE_X86_KERNELS

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

#include "policy/adam_rows.hpp"

namespace warpzone::policy {

const Kernels kAvx2Kernels{"avx2", sum_rows<8, 8>, sum_squares<8>, adam_row};

}  // namespace warpzone::policy

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
