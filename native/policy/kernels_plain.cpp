/// For every machine: SSE2 on x86, NEON on ARM, single numbers elsewhere.
#include "policy/instruction_sets.hpp"
#include "policy/sum_rows.hpp"

namespace warpzone::policy {

#if !defined(__GNUC__)
const Kernels kPlainKernels{"plain", sum_rows<1, 16>};
#elif defined(__ARM_NEON)
const Kernels kPlainKernels{"neon", sum_rows<4, 16>};  // ARM has twice the registers.
#else
const Kernels kPlainKernels{"plain", sum_rows<4, 8>};
#endif

}  // namespace warpzone::policy
