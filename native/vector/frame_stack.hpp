/// The last frames of one lane (images or tile grids), stacked into an observation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nes/console.hpp"
#include "vector/config.hpp"
#include "vector/image.hpp"

namespace warpzone {

class FrameStack {
 public:
  /// Both arguments must outlive the stack.
  FrameStack(const LaneSettings& settings, const ImageWriter& image);

  /// max_pool: keeps what the console shows now, for the next `push`.
  void keep_for_pooling(const nes::Console& console);
  /// Adds what the console shows now, pooled with the frame that was kept, if any. `buttons` are
  /// those of the last emulated frame.
  void push(const nes::Console& console, std::uint8_t buttons);
  /// Makes every frame what the console shows now.
  void fill(const nes::Console& console, std::uint8_t buttons);

  /// Writes the frames as an observation, oldest first.
  void write(std::uint8_t* obs) const;

  /// All frames, oldest first, for a save state; `load` takes them back.
  std::vector<std::uint8_t> save() const;
  void load(std::span<const std::uint8_t> frames);

 private:
  void take(const nes::Console& console, std::uint8_t buttons, std::uint8_t* frame);
  void read_images(const nes::Console& console, std::uint8_t* frame);
  std::span<const nes::Channel> channels() const;
  /// The i-th frame, counted from the oldest.
  const std::uint8_t* frame(int age) const;
  void write_channels_last(std::uint8_t* obs) const;

  const LaneSettings& settings_;
  const ImageWriter& image_;
  std::size_t frame_size_;
  std::vector<std::uint8_t> frames_;  ///< A ring; images are planes, whatever the observation is.
  int newest_ = 0;
  std::vector<std::uint8_t> kept_;  ///< Whole-screen planes of the frame before; max_pool only.
  bool has_kept_ = false;
};

}  // namespace warpzone
