/// Images as the input of a network.
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <optional>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/caller_arrays.hpp"
#include "policy/image_blocks.hpp"
#include "policy/image_convolutions.hpp"
#include "policy/kernels.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

using policy::ConvolutionArrays;
using policy::ImageBlocks;
using policy::ImageConvolutions;
using policy::kChannels;

template <typename Number>
void write(ImageBlocks& blocks, const CallerArray<const std::uint8_t>& images,
           const CallerArray<Number>& out) {
  const std::size_t size = blocks.image_size();
  const std::size_t count = images.size() / size;
  const std::uint8_t* from = checked_data(images, count * size, "images");
  Number* to = checked_data(out, count * size, "out");
  const nb::gil_scoped_release release;
  blocks.write(from, count, to);
}

using Floats = CallerArray<const float>;
using OutFloats = CallerArray<float>;
/// Weight and bias of the first convolution, then of the second.
using Weights = std::array<Floats, 4>;
using OutWeights = std::array<OutFloats, 4>;
using Images = CallerArray<const std::uint8_t>;

ConvolutionArrays checked_weights(const ImageConvolutions& self, const Weights& weights) {
  const policy::ImageLayers& layers = self.layers();
  return {checked_data(weights[0], layers.first_size(), "the first weight"),
          checked_data(weights[1], kChannels, "the first bias"),
          checked_data(weights[2], layers.second_size(), "the second weight"),
          checked_data(weights[3], kChannels, "the second bias")};
}

void forward(ImageConvolutions& self, const Images& images, const Weights& weights,
             const std::optional<OutFloats>& grids, const OutFloats& out) {
  const policy::ImageLayers& layers = self.layers();
  const ConvolutionArrays arrays = checked_weights(self, weights);
  const std::size_t count = images.size() / layers.image.size();
  const std::uint8_t* from = checked_data(images, count * layers.image.size(), "images");
  float* kept = grids ? checked_data(*grids, count * layers.grid_size(), "grids") : nullptr;
  float* to = checked_data(out, count * layers.out_size(), "out");
  const nb::gil_scoped_release release;
  self.forward(arrays, from, count, kept, to);
}

void gradient(ImageConvolutions& self, const Images& images, const Weights& weights,
              const Floats& grids, const Floats& out, const Floats& out_gradient,
              const OutWeights& gradients) {
  const policy::ImageLayers& layers = self.layers();
  const std::size_t count = images.size() / layers.image.size();
  const ImageConvolutions::Backward pass{
      checked_weights(self, weights),
      checked_data(images, count * layers.image.size(), "images"),
      checked_data(grids, count * layers.grid_size(), "grids"),
      checked_data(out, count * layers.out_size(), "out"),
      checked_data(out_gradient, count * layers.out_size(), "out_gradient"),
      count};
  const ImageConvolutions::Gradients results{
      checked_data(gradients[0], layers.first_size(), "the first weight's gradient"),
      checked_data(gradients[1], kChannels, "the first bias's gradient"),
      checked_data(gradients[2], layers.second_size(), "the second weight's gradient"),
      checked_data(gradients[3], kChannels, "the second bias's gradient")};
  const nb::gil_scoped_release release;
  self.gradient(pass, results);
}

void bind_convolutions(nb::module_& module) {
  nb::class_<ImageConvolutions>(module, "ImageConvolutions",
                                "The two convolutions of the space-to-depth network with ReLUs, "
                                "for images as they are.")
      .def(
          "__init__",
          [](ImageConvolutions* self, int planes, int height, int width, int threads,
             const std::string& instructions) {
            new (self) ImageConvolutions({planes, height, width}, threads,
                                         policy::kernels_named(instructions));
          },
          "planes"_a, "height"_a, "width"_a, "threads"_a, "instructions"_a = "auto")
      .def_prop_ro("threads", &ImageConvolutions::threads)
      .def_prop_ro("instructions",
                   [](const ImageConvolutions& self) { return self.kernels().name; })
      .def_prop_ro(
          "grid_size", [](const ImageConvolutions& self) { return self.layers().grid_size(); },
          "Outputs of the first convolution for an image, margins included.")
      .def_prop_ro(
          "out_size", [](const ImageConvolutions& self) { return self.layers().out_size(); },
          "Outputs of the second convolution for an image.")
      .def("forward", &forward, "images"_a.noconvert(), "weights"_a.noconvert(),
           "grids"_a.noconvert().none(), "out"_a.noconvert(),
           "Writes outputs, [B, out_size], channels first. `weights` are weight and bias of both "
           "convolutions. `grids`, [B, grid_size], is what `gradient` needs.")
      .def("gradient", &gradient, "images"_a.noconvert(), "weights"_a.noconvert(),
           "grids"_a.noconvert(), "out"_a.noconvert(), "out_gradient"_a.noconvert(),
           "gradients"_a.noconvert(), "Overwrites the gradients of all weights.");
}

}  // namespace

void bind_images(nb::module_& module) {
  nb::class_<ImageBlocks>(module, "ImageBlocks",
                          "Images as centred numbers, with blocks of pixels moved into channels.")
      .def(
          "__init__",
          [](ImageBlocks* self, int planes, int height, int width, int threads) {
            new (self) ImageBlocks({planes, height, width}, threads);
          },
          "planes"_a, "height"_a, "width"_a, "threads"_a)
      .def("write", &write<float>, "images"_a.noconvert(), "out"_a.noconvert(), "Writes images.")
      .def("write_bfloat16", &write<std::uint16_t>, "images"_a.noconvert(), "out"_a.noconvert(),
           "The same in bfloat16, given as its bits.");
  bind_convolutions(module);
}

}  // namespace warpzone::bindings
