#include "policy/image_convolutions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/centred_image.hpp"
#include "policy/slope_lists.hpp"

namespace warpzone::policy {
namespace {

constexpr std::size_t kForwardPiece = 8;
/// Fixed, since it decides the order in which gradients are added up.
constexpr std::size_t kGradientPiece = 32;

std::size_t piece_count(std::size_t samples, std::size_t piece) {
  return (samples + piece - 1) / piece;
}

/// [positions][channels] to [channels][positions].
void turn(const float* from, std::size_t positions, float* to) {
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (std::size_t i = 0; i < positions; ++i) *to++ = from[i * kChannels + channel];
  }
}

}  // namespace

/// Memory of one thread.
struct ImageConvolutions::Scratch {
  Scratch(const ImageLayers& layers, const ConvolutionKernels& kernels)
      : image(layers, kernels),
        grid(layers.grid_size()),
        out(layers.out_size()),
        out_slopes(layers, kernels),
        slopes(layers.grid_size()),
        rounded(static_cast<std::size_t>(layers.rows * layers.pairs * kChannels)) {}

  CentredImage image;
  AlignedFloats grid;  ///< For callers that do not keep it; margins are zeros.
  AlignedFloats out;   ///< [positions][channels]
  SlopeLists out_slopes;
  AlignedFloats slopes;  ///< Gradient of the grid.
  std::vector<Pair, AlignedAllocator<Pair>> rounded;
};

ImageConvolutions::ImageConvolutions(const ImageShape& shape, int threads, const Kernels& kernels)
    : layers_(shape), kernels_(kernels), workers_(threads), weights_(layers_) {
  for (int y = 0; y < layers_.out_rows; ++y) {
    for (int x = 0; x < layers_.out_columns; ++x) {
      corners_.push_back(
          static_cast<std::uint32_t>((2 * y * layers_.grid_columns + 2 * x) * kChannels));
    }
  }
  for (int i = 0; i < workers_.count(); ++i) {
    scratches_.push_back(std::make_unique<Scratch>(layers_, kernels_.convolutions));
  }
}

ImageConvolutions::~ImageConvolutions() = default;

template <typename Work>
void ImageConvolutions::run(std::size_t pieces, const Work& work) {
  std::atomic<std::size_t> next{0};
  workers_.run(workers_.count(), [&](int thread) {
    Scratch& scratch = *scratches_[static_cast<std::size_t>(thread)];
    for (std::size_t piece = next++; piece < pieces; piece = next++) work(scratch, piece);
  });
}

void ImageConvolutions::forward(const ConvolutionArrays& weights, const std::uint8_t* images,
                                std::size_t count, float* grids, float* out) {
  const std::scoped_lock lock(mutex_);
  weights_.set(weights);
  run(piece_count(count, kForwardPiece), [&](Scratch& scratch, std::size_t piece) {
    const std::size_t begin = piece * kForwardPiece;
    for (std::size_t i = begin; i < std::min(count, begin + kForwardPiece); ++i) {
      float* grid = scratch.grid.data();
      if (grids != nullptr) {
        grid = grids + i * layers_.grid_size();
        std::fill_n(grid, layers_.grid_size(), 0.0F);
      }
      forward_one(scratch, images + i * layers_.image.size(), grid, out + i * layers_.out_size());
    }
  });
}

void ImageConvolutions::forward_one(Scratch& scratch, const std::uint8_t* image, float* grid,
                                    float* out) const {
  scratch.image.read(image);
  scratch.image.find_windows();
  kernels_.convolutions.first_forward(
      layers_, {scratch.image.pixels(), scratch.image.windows(), weights_.first(),
                weights_.first_scale(), weights_.first_bias(), grid});
  float* sums = scratch.out.data();
  const auto positions = static_cast<std::size_t>(layers_.out_positions());
  for (std::size_t i = 0; i < positions; ++i) {
    std::copy_n(weights_.second_bias(), kChannels, sums + i * kChannels);
  }
  const auto columns = static_cast<std::size_t>(layers_.out_columns);
  const auto row_size = static_cast<std::size_t>(layers_.grid_columns * kChannels);
  constexpr std::size_t kDepth = kTaps * kChannels;  // Inputs of a row of taps lie together.
  for (std::size_t tap = 0; tap < kTaps; ++tap) {
    for (std::size_t row = 0; row < static_cast<std::size_t>(layers_.out_rows); ++row) {
      kernels_.convolutions.add_products({grid + (2 * row + tap) * row_size, 2 * kChannels,
                                          weights_.second() + tap * kDepth * kChannels, kDepth,
                                          sums + row * columns * kChannels, kChannels, columns});
    }
  }
  for (float& sum : scratch.out) sum = sum < 0.0F ? 0.0F : sum;
  turn(sums, positions, out);
}

void ImageConvolutions::gradient(const Backward& pass, const Gradients& gradients) {
  const std::scoped_lock lock(mutex_);
  weights_.set(pass.weights);
  const std::size_t pieces = std::max<std::size_t>(1, piece_count(pass.count, kGradientPiece));
  while (sums_.size() < pieces) sums_.emplace_back(layers_);
  run(pieces, [&](Scratch& scratch, std::size_t piece) {
    ConvolutionGradients& sums = sums_[piece];
    sums.clear();
    const std::size_t begin = piece * kGradientPiece;
    for (std::size_t i = begin; i < std::min(pass.count, begin + kGradientPiece); ++i) {
      gradient_one(scratch, pass, i, sums);
    }
  });
  for (std::size_t piece = 1; piece < pieces; ++piece) sums_[0].add(sums_[piece]);
  sums_[0].copy_first(layers_, gradients.first);
  sums_[0].copy_second(gradients.second);
  std::copy(sums_[0].first_bias.begin(), sums_[0].first_bias.end(), gradients.first_bias);
  std::copy(sums_[0].second_bias.begin(), sums_[0].second_bias.end(), gradients.second_bias);
}

void ImageConvolutions::gradient_one(Scratch& scratch, const Backward& pass, std::size_t sample,
                                     ConvolutionGradients& sums) const {
  const std::size_t at = sample * layers_.out_size();
  if (!scratch.out_slopes.read(pass.out + at, pass.out_gradient + at)) {
    return;  // Self-imitation learns nothing from many samples.
  }
  scratch.out_slopes.add_to(sums.second_bias);
  const float* grid = pass.grids + sample * layers_.grid_size();
  const OutSlopes slopes = scratch.out_slopes.slopes();
  kernels_.convolutions.second_gradient(layers_,
                                        {slopes, grid, corners_.data(), sums.second.data()});
  std::fill(scratch.slopes.begin(), scratch.slopes.end(), 0.0F);
  kernels_.convolutions.grid_gradient(
      layers_, {slopes, weights_.second_turned(), corners_.data(), scratch.slopes.data()});
  scratch.image.read(pass.images + sample * layers_.image.size());
  first_gradient(scratch, grid, sums);
}

void ImageConvolutions::first_gradient(Scratch& scratch, const float* grid,
                                       ConvolutionGradients& sums) const {
  AlignedFloats totals(kChannels);
  const float largest =
      kernels_.convolutions.rectify_slopes(layers_, {grid, scratch.slopes.data(), totals.data()});
  for (std::size_t i = 0; i < kChannels; ++i) sums.first_bias[i] += totals[i];
  // A sum that is not finite makes all gradients not finite, and the learner skips them.
  const float total = std::accumulate(totals.begin(), totals.end(), 0.0F);
  const float factor = rounding_factor(
      largest, std::isfinite(total) ? double{largest} * layers_.positions() : double{total},
      layers_.positions());
  if (factor == 0.0F) return;
  if (std::isnan(factor)) return std::fill(sums.first.begin(), sums.first.end(), factor);
  kernels_.convolutions.round_slopes(layers_, scratch.slopes.data(), factor,
                                     scratch.rounded.data());
  scratch.image.find_pairs();
  kernels_.convolutions.first_gradient(
      layers_, {scratch.image.pairs(), scratch.image.offsets(), scratch.image.words(),
                scratch.image.word_count(), scratch.rounded.data(), 1.0F / (128.0F * factor),
                sums.first.data()});
}

}  // namespace warpzone::policy
