#include "vector/quick_resize.hpp"

#include <algorithm>
#include <cstring>

#include "nes/console.hpp"
#include "vector/image.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define WARPZONE_X86_DISPATCH 1
#include <immintrin.h>
#endif

namespace warpzone {
namespace {

constexpr int kColumns = nes::kScreenWidth;
constexpr int kPairSums = 8;  // Column sums that a pair of target pixels is gathered from.

// Exact values lie on a rounding border or at least 1/(2 * 4096) from one. A float is more precise
// than that, and the small addition rounds those on the border up.
constexpr float kHalf = 0.5F + 6e-5F;
constexpr int kMostTotal = 4096;

}  // namespace

bool QuickResize::fits(const Axis& rows, const Axis& columns) {
  const auto small = [](std::int32_t weight) { return weight <= 127; };
  return rows.most <= kTaps && columns.most <= kTaps && rows.total * 255 < 32768 &&
         rows.total * columns.total <= kMostTotal &&
         std::all_of(rows.weights.begin(), rows.weights.end(), small);
}

QuickResize::QuickResize(const Axis& rows, const Axis& columns)
    : width_(static_cast<int>(columns.spans.size())),
      scale_(1.0F / static_cast<float>(rows.total * columns.total)) {
  for (const Axis::Span& span : rows.spans) {
    Row row{};
    for (int tap = 0; tap < kTaps; ++tap) {
      const bool used = tap < span.count;
      row.first[tap] = (span.first + (used ? tap : 0)) * kColumns;
      row.weights[tap] = used ? static_cast<std::int16_t>(rows.weights[span.offset + tap]) : 0;
    }
    rows_.push_back(row);
  }
  for (const Axis::Span& span : columns.spans) {
    // Four columns are always read: near the right edge the window is moved back.
    const int first = std::min(span.first, kColumns - kTaps);
    column_first_.push_back(first);
    for (int tap = 0; tap < kTaps; ++tap) {
      const int index = first + tap - span.first;
      const bool used = index >= 0 && index < span.count;
      column_weights_.push_back(
          used ? static_cast<std::int16_t>(columns.weights[span.offset + index]) : 0);
    }
  }
  add_groups();
}

void QuickResize::add_groups() {
  for (int begin = 0; begin < width_; begin += kResizeGroup) {
    ResizeGroup group{};
    for (int pair = 0; pair < kResizeGroup / 2; ++pair) {
      // Neighbours are at most four columns apart, so both windows lie within eight columns.
      const int left = std::min(begin + 2 * pair, width_ - 1);
      group.first[pair] = std::min(column_first_[left], kColumns - kPairSums);
      const int table = pair % 2, lane = pair / 2;
      for (int side = 0; side < 2; ++side) {
        const int x = std::min(left + side, width_ - 1);
        const int offset = column_first_[x] - group.first[pair];
        for (int tap = 0; tap < kTaps; ++tap) {
          const int place = lane * kPairSums + side * kTaps + tap;
          group.shuffles[table][2 * place] = static_cast<std::uint8_t>(2 * (offset + tap));
          group.shuffles[table][2 * place + 1] = static_cast<std::uint8_t>(2 * (offset + tap) + 1);
          group.weights[table][place] = column_weights_[x * kTaps + tap];
        }
      }
    }
    groups_.push_back(group);
  }
}

void QuickResize::run(const std::uint8_t* plane, std::uint8_t* out) const {
#if defined(WARPZONE_X86_DISPATCH)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return run_avx2(plane, out);
#endif
  std::int16_t sums[kColumns];
  for (const Row& row : rows_) {
    sum_columns(row, plane, sums);
    write_row(sums, out);
    out += width_;
  }
}

void QuickResize::sum_columns(const Row& row, const std::uint8_t* plane, std::int16_t* sums) const {
  const std::uint8_t* from[kTaps];
  for (int tap = 0; tap < kTaps; ++tap) from[tap] = plane + row.first[tap];
  const std::int16_t* weight = row.weights;
  for (int x = 0; x < kColumns; ++x) {
    sums[x] = static_cast<std::int16_t>(weight[0] * from[0][x] + weight[1] * from[1][x] +
                                        weight[2] * from[2][x] + weight[3] * from[3][x]);
  }
}

void QuickResize::write_row(const std::int16_t* sums, std::uint8_t* out) const {
  for (int x = 0; x < width_; ++x) {
    const std::int16_t* from = sums + column_first_[x];
    const std::int16_t* weight = column_weights_.data() + x * kTaps;
    const int sum =
        from[0] * weight[0] + from[1] * weight[1] + from[2] * weight[2] + from[3] * weight[3];
    out[x] = static_cast<std::uint8_t>(static_cast<float>(sum) * scale_ + kHalf);
  }
}

#if defined(WARPZONE_X86_DISPATCH)
namespace {

#define WARPZONE_AVX2 __attribute__((target("avx2")))

WARPZONE_AVX2 inline __m256i load(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

/// Two weights, repeated in all pairs of bytes.
WARPZONE_AVX2 inline __m256i weight_pair(const std::int16_t* weights) {
  return _mm256_set1_epi16(static_cast<short>(weights[0] | weights[1] << 8));
}

/// Sums of 32 columns: bytes of two rows are interleaved, multiplied and added in pairs.
WARPZONE_AVX2 inline void sum_32_columns(const std::uint8_t* const* from, int x, __m256i first_two,
                                         __m256i last_two, std::int16_t* sums) {
  const __m256i a = load(from[0] + x), b = load(from[1] + x);
  const __m256i c = load(from[2] + x), d = load(from[3] + x);
  const __m256i low = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), first_two),
                                       _mm256_maddubs_epi16(_mm256_unpacklo_epi8(c, d), last_two));
  const __m256i high = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), first_two),
                                        _mm256_maddubs_epi16(_mm256_unpackhi_epi8(c, d), last_two));
  // Each half of the register was interleaved on its own.
  auto* to = reinterpret_cast<__m256i*>(sums + x);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
}

/// Weighted sums of two pairs of target pixels, one pair in each half; two terms for each pixel.
WARPZONE_AVX2 inline __m256i gather_pairs(const std::int16_t* low, const std::int16_t* high,
                                          const std::uint8_t* shuffle,
                                          const std::int16_t* weights) {
  const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(low));
  const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(high));
  const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(left), right, 1);
  return _mm256_madd_epi16(_mm256_shuffle_epi8(both, load(shuffle)), load(weights));
}

WARPZONE_AVX2 inline std::int64_t resize_group(const ResizeGroup& group, const std::int16_t* sums,
                                               __m256 scale, __m256 half) {
  const __m256i even = gather_pairs(sums + group.first[0], sums + group.first[2], group.shuffles[0],
                                    group.weights[0]);
  const __m256i odd = gather_pairs(sums + group.first[1], sums + group.first[3], group.shuffles[1],
                                   group.weights[1]);
  const __m256 sum = _mm256_cvtepi32_ps(_mm256_hadd_epi32(even, odd));
  const __m256i whole = _mm256_cvttps_epi32(_mm256_add_ps(_mm256_mul_ps(sum, scale), half));
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  return _mm_cvtsi128_si64(_mm_packus_epi16(words, words));
}

}  // namespace

WARPZONE_AVX2 void QuickResize::run_avx2(const std::uint8_t* plane, std::uint8_t* out) const {
  const __m256 scale = _mm256_set1_ps(scale_), half = _mm256_set1_ps(kHalf);
  const int full = width_ / kResizeGroup, begun = full * kResizeGroup;
  alignas(32) std::int16_t sums[kColumns];
  for (const Row& row : rows_) {
    const std::uint8_t* from[kTaps];
    for (int tap = 0; tap < kTaps; ++tap) from[tap] = plane + row.first[tap];
    const __m256i first_two = weight_pair(row.weights), last_two = weight_pair(row.weights + 2);
    for (int x = 0; x < kColumns; x += 32) sum_32_columns(from, x, first_two, last_two, sums);
    for (int i = 0; i < full; ++i) {
      const std::int64_t bytes = resize_group(groups_[i], sums, scale, half);
      std::memcpy(out + i * kResizeGroup, &bytes, kResizeGroup);
    }
    if (begun < width_) {
      const std::int64_t bytes = resize_group(groups_[full], sums, scale, half);
      std::memcpy(out + begun, &bytes, static_cast<std::size_t>(width_ - begun));
    }
    out += width_;
  }
}
#endif

}  // namespace warpzone
