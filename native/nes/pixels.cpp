#include "nes/pixels.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define WARPZONE_X86_DISPATCH 1
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace warpzone::nes {
namespace {

void look_up_each(std::uint8_t* out, const std::uint8_t* in, int count, const std::uint8_t* table) {
  for (int i = 0; i < count; ++i) out[i] = table[in[i]];
}

#if defined(WARPZONE_X86_DISPATCH)

// A byte shuffle looks up 16 entries; a second one serves the next 16, and the bit of the index
// that distinguishes them is moved to the top of each byte, where the blend takes it.
__attribute__((target("avx2"))) inline __m256i shuffle_32(__m256i index, __m256i low,
                                                          __m256i high) {
  return _mm256_blendv_epi8(_mm256_shuffle_epi8(low, index), _mm256_shuffle_epi8(high, index),
                            _mm256_slli_epi16(index, 3));
}

__attribute__((target("avx2"))) inline __m256i load_table(const std::uint8_t* table) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
}

__attribute__((target("avx2"))) void look_up_32_avx2(std::uint8_t* out, int out_stride,
                                                     const std::uint8_t* in, int in_stride,
                                                     int width, int rows,
                                                     const std::uint8_t* table) {
  const __m256i low = load_table(table), high = load_table(table + 16);
  for (; rows > 0; --rows, in += in_stride, out += out_stride) {
    int i = 0;
    for (; i + 32 <= width; i += 32) {
      const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), shuffle_32(index, low, high));
    }
    look_up_each(out + i, in + i, width - i, table);
  }
}

__attribute__((target("avx2"))) void look_up_64_avx2(std::uint8_t* out, const std::uint8_t* in,
                                                     int count, const std::uint8_t* table) {
  const __m256i t0 = load_table(table), t1 = load_table(table + 16);
  const __m256i t2 = load_table(table + 32), t3 = load_table(table + 48);
  int i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m256i first = shuffle_32(index, t0, t1), second = shuffle_32(index, t2, t3);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_blendv_epi8(first, second, _mm256_slli_epi16(index, 2)));
  }
  look_up_each(out + i, in + i, count - i, table);
}

bool has_avx2() {
  static const bool supported = __builtin_cpu_supports("avx2");
  return supported;
}

#endif

}  // namespace

void look_up_32(std::uint8_t* out, int out_stride, const std::uint8_t* in, int in_stride, int width,
                int rows, const std::uint8_t* table) {
#if defined(WARPZONE_X86_DISPATCH)
  if (has_avx2()) return look_up_32_avx2(out, out_stride, in, in_stride, width, rows, table);
#endif
  for (; rows > 0; --rows, in += in_stride, out += out_stride) {
    int i = 0;
#if defined(__aarch64__)
    const uint8x16x2_t entries = vld1q_u8_x2(table);
    for (; i + 16 <= width; i += 16) vst1q_u8(out + i, vqtbl2q_u8(entries, vld1q_u8(in + i)));
#endif
    look_up_each(out + i, in + i, width - i, table);
  }
}

void look_up_64(std::uint8_t* out, const std::uint8_t* in, int count, const std::uint8_t* table) {
#if defined(WARPZONE_X86_DISPATCH)
  if (has_avx2()) return look_up_64_avx2(out, in, count, table);
#elif defined(__aarch64__)
  const uint8x16x4_t entries = vld1q_u8_x4(table);
  for (; count >= 16; count -= 16, in += 16, out += 16) {
    vst1q_u8(out, vqtbl4q_u8(entries, vld1q_u8(in)));
  }
#endif
  look_up_each(out, in, count, table);
}

}  // namespace warpzone::nes
