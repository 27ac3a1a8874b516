// Native convolutions against their literal definition in double precision, for every instruction
// set that this machine has.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "common/random.hpp"
#include "policy/image_convolutions.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

/// Largest error, per unit of the largest absolute value of all results.
constexpr double kTolerance = 1e-4;

std::size_t index(int value) { return static_cast<std::size_t>(value); }

/// Three dimensions: [channels][rows][columns].
struct Cube {
  int channels = 0, rows = 0, columns = 0;
  Doubles values;

  Cube(int channels_, int rows_, int columns_)
      : channels(channels_),
        rows(rows_),
        columns(columns_),
        values(index(channels * rows * columns)) {}
  double& at(int channel, int row, int column) {
    return values[index((channel * rows + row) * columns + column)];
  }
};

/// Calls use(output index, input index, weight index) for all products of a convolution.
template <typename Use>
void for_each_product(const Cube& in, const Cube& out, const Use& use) {
  for (int o = 0; o < out.channels; ++o) {
    for (int y = 0; y < out.rows; ++y) {
      for (int x = 0; x < out.columns; ++x) {
        for (int i = 0; i < in.channels; ++i) {
          for (int tap = 0; tap < 9; ++tap) {
            const int row = 2 * y + tap / 3 - 1, column = 2 * x + tap % 3 - 1;
            if (row < 0 || column < 0 || row >= in.rows || column >= in.columns) continue;
            use(index((o * out.rows + y) * out.columns + x),
                index((i * in.rows + row) * in.columns + column),
                index((o * in.channels + i) * 9 + tap));
          }
        }
      }
    }
  }
}

Cube convolved(const Cube& in, const Floats& weights, const Floats& bias) {
  Cube out(kChannels, (in.rows + 1) / 2, (in.columns + 1) / 2);
  const std::size_t positions = index(out.rows * out.columns);
  for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = bias[i / positions];
  for_each_product(in, out, [&](std::size_t o, std::size_t i, std::size_t w) {
    out.values[o] += in.values[i] * weights[w];
  });
  for (double& value : out.values) value = std::max(value, 0.0);
  return out;
}

Cube blocks_of(const std::uint8_t* image, const ImageShape& shape) {
  const int background = background_of(image, shape);
  Cube cube(shape.planes * 16, shape.height / 4, shape.width / 4);
  for (int plane = 0; plane < shape.planes; ++plane) {
    for (int y = 0; y < shape.height; ++y) {
      for (int x = 0; x < shape.width; ++x, ++image) {
        cube.at(plane * 16 + y % 4 * 4 + x % 4, y / 4, x / 4) = (*image - background) / 128.0;
      }
    }
  }
  return cube;
}

/// Images, weights and the results of native code.
struct Trial {
  ImageConvolutions convolutions;
  std::size_t count;
  Bytes images;
  Floats first, first_bias, second, second_bias;
  Floats grids, out, out_gradient;
  Floats first_gradient, first_bias_gradient, second_gradient, second_bias_gradient;

  Trial(const ImageShape& shape, int threads, const Kernels& kernels, std::size_t count_)
      : convolutions(shape, threads, kernels), count(count_) {
    Random random{7};
    const ImageLayers& layers = convolutions.layers();
    const auto filled = [&](std::size_t size, double most) {
      Floats values(size);
      for (float& value : values) value = static_cast<float>((2.0 * random.uniform() - 1.0) * most);
      return values;
    };
    images.assign(count * shape.size(), 99);
    // The first image is flat; others have more and more that differs from the background.
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (random.below(static_cast<std::uint32_t>(count)) < i / shape.size()) {
        images[i] = static_cast<std::uint8_t>(random.below(256));
      }
    }
    first = filled(layers.first_size(), 0.3);
    first_bias = filled(kChannels, 0.2);
    second = filled(ImageLayers::second_size(), 0.3);
    second_bias = filled(kChannels, 0.2);
    out_gradient = filled(count * layers.out_size(), 1.0);
    grids.assign(count * layers.grid_size(), 5.0F);
    out.resize(count * layers.out_size());
    first_gradient.resize(first.size());
    first_bias_gradient.resize(kChannels);
    second_gradient.resize(second.size());
    second_bias_gradient.resize(kChannels);
  }

  ConvolutionArrays weights() const {
    return {first.data(), first_bias.data(), second.data(), second_bias.data()};
  }
  void forward() {
    convolutions.forward(weights(), images.data(), count, grids.data(), out.data());
  }
  void gradient() {
    convolutions.gradient(
        {weights(), images.data(), grids.data(), out.data(), out_gradient.data(), count},
        {first_gradient.data(), first_bias_gradient.data(), second_gradient.data(),
         second_bias_gradient.data()});
  }
  void run() {
    forward();
    gradient();
  }
};

void check_near(const Floats& numbers, const Doubles& expected) {
  double largest = 0.0, error = 0.0;
  CHECK_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    error = std::max(error, std::abs(numbers[i] - expected[i]));
  }
  CHECK(error <= kTolerance * largest);
}

/// Checks a trial's results. Gradients pass where native code says that an output is above zero: an
/// output next to zero may be on either side.
void check_literally(Trial& trial) {
  const ImageLayers& layers = trial.convolutions.layers();
  Doubles out, first(trial.first.size()), first_bias(kChannels), second(trial.second.size()),
      second_bias(kChannels);
  for (std::size_t sample = 0; sample < trial.count; ++sample) {
    const Cube blocks = blocks_of(trial.images.data() + sample * layers.image.size(), layers.image);
    const Cube grid = convolved(blocks, trial.first, trial.first_bias);
    const Cube result = convolved(grid, trial.second, trial.second_bias);
    out.insert(out.end(), result.values.begin(), result.values.end());
    Doubles slopes(result.values.size()), grid_slopes(grid.values.size());
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const std::size_t at = sample * slopes.size() + i;
      slopes[i] = trial.out[at] > 0.0F ? trial.out_gradient[at] : 0.0;
      second_bias[i / index(layers.out_positions())] += slopes[i];
    }
    for_each_product(grid, result, [&](std::size_t o, std::size_t i, std::size_t w) {
      second[w] += slopes[o] * grid.values[i];
      grid_slopes[i] += slopes[o] * trial.second[w];
    });
    for (std::size_t i = 0; i < grid_slopes.size(); ++i) {
      const int position = static_cast<int>(i) % layers.positions();
      const int channel = static_cast<int>(i) / layers.positions();
      const int row = position / layers.columns + 1, column = position % layers.columns + 1;
      const float* kept = trial.grids.data() + sample * layers.grid_size();
      if (!(kept[(row * layers.grid_columns + column) * kChannels + channel] > 0.0F)) {
        grid_slopes[i] = 0.0;
      }
      first_bias[index(channel)] += grid_slopes[i];
    }
    for_each_product(blocks, grid, [&](std::size_t o, std::size_t i, std::size_t w) {
      first[w] += grid_slopes[o] * blocks.values[i];
    });
  }
  check_near(trial.out, out);
  check_near(trial.first_gradient, first);
  check_near(trial.first_bias_gradient, first_bias);
  check_near(trial.second_gradient, second);
  check_near(trial.second_bias_gradient, second_bias);
}

TEST(every_available_instruction_set_convolves_images_of_any_size) {
  for (const Kernels& kernels : available_kernels()) {
    std::printf("  %s\n", kernels.name);
    for (const ImageShape& shape : {ImageShape{1, 4, 4},
                                    {3, 8, 20},
                                    {2, 12, 8},
                                    {1, 16, 32},
                                    {1, 36, 24},
                                    {2, 84, 84},
                                    {1, 136, 144},
                                    {1, 8, 248},
                                    {1, 248, 12}}) {
      Trial trial(shape, 1, kernels, 3);
      trial.run();
      check_literally(trial);
    }
  }
}

TEST(results_do_not_depend_on_the_number_of_threads) {
  const Kernels& kernels = kernels_named("auto");
  Trial one({2, 20, 28}, 1, kernels, 70);
  one.run();
  for (const int threads : {2, 3, 5}) {
    Trial other({2, 20, 28}, threads, kernels, 70);
    other.run();
    CHECK(one.out == other.out);
    CHECK(one.first_gradient == other.first_gradient);
    CHECK(one.first_bias_gradient == other.first_bias_gradient);
    CHECK(one.second_gradient == other.second_gradient);
    CHECK(one.second_bias_gradient == other.second_bias_gradient);
  }
}

TEST(the_first_convolution_is_the_same_with_every_instruction_set_except_for_one_rounding) {
  Trial plain({2, 20, 28}, 1, kernels_named("auto"), 4);
  plain.forward();
  for (const Kernels& kernels : available_kernels()) {
    Trial other({2, 20, 28}, 1, kernels, 4);
    other.forward();
    for (std::size_t i = 0; i < plain.grids.size(); ++i) {
      CHECK(std::abs(plain.grids[i] - other.grids[i]) <= 1e-6F);
    }
  }
}

TEST(outputs_alone_are_those_that_are_computed_with_what_gradients_need) {
  Trial trial({2, 20, 28}, 2, kernels_named("auto"), 9);
  trial.forward();
  Floats alone(trial.out.size());
  trial.convolutions.forward(trial.weights(), trial.images.data(), trial.count, nullptr,
                             alone.data());
  CHECK(alone == trial.out);
}

TEST(weights_that_change_in_place_are_noticed) {
  const auto change = [](Trial& trial, int part) {
    const std::array<Floats*, 4> parts{&trial.first, &trial.first_bias, &trial.second,
                                       &trial.second_bias};
    parts[index(part)]->back() += 0.5F;
  };
  for (int part = 0; part < 4; ++part) {
    Trial again({2, 20, 28}, 1, kernels_named("auto"), 4),
        fresh({2, 20, 28}, 1, kernels_named("auto"), 4);
    again.run();
    const Floats before = again.out;
    change(again, part);
    change(fresh, part);
    again.run();
    fresh.run();
    CHECK(again.out != before);
    CHECK(again.out == fresh.out);
    CHECK(again.first_gradient == fresh.first_gradient);
    CHECK(again.second_gradient == fresh.second_gradient);
  }
}

TEST(weights_of_extreme_sizes_neither_overflow_nor_vanish) {
  for (const float size : {1e-30F, 1.0F, 1e30F}) {
    Trial trial({2, 84, 84}, 1, kernels_named("auto"), 2);
    std::fill(trial.first.begin(), trial.first.end(), size);
    std::fill(trial.first_bias.begin(), trial.first_bias.end(), 0.0F);
    // Darkness with one bright corner, then the largest sum that there can be.
    std::fill(trial.images.begin(), trial.images.end(), 0);
    trial.images[trial.convolutions.layers().image.size() - 1] = 255;
    for (std::size_t i = 0; i < trial.images.size() / 2; ++i) {
      const bool sampled = i / 84 % 84 % 4 == 0 && i % 4 == 0;
      trial.images[trial.images.size() / 2 + i] = sampled ? 0 : 255;
    }
    trial.forward();
    const ImageLayers& layers = trial.convolutions.layers();
    const float bright = 255.0F / 128.0F * size;
    const Floats& grids = trial.grids;
    const std::size_t corner = index((layers.rows * layers.grid_columns + layers.columns) * 32);
    CHECK(std::abs(grids[corner] - bright) <= 1e-4F * bright);
    const std::size_t middle = layers.grid_size() + index((3 * layers.grid_columns + 3) * 32);
    const float most = bright * 2.0F * (144.0F - 9.0F);
    CHECK(std::abs(grids[middle] - most) <= 1e-4F * most);
  }
}

TEST(numbers_that_are_not_finite_reach_the_results) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    Trial weight({2, 20, 28}, 1, kernels_named("auto"), 2);
    weight.first[5] = bad;
    weight.forward();
    CHECK(std::isnan(weight.grids[index((weight.convolutions.layers().grid_columns + 1) * 32)]));
    Trial gradient({2, 20, 28}, 1, kernels_named("auto"), 2);
    std::fill(gradient.second_bias.begin(), gradient.second_bias.end(), 100.0F);
    gradient.out_gradient[3] = bad;
    gradient.run();
    const auto is_bad = [](float value) { return !std::isfinite(value); };
    CHECK(std::any_of(gradient.second_bias_gradient.begin(), gradient.second_bias_gradient.end(),
                      is_bad));
  }
}

TEST(images_of_other_sizes_are_refused) {
  const Kernels& kernels = kernels_named("auto");
  CHECK_THROWS(ImageConvolutions({1, 6, 8}, 1, kernels), std::invalid_argument);
  CHECK_THROWS(ImageConvolutions({1, 252, 8}, 1, kernels), std::invalid_argument);
  CHECK_THROWS(ImageConvolutions({1, 8, 252}, 1, kernels), std::invalid_argument);
}

}  // namespace
