/// The compiled instruction sets. Whether the processor has them is for `available_kernels` to say.
#pragma once

#include "policy/kernels.hpp"

// Other compilers neither have vector types nor tell what the processor can do in the same way.
#if defined(__x86_64__) && defined(__GNUC__)
#define WARPZONE_X86_KERNELS 1
#else
#define WARPZONE_X86_KERNELS 0
#endif

namespace warpzone::policy {

// Initialized by the compiler (constinit): code that fills them when the program starts would use
// their instructions on processors that lack these.
extern const Kernels kPlainKernels;
#if WARPZONE_X86_KERNELS
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace warpzone::policy
