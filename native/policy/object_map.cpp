#include "policy/object_map.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace warpzone::policy {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

void check_features(const ObjectFeatures& object, int count) {
  for (const int position : {object.kind, object.x, object.y, object.type, object.angle}) {
    if (position < 0 || position >= count) {
      refuse("the object map reads feature " + std::to_string(position) + " of " +
             std::to_string(count));
    }
  }
}

/// Sums and products of such numbers fit into whole numbers.
void check_pixels(float pixels) {
  constexpr float kMost = 4096.0F;
  if (!(pixels >= -kMost && pixels <= kMost)) {
    refuse("the object map has a distance of " + std::to_string(pixels) + " pixels");
  }
}

/// The machine's instruction for it is not in every processor, and a call of the library is slow.
std::int32_t floor_of(float value) {
  const auto whole = static_cast<std::int32_t>(value);
  return whole - (static_cast<float>(whole) > value ? 1 : 0);
}

}  // namespace

/// Collects cells; one that is already set is not listed again.
class ObjectMap::Cells {
 public:
  Cells(const ObjectMapTables& tables, Index* out) : tables_(tables), begin_(out), end_(out) {}

  /// The cell under a point, in pixels to the right of and below Mario.
  void set(int plane, float right, float down) {
    const std::int32_t column = floor_of(right / tables_.cell_pixels) + tables_.columns_behind;
    const std::int32_t row = floor_of(down / tables_.cell_pixels) + tables_.rows_above;
    if (column < 0 || column >= tables_.columns || row < 0 || row >= tables_.rows) return;
    const auto input = static_cast<Index>(tables_.first_input +
                                          (plane * tables_.rows + row) * tables_.columns + column);
    // A handful of cells: looking through them is quicker than keeping a table of all.
    if (std::find(begin_, end_, input) == end_) *end_++ = input;
  }
  Index* end() const { return end_; }

 private:
  const ObjectMapTables& tables_;
  Index* begin_;
  Index* end_;
};

ObjectMap::ObjectMap(ObjectMapTables tables, int feature_count) : tables_(std::move(tables)) {
  for (const ObjectFeatures& object : tables_.objects) check_features(object, feature_count);
  if (tables_.planes < 0 || tables_.rows < 0 || tables_.columns < 0 || tables_.most_balls < 0 ||
      tables_.first_input < 0) {
    refuse("the object map has a negative size");
  }
  if (!(tables_.cell_pixels >= 1.0F)) refuse("cells of the object map are smaller than a pixel");
  for (const float pixels : {tables_.unit_pixels, tables_.middle, tables_.ball_middle}) {
    check_pixels(pixels);
  }
  const auto balls = static_cast<std::size_t>(tables_.most_balls);
  const std::size_t expected = ObjectMapTables::kBytes * balls;
  if (tables_.ball_right.size() != expected || tables_.ball_down.size() != expected) {
    refuse("ball_right and ball_down of the object map need " + std::to_string(expected) +
           " numbers each");
  }
  for (const float pixels : tables_.ball_right) check_pixels(pixels);
  for (const float pixels : tables_.ball_down) check_pixels(pixels);
  for (const std::uint8_t count : tables_.balls_of_type) {
    if (count > balls) refuse("a fire bar of the object map has too many balls");
  }
}

std::size_t ObjectMap::most_cells() const {
  const auto each = static_cast<std::size_t>(std::max(1, tables_.most_balls));
  return std::min(tables_.objects.size() * each, static_cast<std::size_t>(size()));
}

Index* ObjectMap::write(const std::uint8_t* features, Index* out) const {
  Cells cells(tables_, out);
  for (const ObjectFeatures& object : tables_.objects) draw(object, features, cells);
  return cells.end();
}

void ObjectMap::draw(const ObjectFeatures& object, const std::uint8_t* features,
                     Cells& cells) const {
  const std::uint8_t kind = features[object.kind];
  const float right =
      (static_cast<float>(features[object.x]) - tables_.middle) * tables_.unit_pixels;
  const float down =
      (static_cast<float>(features[object.y]) - tables_.middle) * tables_.unit_pixels;
  const int balls = tables_.balls_of_type[features[object.type]];
  if (balls == 0) {
    const int plane = tables_.plane_of_kind[kind];
    if (plane < tables_.planes) cells.set(plane, right, down);
    return;
  }
  if (kind == 0) return;
  const std::size_t turn = features[object.angle] * static_cast<std::size_t>(tables_.most_balls);
  for (std::size_t ball = 0; ball < static_cast<std::size_t>(balls); ++ball) {
    cells.set(0, right + tables_.ball_middle + tables_.ball_right[turn + ball],
              down + tables_.ball_middle + tables_.ball_down[turn + ball]);
  }
}

}  // namespace warpzone::policy
