/// Images as the input of a network.
#include <nanobind/ndarray.h>

#include "bindings/bindings.hpp"
#include "bindings/caller_arrays.hpp"
#include "policy/image_blocks.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

using policy::ImageBlocks;

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
}

}  // namespace warpzone::bindings
