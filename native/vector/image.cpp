#include "vector/image.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "nes/pixels.hpp"

namespace warpzone {
namespace {

constexpr int kBlocksAcross = 21;  ///< Blocks of one button that fit side by side.
constexpr int kHudRows = 32;
constexpr int kColumns = nes::kScreenWidth;

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
      columns_(kColumns, width) {
  if (QuickResize::fits(rows_, columns_)) quick_.emplace(rows_, columns_);
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
    quick_->run(plane + first_row_ * kColumns, out);
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
