// Resizing with vector instructions gives the bytes of the exact sums, for every size that it
// takes.
#include <vector>

#include "check.hpp"
#include "common/random.hpp"
#include "nes/console.hpp"
#include "vector/image.hpp"
#include "vector/quick_resize.hpp"

namespace {

using namespace warpzone;

using Plane = std::vector<std::uint8_t>;

constexpr int kWidth = nes::kScreenWidth, kHeight = nes::kScreenHeight;
/// Bytes after the image, which must stay as they are.
constexpr int kBehind = 16;
constexpr std::uint8_t kUntouched = 7;

Plane exact(const Plane& plane, const Axis& rows, const Axis& columns) {
  Plane out;
  const auto total = static_cast<std::uint32_t>(rows.total * columns.total);
  for (const Axis::Span& row : rows.spans) {
    for (const Axis::Span& column : columns.spans) {
      std::uint32_t sum = total / 2;
      for (int y = 0; y < row.count; ++y) {
        for (int x = 0; x < column.count; ++x) {
          const int weight = rows.weights[static_cast<std::size_t>(row.offset + y)] *
                             columns.weights[static_cast<std::size_t>(column.offset + x)];
          const int pixel =
              plane[static_cast<std::size_t>((row.first + y) * kWidth + column.first + x)];
          sum += static_cast<std::uint32_t>(weight * pixel);
        }
      }
      out.push_back(static_cast<std::uint8_t>(sum / total));
    }
  }
  out.insert(out.end(), kBehind, kUntouched);
  return out;
}

Plane random_plane(Random& random, int kind) {
  Plane plane(static_cast<std::size_t>(kWidth * kHeight));
  for (std::uint8_t& pixel : plane) {
    const std::uint32_t value = random.below(256);
    pixel = static_cast<std::uint8_t>(kind == 0 ? value : (value < 128 ? 0 : 255));
  }
  return plane;
}

TEST(quick_images_equal_exact_ones) {
  Random random{1};
  int sizes = 0;
  for (const int height : {60, 61, 64, 72, 80, 84, 96, 100, 120, 128, 240, 480}) {
    for (const int width : {64, 65, 77, 83, 84, 85, 96, 100, 128, 256, 512}) {
      const Axis rows(kHeight, height), columns(kWidth, width);
      if (!QuickResize::fits(rows, columns)) continue;
      ++sizes;
      const QuickResize resize(rows, columns);
      for (int kind = 0; kind < 2; ++kind) {
        const Plane plane = random_plane(random, kind);
        Plane out(static_cast<std::size_t>(height * width + kBehind), kUntouched);
        resize.run(plane.data(), out.data());
        CHECK(out == exact(plane, rows, columns));
      }
    }
  }
  CHECK(sizes > 50);
}

TEST(the_default_size_is_quick) { CHECK(QuickResize::fits(Axis(kHeight, 84), Axis(kWidth, 84))); }

}  // namespace
