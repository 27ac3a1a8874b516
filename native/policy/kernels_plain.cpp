/// For every machine: SSE2 on x86, NEON on ARM, single numbers elsewhere.
#include <cmath>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "policy/adam_rows.hpp"
#include "policy/convolution_loops.hpp"
#include "policy/instruction_sets.hpp"

namespace warpzone::policy {
namespace {

struct PlainPairs {
#if defined(__GNUC__)
  static constexpr int kWidth = 4;
#else
  static constexpr int kWidth = 1;
#endif
  using Pairs = PairVector<kWidth>::Type;

  static inline Pairs add_products(Pairs sum, Pairs a, Pairs b) {
#if defined(__GNUC__) && defined(__SSE2__)
    const __m128i products =
        _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b));
    return sum + reinterpret_cast<Pairs>(products);
#else
    return add_pair_products(sum, a, b);
#endif
  }

  static inline Pairs joined(const std::int16_t* low, const std::int16_t* high) {
    return joined_pairs<kWidth>(low, high);
  }

  static inline std::uint64_t differing(Pairs a, Pairs b) { return differing_places<kWidth>(a, b); }
};

constexpr ConvolutionKernels kConvolutions = ConvolutionLoops<PlainPairs>::kernels();

}  // namespace

#if !defined(__GNUC__)
constinit const Kernels kPlainKernels{"plain", sum_rows<1, 16>, sum_squares<1>, adam_row,
                                      kConvolutions};
#elif defined(__ARM_NEON)
constinit const Kernels kPlainKernels{"neon", sum_rows<4, 16>, sum_squares<4>, adam_row,
                                      kConvolutions};  // ARM has twice the registers.
#else
constinit const Kernels kPlainKernels{"plain", sum_rows<4, 8>, sum_squares<4>, adam_row,
                                      kConvolutions};
#endif

}  // namespace warpzone::policy
