/// The two convolutions of the space-to-depth network with their ReLUs: forward, and the gradient
/// of their weights.
///
/// Results equal PyTorch's within 1e-4 of the largest one: weights of the first convolution and the
/// gradients of its outputs are rounded to 16 bits; see convolution_kernels.hpp. Threads share out
/// samples; gradients are added up over fixed groups of samples in order, so results do not depend
/// on the number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/workers.hpp"
#include "policy/aligned.hpp"
#include "policy/convolution_weights.hpp"
#include "policy/image_layers.hpp"
#include "policy/kernels.hpp"

namespace warpzone::policy {

/// Callers wait for each other.
class ImageConvolutions {
 public:
  /// Throws as `ImageLayers` does.
  ImageConvolutions(const ImageShape& shape, int threads, const Kernels& kernels);
  ~ImageConvolutions();

  const ImageLayers& layers() const { return layers_; }
  const Kernels& kernels() const { return kernels_; }
  int threads() const { return workers_.count(); }

  /// Computes outputs, [count][channels][rows][columns].
  ///
  /// Args: the weights, [count] images, and an array for the outputs of the first convolution,
  /// [count][grid_size], which `gradient` needs; null if there will be none.
  void forward(const ConvolutionArrays& weights, const std::uint8_t* images, std::size_t count,
               float* grids, float* out);

  /// What `forward` got and returned, and the gradient of its outputs.
  struct Backward {
    ConvolutionArrays weights;
    const std::uint8_t* images;
    const float* grids;
    const float* out;
    const float* out_gradient;
    std::size_t count;
  };
  struct Gradients {
    float *first, *first_bias, *second, *second_bias;
  };
  /// Overwrites the gradients of the weights.
  void gradient(const Backward& pass, const Gradients& gradients);

 private:
  struct Scratch;

  /// Calls `work(scratch, piece)` for every piece; each thread has scratch memory of its own.
  template <typename Work>
  void run(std::size_t pieces, const Work& work);
  void forward_one(Scratch& scratch, const std::uint8_t* image, float* grid, float* out) const;
  void gradient_one(Scratch& scratch, const Backward& pass, std::size_t sample,
                    ConvolutionGradients& sums) const;
  void first_gradient(Scratch& scratch, const float* grid, ConvolutionGradients& sums) const;

  const ImageLayers layers_;
  const Kernels& kernels_;
  Workers workers_;
  std::mutex mutex_;
  ConvolutionWeights weights_;
  std::vector<std::uint32_t> corners_;  ///< From the grid to the first input of each output.
  // Kept from call to call for their memory.
  std::vector<std::unique_ptr<Scratch>> scratches_;
  std::vector<ConvolutionGradients> sums_;
};

}  // namespace warpzone::policy
