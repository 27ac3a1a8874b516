/// Lists of active inputs, and the layer that adds up their rows.
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/caller_arrays.hpp"
#include "mario/tile_bounds.hpp"
#include "policy/active_layout.hpp"
#include "policy/kernels.hpp"
#include "policy/row_adam.hpp"
#include "policy/sparse_linear.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;
using policy::ActiveLayout;
using policy::Index;
using policy::LayoutTables;
using policy::ObjectFeatures;
using policy::ObjectMapTables;
using policy::RowAdam;
using policy::SparseLinear;
using policy::TerrainTables;

namespace {

template <typename Value>
std::vector<Value> vector_of(const CallerArray<const Value>& array) {
  return {array.data(), array.data() + array.size()};
}

template <typename Value, std::size_t kSize>
std::array<Value, kSize> table_of(const CallerArray<const Value>& array, const char* name) {
  std::array<Value, kSize> table;
  std::copy_n(checked_data(array, kSize, name), kSize, table.begin());
  return table;
}

ObjectMapTables make_object_map(const std::vector<std::vector<int>>& objects, int first_input,
                                std::vector<int> shape, int columns_behind, int rows_above,
                                float cell_pixels, float unit_pixels, float middle,
                                const CallerArray<const std::uint8_t>& plane_of_kind,
                                const CallerArray<const std::uint8_t>& balls_of_type,
                                float ball_middle, const CallerArray<const float>& ball_right,
                                const CallerArray<const float>& ball_down) {
  ObjectMapTables tables;
  for (const std::vector<int>& object : objects) {
    if (object.size() != 5) throw std::invalid_argument("an object has five features");
    tables.objects.push_back({object[0], object[1], object[2], object[3], object[4]});
  }
  if (shape.size() != 3) throw std::invalid_argument("shape is (planes, rows, columns)");
  tables.first_input = first_input;
  tables.planes = shape[0];
  tables.rows = shape[1];
  tables.columns = shape[2];
  tables.columns_behind = columns_behind;
  tables.rows_above = rows_above;
  tables.cell_pixels = cell_pixels;
  tables.unit_pixels = unit_pixels;
  tables.middle = middle;
  tables.plane_of_kind = table_of<std::uint8_t, 256>(plane_of_kind, "plane_of_kind");
  tables.balls_of_type = table_of<std::uint8_t, 256>(balls_of_type, "balls_of_type");
  tables.ball_middle = ball_middle;
  tables.most_balls = static_cast<int>(ball_right.size() / 256);
  tables.ball_right = vector_of(ball_right);
  tables.ball_down = vector_of(ball_down);
  return tables;
}

TerrainTables make_terrain(int first_input, std::array<int, 2> shape, int rows_above,
                           int columns_behind, std::array<int, 2> cell_pixels, int grid_plane,
                           std::array<int, 2> grid_shape, int tile_pixels, int x_feature,
                           int y_feature, const CallerArray<const std::int32_t>& x_pixels,
                           const CallerArray<const std::int32_t>& y_pixels) {
  TerrainTables tables;
  tables.first_input = first_input;
  tables.rows = shape[0];
  tables.columns = shape[1];
  tables.rows_above = rows_above;
  tables.columns_behind = columns_behind;
  tables.cell_height = cell_pixels[0];
  tables.cell_width = cell_pixels[1];
  tables.grid_plane = grid_plane;
  tables.grid_rows = grid_shape[0];
  tables.grid_columns = grid_shape[1];
  tables.tile_pixels = tile_pixels;
  tables.x_feature = x_feature;
  tables.y_feature = y_feature;
  tables.x_pixels = table_of<std::int32_t, 256>(x_pixels, "x_pixels");
  tables.y_pixels = table_of<std::int32_t, 256>(y_pixels, "y_pixels");
  return tables;
}

std::shared_ptr<ActiveLayout> make_layout(
    const CallerArray<const float>& base, int grid_planes, int cells, std::vector<int> planes,
    const CallerArray<const float>& cell_values, int most_cells,
    const CallerArray<const std::int32_t>& feature_offsets,
    const CallerArray<const Index>& feature_inputs, const CallerArray<const float>& feature_values,
    std::vector<ObjectMapTables> maps, const std::optional<TerrainTables>& terrain) {
  LayoutTables tables;
  tables.inputs = static_cast<int>(std::min<std::size_t>(base.size(), 1U << 30));
  tables.base = vector_of(base);
  tables.grid_planes = grid_planes;
  tables.cells = cells;
  tables.planes = std::move(planes);
  tables.cell_values = table_of<float, 256>(cell_values, "cell_values");
  tables.most_cells = most_cells;
  tables.feature_offsets = vector_of(feature_offsets);
  tables.feature_inputs = vector_of(feature_inputs);
  tables.feature_values = vector_of(feature_values);
  tables.maps = std::move(maps);
  tables.terrain = terrain;
  return std::make_shared<ActiveLayout>(std::move(tables));
}

void write_rows(const ActiveLayout& layout, const CallerArray<const std::uint8_t>& grids,
                const CallerArray<const std::uint8_t>& features, const CallerArray<Index>& rows) {
  const std::size_t count = rows.size() / layout.capacity();
  Index* row = checked_data(rows, count * layout.capacity(), "rows");
  const std::uint8_t* grid = checked_data(grids, count * layout.grid_bytes(), "grids");
  const std::uint8_t* feature = checked_data(features, count * layout.feature_count(), "features");
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < count; ++i) {
    layout.write(grid + i * layout.grid_bytes(), feature + i * layout.feature_count(),
                 row + i * layout.capacity());
  }
}

void expand_rows(const ActiveLayout& layout, const CallerArray<const Index>& rows,
                 const CallerArray<float>& out) {
  const std::size_t count = rows.size() / layout.capacity();
  const auto inputs = static_cast<std::size_t>(layout.inputs());
  const Index* row = checked_data(rows, count * layout.capacity(), "rows");
  float* target = checked_data(out, count * inputs, "out");
  for (std::size_t i = 0; i < count; ++i, row += layout.capacity(), target += inputs) {
    if (!layout.is_sound(row)) {
      throw std::invalid_argument("the active inputs of sample " + std::to_string(i) +
                                  " are damaged");
    }
    layout.expand(row, target);
  }
}

policy::Samples samples_of(const CallerArray<const Index>& store,
                           const CallerArray<const std::int64_t>& chosen) {
  if (store.ndim() != 2) throw std::invalid_argument("store must have two dimensions");
  return {store.data(), store.shape(0), store.shape(1), {chosen.data(), chosen.size()}};
}

void forward(SparseLinear& layer, const CallerArray<const Index>& store,
             const CallerArray<const std::int64_t>& chosen, const CallerArray<const float>& weight,
             const CallerArray<const float>& bias, bool rectify, const CallerArray<float>& out) {
  const policy::Samples samples = samples_of(store, chosen);
  const std::size_t width = bias.size();
  const auto inputs = static_cast<std::size_t>(layer.layout().inputs());
  const float* weights = checked_data(weight, inputs * width, "weight");
  float* outputs = checked_data(out, chosen.size() * width, "out");
  const nb::gil_scoped_release release;
  layer.forward(samples, weights, bias.data(), width, rectify, outputs);
}

void gradient(SparseLinear& layer, const CallerArray<const Index>& store,
              const CallerArray<const std::int64_t>& chosen,
              const std::optional<CallerArray<const float>>& out,
              const CallerArray<const float>& out_gradient,
              const CallerArray<float>& weight_gradient, const CallerArray<float>& bias_gradient) {
  const policy::Samples samples = samples_of(store, chosen);
  const std::size_t width = bias_gradient.size();
  const auto inputs = static_cast<std::size_t>(layer.layout().inputs());
  const float* gradients = checked_data(out_gradient, chosen.size() * width, "out_gradient");
  float* weights = checked_data(weight_gradient, inputs * width, "weight_gradient");
  const float* outputs = out ? checked_data(*out, chosen.size() * width, "out") : nullptr;
  const nb::gil_scoped_release release;
  layer.gradient(samples, outputs, gradients, width, weights, bias_gradient.data());
}

double look(RowAdam& adam, const CallerArray<const float>& gradient) {
  const float* data = checked_data(gradient, adam.rows() * adam.width(), "gradient");
  const nb::gil_scoped_release release;
  return adam.look(data);
}

void adam_step(RowAdam& adam, const CallerArray<const float>& gradient,
               const CallerArray<float>& weight, const CallerArray<float>& mean,
               const CallerArray<float>& square, float rate, float beta1, float beta2,
               float correction, float epsilon, float scale) {
  const std::size_t all = adam.rows() * adam.width();
  const policy::AdamStep step{rate, beta1, beta2, correction, epsilon, scale};
  const float* slopes = checked_data(gradient, all, "gradient");
  float* weights = checked_data(weight, all, "weight");
  float* means = checked_data(mean, all, "mean");
  float* squares = checked_data(square, all, "square");
  const nb::gil_scoped_release release;
  adam.step(step, slopes, weights, means, squares);
}

void load_moments(RowAdam& adam, const CallerArray<const float>& mean,
                  const CallerArray<const float>& square) {
  const std::size_t all = adam.rows() * adam.width();
  const float* means = checked_data(mean, all, "mean");
  const float* squares = checked_data(square, all, "square");
  const nb::gil_scoped_release release;
  adam.load(means, squares);
}

void bind_adam(nb::module_& module) {
  nb::class_<RowAdam>(module, "RowAdam",
                      "Adam for a matrix of which many rows never get a gradient.")
      .def(
          "__init__",
          [](RowAdam* self, std::size_t rows, std::size_t width, int threads,
             const std::string& instructions) {
            new (self) RowAdam(rows, width, threads, policy::kernels_named(instructions));
          },
          "rows"_a, "width"_a, "threads"_a = 1, "instructions"_a = "auto")
      .def("look", &look, "gradient"_a.noconvert(),
           "Looks at a gradient before it is applied, and returns its squared norm.")
      .def("step", &adam_step, "gradient"_a.noconvert(), "weight"_a.noconvert(),
           "mean"_a.noconvert(), "square"_a.noconvert(), "rate"_a, "beta1"_a, "beta2"_a,
           "correction"_a, "epsilon"_a, "scale"_a,
           "Applies the gradient that `look` has seen to weights and moments, [rows, width].")
      .def("load", &load_moments, "mean"_a.noconvert(), "square"_a.noconvert(),
           "Takes moments that were not made here.");
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const policy::Kernels& kernels : policy::available_kernels()) names.push_back(kernels.name);
  return names;
}

void bind_layout(nb::module_& module) {
  nb::class_<ObjectMapTables>(module, "ObjectMapTables", "The geometry of an object map.")
      .def(nb::new_(&make_object_map), "objects"_a, "first_input"_a, "shape"_a, "columns_behind"_a,
           "rows_above"_a, "cell_pixels"_a, "unit_pixels"_a, "middle"_a, "plane_of_kind"_a,
           "balls_of_type"_a, "ball_middle"_a, "ball_right"_a, "ball_down"_a);
  nb::class_<TerrainTables>(module, "TerrainTables", "The geometry of a terrain map.")
      .def(nb::new_(&make_terrain), "first_input"_a, "shape"_a, "rows_above"_a, "columns_behind"_a,
           "cell_pixels"_a, "grid_plane"_a, "grid_shape"_a, "tile_pixels"_a, "x_feature"_a,
           "y_feature"_a, "x_pixels"_a, "y_pixels"_a);
  nb::class_<ActiveLayout>(module, "ActiveLayout",
                           "How tile observations become lists of active inputs.")
      .def(nb::new_(&make_layout), "base"_a, "grid_planes"_a, "cells"_a, "planes"_a,
           "cell_values"_a, "most_cells"_a, "feature_offsets"_a, "feature_inputs"_a,
           "feature_values"_a, "maps"_a, "terrain"_a.none())
      .def_prop_ro("inputs", &ActiveLayout::inputs)
      .def_prop_ro("capacity", &ActiveLayout::capacity, "Slots of 16 bits of one row.")
      // A converted array would be a copy, and the caller's own would stay as it is.
      .def("write", &write_rows, "grids"_a, "features"_a, "rows"_a.noconvert(),
           "Lists observations: a row of `capacity` slots for each.")
      .def("expand", &expand_rows, "rows"_a, "out"_a.noconvert(),
           "Writes the dense vectors that rows describe.");
}

}  // namespace

void bind_policy(nb::module_& module) {
  bind_layout(module);
  bind_adam(module);
  module.def("most_tile_cells", &mario::most_tile_cells, "stack"_a,
             "Cells that can be set at once where the background counts in the newest grid only.");
  module.def("instruction_sets", &instruction_sets,
             "Instruction sets that this processor can run, the slowest first.");
  nb::class_<SparseLinear>(module, "SparseLinear", "A linear layer over lists of active inputs.")
      .def(
          "__init__",
          [](SparseLinear* self, std::shared_ptr<ActiveLayout> layout, int threads,
             const std::string& instructions) {
            new (self)
                SparseLinear(std::move(layout), threads, policy::kernels_named(instructions));
          },
          "layout"_a, "threads"_a = 1, "instructions"_a = "auto")
      .def_prop_ro("threads", &SparseLinear::threads)
      .def_prop_ro("instructions", [](const SparseLinear& self) { return self.kernels().name; })
      .def("forward", &forward, "store"_a.noconvert(), "chosen"_a.noconvert(),
           "weight"_a.noconvert(), "bias"_a.noconvert(), "rectify"_a, "out"_a.noconvert(),
           "Outputs for the chosen rows of a store; weight is [inputs, width].")
      .def(
          "gradient", &gradient, "store"_a.noconvert(), "chosen"_a.noconvert(),
          "out"_a.noconvert().none(), "out_gradient"_a.noconvert(), "weight_gradient"_a.noconvert(),
          "bias_gradient"_a.noconvert(),
          "Overwrites the gradients of weight and bias with those of the chosen rows. Where `out`, "
          "the rectified outputs, is zero, nothing is passed on.");
}

}  // namespace warpzone::bindings
