/// Convolutions as templates over an instruction set. Included only by the files that compile them
/// for one instruction set each; see sum_rows.hpp for why nothing here may be visible elsewhere.
#pragma once

#include <cstring>

#include "policy/convolution_kernels.hpp"
#include "policy/sum_rows.hpp"

namespace warpzone::policy {
namespace {

/// A vector of `kWidth` integers or pairs that may lie anywhere in memory.
template <int kWidth>
struct PairVector {
#if defined(__GNUC__)
  typedef Pair Type __attribute__((vector_size(kWidth * sizeof(Pair)), aligned(4), may_alias));
#endif
};

template <>
struct PairVector<1> {
  using Type = Pair;
};

// What `Instructions` need, for those that have no instruction for it:

/// Two rows of 16-bit integers as pairs.
template <int kWidth>
inline typename PairVector<kWidth>::Type joined_pairs(const std::int16_t* low,
                                                      const std::int16_t* high) {
  std::int16_t both[2 * kWidth];
  for (int i = 0; i < kWidth; ++i) {
    both[2 * i] = low[i];
    both[2 * i + 1] = high[i];
  }
  typename PairVector<kWidth>::Type pairs;
  std::memcpy(&pairs, both, sizeof pairs);
  return pairs;
}

/// Bits of the places in which two vectors differ.
template <int kWidth>
inline std::uint64_t differing_places(typename PairVector<kWidth>::Type a,
                                      typename PairVector<kWidth>::Type b) {
  Pair one[kWidth], other[kWidth];
  std::memcpy(one, &a, sizeof a);
  std::memcpy(other, &b, sizeof b);
  std::uint64_t bits = 0;
  for (int i = 0; i < kWidth; ++i) bits |= std::uint64_t{one[i] != other[i]} << i;
  return bits;
}

/// sum + a.low * b.low + a.high * b.high
template <typename Type>
inline Type add_pair_products(Type sum, Type a, Type b) {
  return sum + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}

/// `Instructions` has the width of vectors and `add_products`, `joined` and `differing` for pairs.
template <typename Instructions>
class ConvolutionLoops {
 public:
  static constexpr ConvolutionKernels kernels() {
    return {read_row,    arrange_pairs,   first_forward, first_gradient, add_products,
            read_slopes, second_gradient, grid_gradient, rectify_slopes, round_slopes};
  }

 private:
  static constexpr int kWidth = Instructions::kWidth;
  static constexpr int kVectors = kChannels / kWidth;
  using Float = typename Vector<kWidth>::Type;
  using Pairs = typename PairVector<kWidth>::Type;

  // By value: Clang takes a reference to a vector to be aligned, whatever its type says.
  static Float floats(const float* at) { return *reinterpret_cast<const Float*>(at); }
  static void store(float* at, Float value) { *reinterpret_cast<Float*>(at) = value; }
  static Pairs pairs(const Pair* at) { return *reinterpret_cast<const Pairs*>(at); }
  static void store(Pair* at, Pairs value) { *reinterpret_cast<Pairs*>(at) = value; }

  static Float converted(Pairs sums) {
    if constexpr (kWidth == 1) {
      return static_cast<float>(sums);
    } else {
#if defined(__GNUC__)
      return __builtin_convertvector(sums, Float);
#endif
    }
  }

  static std::size_t first_bit(std::uint64_t bits) {
#if defined(__GNUC__)
    return static_cast<std::size_t>(__builtin_ctzll(bits));
#else
    std::size_t bit = 0;
    for (; (bits & 1) == 0; bits >>= 1) ++bit;
    return bit;
#endif
  }

  /// Where the outputs of a row begin within the grid.
  static std::size_t row_offset(const ImageLayers& layers, int row) {
    return static_cast<std::size_t>(((row + 1) * layers.grid_columns + 1) * kChannels);
  }

  /// Like PyTorch, keeps what is not a number.
  static Float rectified(Float value) { return value < 0.0F ? Float{} : value; }

  /// Bits of the numbers that are not zero.
  static std::uint64_t nonzero(Float values) {
    Pairs bits;
    std::memcpy(&bits, &values, sizeof bits);
    return Instructions::differing(bits, Pairs{});
  }

  static Pair pair_at(const std::int16_t* at) {
    Pair pair;
    std::memcpy(&pair, at, sizeof pair);
    return pair;
  }

  static std::uint64_t read_row(const std::uint8_t* from, std::size_t width, int background,
                                std::int16_t* to) {
    const auto flat = static_cast<Pair>(static_cast<std::uint32_t>(background) * 0x01010101U);
    const std::size_t groups = width / kBlockSide;
    std::uint64_t bits = 0;
    std::size_t group = 0;
    for (; group + kWidth <= groups; group += kWidth) {
      Pairs four;
      std::memcpy(&four, from + group * kBlockSide, sizeof four);
      bits |= Instructions::differing(four, Pairs{} + flat) << group;
    }
    for (; group < groups; ++group) {
      Pair four;
      std::memcpy(&four, from + group * kBlockSide, sizeof four);
      bits |= std::uint64_t{four != flat} << group;
    }
    if (bits == 0) return 0;  // Nobody reads such a row.
    for (std::size_t x = 0; x < width; ++x) to[x] = static_cast<std::int16_t>(from[x] - background);
    return bits;
  }

  static void arrange_pairs(const std::int16_t* row, std::uint64_t bits, Pair* to) {
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t pair = first_bit(bits);
      const std::int16_t* left = row + pair * 2 * kWindowStep;
      // The last vector may repeat a part of the one before.
      for (std::size_t i = 0; i < kWindowSide; i += kWidth) {
        const std::size_t at = i + kWidth <= kWindowSide ? i : kWindowSide - kWidth;
        store(to + pair * kWindowSide + at,
              Instructions::joined(left + at, left + kWindowStep + at));
      }
    }
  }

  static void first_forward(const ImageLayers& layers, const FirstForward& work) {
    const int planes = layers.image.planes;
    const auto stride = static_cast<std::size_t>(layers.pixel_stride);
    const std::size_t plane_size = static_cast<std::size_t>(layers.pixel_rows) * stride;
    std::size_t offsets[kWindowGroups];
    for (std::size_t group = 0; group < kWindowGroups; ++group) {
      offsets[group] = group / kTaps * stride + group % kTaps * kBlockSide;
    }
    const std::uint64_t* window = work.windows;
    for (int row = 0; row < layers.rows; ++row) {
      const std::int16_t* pixels =
          work.pixels + static_cast<std::size_t>(row) * kWindowStep * stride;
      float* out = work.grid + row_offset(layers, row);
      for (int column = 0; column < layers.columns;
           ++column, pixels += kWindowStep, out += kChannels) {
        Pairs sums[kVectors] = {};
        const std::int16_t* plane = pixels;
        const Pair* weights = work.weights;
        for (int i = 0; i < planes; ++i) {
          for (std::uint64_t bits = *window++; bits != 0; bits &= bits - 1) {
            const auto group = first_bit(bits);
            add_group(plane + offsets[group], weights + group * 2 * kChannels, sums);
          }
          plane += plane_size;
          weights += kWindowGroups * 2 * kChannels;
        }
        for (int i = 0; i < kVectors; ++i) {
          store(out + i * kWidth, rectified(floats(work.bias + i * kWidth) +
                                            floats(work.scale + i * kWidth) * converted(sums[i])));
        }
      }
    }
  }

  /// Four pixels times their weights.
  static void add_group(const std::int16_t* pixels, const Pair* weights, Pairs* sums) {
    const Pairs left = Pairs{} + pair_at(pixels), right = Pairs{} + pair_at(pixels + 2);
    for (int i = 0; i < kVectors; ++i) {
      sums[i] = Instructions::add_products(sums[i], left, pairs(weights + i * kWidth));
    }
    for (int i = 0; i < kVectors; ++i) {
      sums[i] = Instructions::add_products(sums[i], right, pairs(weights + kChannels + i * kWidth));
    }
  }

  static void first_gradient(const ImageLayers& layers, const FirstGradient& work) {
    const auto row_size = static_cast<std::size_t>(layers.pairs * kWindowSide);
    for (int plane = 0, group = 0; plane < layers.image.planes; ++plane) {
      for (int row = 0; row < kWindowSide; ++row) {
        for (int tap = 0; tap < kTaps; ++tap, ++group) {
          const std::size_t from = static_cast<std::size_t>(plane * layers.pixel_rows + row);
          const Pair* pixels =
              work.pixels + from * row_size + static_cast<std::size_t>(tap) * kBlockSide;
          constexpr int kCount = 2;  // Four rows of two vectors of sums fit into registers.
          for (int channel = 0; channel < kChannels; channel += kCount * kWidth) {
            add_slopes<kCount>(work, pixels, static_cast<std::size_t>(group), channel);
          }
        }
      }
    }
  }

  /// The gradient of four pixels' weights, for some channels.
  template <int kCount>
  static void add_slopes(const FirstGradient& work, const Pair* pixels, std::size_t group,
                         int channel) {
    Pairs sums[kBlockSide][kCount] = {};
    bool any = false;
    for (std::size_t word = 0; word < work.word_count; ++word) {
      const std::uint64_t all = work.words[group * work.word_count + word];
      any = any || all != 0;
      for (std::uint64_t bits = all; bits != 0; bits &= bits - 1) {
        const std::size_t at = word * 64 + first_bit(bits);
        const Pair* values = pixels + work.offsets[at];
        const Pair* slopes = work.slopes + at * kChannels + channel;
        Pairs row[kCount];
        for (int i = 0; i < kCount; ++i) row[i] = pairs(slopes + i * kWidth);
        for (int pixel = 0; pixel < kBlockSide; ++pixel) {
          const Pairs value = Pairs{} + values[pixel];
          for (int i = 0; i < kCount; ++i) {
            sums[pixel][i] = Instructions::add_products(sums[pixel][i], value, row[i]);
          }
        }
      }
    }
    if (!any) return;
    float* gradient = work.gradient + group * kBlockSide * kChannels + channel;
    for (int pixel = 0; pixel < kBlockSide; ++pixel, gradient += kChannels) {
      for (int i = 0; i < kCount; ++i) {
        store(gradient + i * kWidth,
              floats(gradient + i * kWidth) + work.scale * converted(sums[pixel][i]));
      }
    }
  }

  static constexpr std::size_t kBlockInputs = 3, kBlockVectors = 4;  ///< Their sums fit.

  static void add_products(const Products& work) {
    for (std::size_t i = 0; i < work.count;) {
      const std::size_t left = work.count - i;
      const float* inputs = work.inputs + i * work.input_step;
      float* out = work.out + i * work.out_step;
      if (left >= kBlockInputs) {
        add_block<kBlockInputs>(work, inputs, out);
        i += kBlockInputs;
      } else {
        add_block<1>(work, inputs, out);
        ++i;
      }
    }
  }

  template <std::size_t kInputs>
  static void add_block(const Products& work, const float* inputs, float* out) {
    constexpr std::size_t kCount = kBlockVectors;
    for (std::size_t first = 0; first < kChannels; first += kCount * kWidth) {
      Float sums[kInputs][kCount];
      for (std::size_t i = 0; i < kInputs; ++i) {
        for (std::size_t j = 0; j < kCount; ++j) {
          sums[i][j] = floats(out + i * work.out_step + first + j * kWidth);
        }
      }
      const float* weights = work.weights + first;
      for (std::size_t k = 0; k < work.depth; ++k, weights += kChannels) {
        Float row[kCount];
        for (std::size_t j = 0; j < kCount; ++j) row[j] = floats(weights + j * kWidth);
        for (std::size_t i = 0; i < kInputs; ++i) {
          const float value = inputs[i * work.input_step + k];
          for (std::size_t j = 0; j < kCount; ++j) sums[i][j] += value * row[j];
        }
      }
      for (std::size_t i = 0; i < kInputs; ++i) {
        for (std::size_t j = 0; j < kCount; ++j) {
          store(out + i * work.out_step + first + j * kWidth, sums[i][j]);
        }
      }
    }
  }

  static constexpr std::size_t kRowSize = kTaps * kChannels;  ///< Inputs of a row of taps.
  static constexpr std::size_t kRowVectors = 12;              ///< That fit into registers.
  static constexpr std::size_t kPartSize = kRowVectors * kWidth;
  static_assert(kRowSize % kPartSize == 0);

  static bool read_slopes(const ImageLayers& layers, const SlopeReading& work) {
    const auto positions = static_cast<std::size_t>(layers.out_positions());
    const float *out = work.out, *gradient = work.gradient;
    float* own = work.by_channel;
    std::uint64_t any = 0;
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      std::uint64_t* words = work.positions + channel * work.word_count;
      for (std::size_t word = 0; word < work.word_count; ++word) {
        const std::size_t left = positions - word * 64, count = left < 64 ? left : 64;
        const std::uint64_t bits = pass_slopes(out, gradient, count, own);
        words[word] = bits;
        any |= bits;
        out += count;
        gradient += count;
        own += count;
      }
    }
    for (std::size_t at = 0; at < positions; ++at) {
      float* turned = work.by_position + at * kChannels;
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        turned[channel] = work.by_channel[channel * positions + at];
      }
      std::uint64_t bits = 0;
      for (int i = 0; i < kVectors; ++i) {
        bits |= nonzero(floats(turned + i * kWidth)) << (i * kWidth);
      }
      work.channels[at] = static_cast<std::uint32_t>(bits);
    }
    return any != 0;
  }

  /// Gradients where the output is above zero, and bits of those that are not zero.
  static std::uint64_t pass_slopes(const float* out, const float* gradient, std::size_t count,
                                   float* slopes) {
    std::uint64_t bits = 0;
    std::size_t i = 0;
    for (; i + kWidth <= count; i += kWidth) {
      const Float slope = floats(out + i) > 0.0F ? floats(gradient + i) : Float{};
      store(slopes + i, slope);
      bits |= nonzero(slope) << i;
    }
    for (; i < count; ++i) {
      slopes[i] = out[i] > 0.0F ? gradient[i] : 0.0F;
      bits |= std::uint64_t{slopes[i] != 0.0F} << i;
    }
    return bits;
  }

  static void second_gradient(const ImageLayers& layers, const SecondGradient& work) {
    const auto positions = static_cast<std::size_t>(layers.out_positions());
    const OutSlopes& slopes = work.slopes;
    float* gradient = work.gradient;
    for (int tap = 0; tap < kTaps; ++tap) {
      const float* grid = work.grid + tap * layers.grid_columns * kChannels;
      for (std::size_t channel = 0; channel < kChannels; ++channel, gradient += kRowSize) {
        const float* own = slopes.by_channel + channel * positions;
        for (std::size_t first = 0; first < kRowSize; first += kPartSize) {
          Float sums[kRowVectors];
          load_part(gradient + first, sums);
          for (std::size_t word = 0; word < slopes.word_count; ++word) {
            std::uint64_t bits = slopes.positions[channel * slopes.word_count + word];
            for (; bits != 0; bits &= bits - 1) {
              const std::size_t at = word * 64 + first_bit(bits);
              add_part(own[at], grid + work.corners[at] + first, sums);
            }
          }
          store_part(sums, gradient + first);
        }
      }
    }
  }

  static void grid_gradient(const ImageLayers& layers, const GridGradient& work) {
    const auto positions = static_cast<std::size_t>(layers.out_positions());
    const float* weights = work.weights;
    for (int tap = 0; tap < kTaps; ++tap, weights += kChannels * kRowSize) {
      for (std::size_t at = 0; at < positions; ++at) {
        const float* slopes = work.slopes.by_position + at * kChannels;
        float* gradient = work.gradient + work.corners[at] + tap * layers.grid_columns * kChannels;
        for (std::size_t first = 0; first < kRowSize; first += kPartSize) {
          Float sums[kRowVectors];
          load_part(gradient + first, sums);
          for (std::uint64_t bits = work.slopes.channels[at]; bits != 0; bits &= bits - 1) {
            const std::size_t channel = first_bit(bits);
            add_part(slopes[channel], weights + channel * kRowSize + first, sums);
          }
          store_part(sums, gradient + first);
        }
      }
    }
  }

  static void load_part(const float* from, Float* sums) {
    for (std::size_t i = 0; i < kRowVectors; ++i) sums[i] = floats(from + i * kWidth);
  }
  static void add_part(float factor, const float* row, Float* sums) {
    for (std::size_t i = 0; i < kRowVectors; ++i) sums[i] += factor * floats(row + i * kWidth);
  }
  static void store_part(const Float* sums, float* to) {
    for (std::size_t i = 0; i < kRowVectors; ++i) store(to + i * kWidth, sums[i]);
  }

  static float rectify_slopes(const ImageLayers& layers, const GridSlopes& work) {
    Float largest{};
    Float sums[kVectors];
    for (int i = 0; i < kVectors; ++i) sums[i] = floats(work.sums + i * kWidth);
    for (int row = 0; row < layers.rows; ++row) {
      const std::size_t begin = row_offset(layers, row);
      for (int column = 0; column < layers.columns; ++column) {
        for (int i = 0; i < kVectors; ++i) {
          const std::size_t at = begin + static_cast<std::size_t>(column * kChannels + i * kWidth);
          const Float slope = floats(work.grid + at) > 0.0F ? floats(work.slopes + at) : Float{};
          const Float size = slope < 0.0F ? -slope : slope;
          largest = size > largest ? size : largest;
          sums[i] += slope;
          store(work.slopes + at, slope);
        }
      }
    }
    for (int i = 0; i < kVectors; ++i) store(work.sums + i * kWidth, sums[i]);
    float lanes[kWidth], result = 0.0F;
    store(lanes, largest);
    for (const float lane : lanes) result = lane > result ? lane : result;
    return result;
  }

  /// To the nearest integer, for numbers of at most 22 bits: the sum's last bits are the result.
  static Pairs rounded(Float value) {
    constexpr float kShift = 12582912.0F;  // 1.5 * 2^23
    const Float shifted = value + kShift;
    Pairs bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4B400000;
  }

  static void round_slopes(const ImageLayers& layers, const float* slopes, float factor,
                           Pair* out) {
    for (int row = 0; row < layers.rows; ++row) {
      const float* from = slopes + row_offset(layers, row);
      for (int pair = 0; pair < layers.pairs; ++pair, from += 2 * kChannels, out += kChannels) {
        const bool alone = 2 * pair + 1 == layers.columns;
        for (int i = 0; i < kVectors; ++i) {
          const Pairs low = rounded(factor * floats(from + i * kWidth));
          const Pairs high =
              alone ? Pairs{} : rounded(factor * floats(from + kChannels + i * kWidth));
          store(out + i * kWidth, (low & 0xFFFF) | (high << 16));
        }
      }
    }
  }
};

}  // namespace
}  // namespace warpzone::policy
