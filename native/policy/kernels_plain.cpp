/// For every machine: SSE2 on x86, NEON on ARM, single numbers elsewhere.
#include <cmath>

#include "policy/adam_rows.hpp"
#include "policy/instruction_sets.hpp"

namespace warpzone::policy {

#if !defined(__GNUC__)
const Kernels kPlainKernels{"plain", sum_rows<1, 16>, sum_squares<1>, adam_row};
#elif defined(__ARM_NEON)
const Kernels kPlainKernels{"neon", sum_rows<4, 16>, sum_squares<4>,
                            adam_row};  // ARM has twice the registers.
#else
const Kernels kPlainKernels{"plain", sum_rows<4, 8>, sum_squares<4>, adam_row};
#endif

}  // namespace warpzone::policy
