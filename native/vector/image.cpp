#include "vector/image.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "nes/pixels.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define WARPZONE_SSE2 1
#endif

namespace warpzone {
namespace {

constexpr int kBlocksAcross = 21;  ///< Blocks of one button that fit side by side.
constexpr int kHudRows = 32;
constexpr int kColumns = nes::kScreenWidth;
constexpr int kTaps =
    4;  ///< Most source pixels under a target pixel of an axis, for resize_quickly.

int rows_shown(Hud hud) {
  return hud == Hud::kCrop ? nes::kScreenHeight - kHudRows : nes::kScreenHeight;
}

}  // namespace

Axis::Axis(int source, int target) {
  // In units of 1/(source * target) of the axis a source pixel is `target` long and a target pixel
  // `source` long; both are divided by what they have in common.
  const int common = std::gcd(source, target);
  const int pixel = target / common;
  total = source / common;
  for (int i = 0; i < target; ++i) {
    const int begin = i * total, end = begin + total;
    Span span{begin / pixel, static_cast<std::int32_t>(weights.size()), 0};
    for (int at = span.first; at * pixel < end; ++at) {
      weights.push_back(std::min(end, (at + 1) * pixel) - std::max(begin, at * pixel));
      ++span.count;
    }
    most = std::max(most, span.count);
    spans.push_back(span);
  }
}

ImageWriter::ImageWriter(int height, int width, Hud hud)
    : height_(height),
      width_(width),
      hud_(hud),
      first_row_(hud == Hud::kCrop ? kHudRows : 0),
      rows_(rows_shown(hud), height),
      columns_(kColumns, width),
      // Row sums must fit 15 bits, and the total must leave the rounding of a float no say.
      quick_(rows_.most <= kTaps && columns_.most <= kTaps && rows_.total * 255 < 32768 &&
             rows_.total * columns_.total <= 4096) {
  for (int x = 0; x < width_; ++x) {
    const Axis::Span& span = columns_.spans[x];
    // Four columns are always read: near the right edge the window is moved back.
    const int first = std::min(span.first, kColumns - kTaps);
    column_first_.push_back(first);
    for (int tap = 0; tap < kTaps; ++tap) {
      const int index = first + tap - span.first;
      const bool used = index >= 0 && index < span.count;
      column_weights_.push_back(
          used ? static_cast<std::int16_t>(columns_.weights[span.offset + index]) : 0);
    }
  }
}

void ImageWriter::read_plane(const nes::Console& console, nes::Channel channel,
                             std::uint8_t* plane) const {
  const nes::PlanePalette& palette = nes::plane_palette(channel);
  for (int row = 0; row < nes::kScreenHeight; ++row) {
    nes::look_up_64(plane + row * kColumns, console.screen() + row * kColumns, kColumns,
                    palette[console.row_emphasis()[row]].data());
  }
  if (hud_ == Hud::kMask) std::memset(plane, 0, kHudRows * kColumns);
}

void ImageWriter::resize(const std::uint8_t* plane, std::uint8_t* out) const {
  if (quick_) {
    resize_quickly(plane + first_row_ * kColumns, out);
  } else {
    resize_exactly(plane + first_row_ * kColumns, out);
  }
}

void ImageWriter::resize_exactly(const std::uint8_t* plane, std::uint8_t* out) const {
  const std::uint32_t total = static_cast<std::uint32_t>(rows_.total * columns_.total);
  std::uint32_t sums[kColumns];
  for (int y = 0; y < height_; ++y) {
    std::memset(sums, 0, sizeof sums);
    const Axis::Span& vertical = rows_.spans[y];
    for (int i = 0; i < vertical.count; ++i) {
      const std::uint8_t* row = plane + (vertical.first + i) * kColumns;
      const auto weight = static_cast<std::uint32_t>(rows_.weights[vertical.offset + i]);
      for (int x = 0; x < kColumns; ++x) sums[x] += weight * row[x];
    }
    for (int x = 0; x < width_; ++x) {
      const Axis::Span& horizontal = columns_.spans[x];
      std::uint32_t sum = total / 2;
      for (int i = 0; i < horizontal.count; ++i) {
        sum += static_cast<std::uint32_t>(columns_.weights[horizontal.offset + i]) *
               sums[horizontal.first + i];
      }
      *out++ = static_cast<std::uint8_t>(sum / total);
    }
  }
}

void ImageWriter::resize_quickly(const std::uint8_t* plane, std::uint8_t* out) const {
  const int total = rows_.total * columns_.total;
  // Exact values lie on a rounding border or at least 1/(2 * 4096) from one. A float is more
  // precise than that, and the small addition rounds those on the border up.
  const float scale = 1.0F / static_cast<float>(total);
  const float half = 0.5F + 6e-5F;
  alignas(32) std::int16_t sums[kColumns];
  for (int y = 0; y < height_; ++y) {
    const Axis::Span& vertical = rows_.spans[y];
    const std::uint8_t* row[kTaps];
    std::int16_t weight[kTaps];
    for (int i = 0; i < kTaps; ++i) {
      const bool used = i < vertical.count;
      row[i] = plane + (vertical.first + (used ? i : 0)) * kColumns;
      weight[i] = used ? static_cast<std::int16_t>(rows_.weights[vertical.offset + i]) : 0;
    }
    for (int x = 0; x < kColumns; ++x) {
      sums[x] = static_cast<std::int16_t>(weight[0] * row[0][x] + weight[1] * row[1][x] +
                                          weight[2] * row[2][x] + weight[3] * row[3][x]);
    }
    int x = 0;
#if defined(WARPZONE_SSE2)
    const std::int16_t* weights = column_weights_.data();
    const auto load = [](const std::int16_t* at) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
    };
    for (; x + 4 <= width_; x += 4, weights += 4 * kTaps) {
      const std::int32_t* first = column_first_.data() + x;
      const __m128i left = _mm_unpacklo_epi64(load(sums + first[0]), load(sums + first[1]));
      const __m128i right = _mm_unpacklo_epi64(load(sums + first[2]), load(sums + first[3]));
      const auto* w = reinterpret_cast<const __m128i*>(weights);
      const __m128 a = _mm_castsi128_ps(_mm_madd_epi16(left, _mm_loadu_si128(w)));
      const __m128 b = _mm_castsi128_ps(_mm_madd_epi16(right, _mm_loadu_si128(w + 1)));
      const __m128i even = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
      const __m128i odd = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
      const __m128 sum = _mm_cvtepi32_ps(_mm_add_epi32(even, odd));
      const __m128 value = _mm_add_ps(_mm_mul_ps(sum, _mm_set1_ps(scale)), _mm_set1_ps(half));
      const __m128i whole = _mm_cvttps_epi32(value);
      const __m128i words = _mm_packs_epi32(whole, whole);
      const int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
      std::memcpy(out + x, &bytes, 4);
    }
#endif
    for (; x < width_; ++x) {
      const std::int16_t* from = sums + column_first_[x];
      const std::int16_t* w = column_weights_.data() + x * kTaps;
      const int sum = from[0] * w[0] + from[1] * w[1] + from[2] * w[2] + from[3] * w[3];
      out[x] = static_cast<std::uint8_t>(static_cast<float>(sum) * scale + half);
    }
    out += width_;
  }
}

void ImageWriter::show_buttons(std::uint8_t buttons, std::uint8_t* image) const {
  const int side = std::max(1, std::min(height_, width_) / kBlocksAcross);
  for (int row = 0; row < side; ++row) {
    for (int button = 0; button < 8; ++button) {
      std::memset(image + row * width_ + button * side, (buttons >> button & 1) != 0 ? 255 : 0,
                  static_cast<std::size_t>(side));
    }
  }
}

}  // namespace warpzone
