/// For x86 with AVX2 and FMA.
#include "policy/instruction_sets.hpp"

#if WARPZONE_X86_KERNELS

#include <immintrin.h>

#include <cstring>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

#include "policy/adam_rows.hpp"
#include "policy/convolution_loops.hpp"

namespace warpzone::policy {
namespace {

struct Avx2Pairs {
  static constexpr int kWidth = 8;
  using Pairs = PairVector<kWidth>::Type;

  static inline Pairs add_products(Pairs sum, Pairs a, Pairs b) {
    const __m256i products =
        _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b));
    return sum + reinterpret_cast<Pairs>(products);
  }

  static inline Pairs joined(const std::int16_t* low, const std::int16_t* high) {
    const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(low));
    const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(high));
    const __m256i first = _mm256_castsi128_si256(_mm_unpacklo_epi16(left, right));
    return reinterpret_cast<Pairs>(
        _mm256_inserti128_si256(first, _mm_unpackhi_epi16(left, right), 1));
  }

  static inline std::uint64_t differing(Pairs a, Pairs b) {
    const __m256i same =
        _mm256_cmpeq_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b));
    return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_castsi256_ps(same)) ^ 0xFF);
  }
};

}  // namespace

constinit const Kernels kAvx2Kernels{"avx2", sum_rows<8, 8>, sum_squares<8>, adam_row,
                                     ConvolutionLoops<Avx2Pairs>::kernels()};

}  // namespace warpzone::policy

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
