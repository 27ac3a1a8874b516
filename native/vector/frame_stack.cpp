#include "vector/frame_stack.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "mario/tiles.hpp"

namespace warpzone {
namespace {

constexpr std::size_t kScreenPixels = nes::kScreenWidth * nes::kScreenHeight;
constexpr std::array<nes::Channel, 1> kGrey = {nes::Channel::kGrey};
constexpr std::array<nes::Channel, 3> kColors = {nes::Channel::kRed, nes::Channel::kGreen,
                                                 nes::Channel::kBlue};

}  // namespace

FrameStack::FrameStack(const LaneSettings& settings, const ImageWriter& image)
    : settings_(settings),
      image_(image),
      frame_size_(settings.frame_size()),
      frames_(settings.obs_size()),
      kept_(settings.pools() ? kScreenPixels * channels().size() : 0) {}

std::span<const nes::Channel> FrameStack::channels() const {
  if (settings_.obs == ObsKind::kRgb) return kColors;
  return kGrey;
}

void FrameStack::keep_for_pooling(const nes::Console& console) {
  std::uint8_t* plane = kept_.data();
  for (const nes::Channel channel : channels()) {
    image_.read_plane(console, channel, plane);
    plane += kScreenPixels;
  }
  has_kept_ = true;
}

void FrameStack::push(const nes::Console& console, std::uint8_t buttons) {
  newest_ = (newest_ + 1) % settings_.stack;
  take(console, buttons, frames_.data() + static_cast<std::size_t>(newest_) * frame_size_);
  has_kept_ = false;
}

void FrameStack::fill(const nes::Console& console, std::uint8_t buttons) {
  has_kept_ = false;
  newest_ = 0;
  take(console, buttons, frames_.data());
  for (std::size_t at = frame_size_; at < frames_.size(); at += frame_size_) {
    std::memcpy(frames_.data() + at, frames_.data(), frame_size_);
  }
}

void FrameStack::take(const nes::Console& console, std::uint8_t buttons, std::uint8_t* frame) {
  if (settings_.obs == ObsKind::kTiles) {
    mario::write_tiles(console.ram(), frame);
    return;
  }
  read_images(console, frame);
  if (settings_.config.show_buttons) image_.show_buttons(buttons, frame);
}

void FrameStack::read_images(const nes::Console& console, std::uint8_t* frame) {
  std::uint8_t plane[kScreenPixels];
  const std::uint8_t* kept = kept_.data();
  for (const nes::Channel channel : channels()) {
    image_.read_plane(console, channel, plane);
    if (has_kept_) {
      for (std::size_t i = 0; i < kScreenPixels; ++i) plane[i] = std::max(plane[i], kept[i]);
      kept += kScreenPixels;
    }
    image_.resize(plane, frame);
    frame += image_.size();
  }
}

const std::uint8_t* FrameStack::frame(int age) const {
  const int at = (newest_ + 1 + age) % settings_.stack;
  return frames_.data() + static_cast<std::size_t>(at) * frame_size_;
}

void FrameStack::write(std::uint8_t* obs) const {
  if (settings_.obs == ObsKind::kRgb && !settings_.channels_first) {
    write_channels_last(obs);
    return;
  }
  for (int i = 0; i < settings_.stack; ++i, obs += frame_size_) {
    std::memcpy(obs, frame(i), frame_size_);
  }
}

void FrameStack::write_channels_last(std::uint8_t* obs) const {
  const std::size_t pixels = image_.size();
  const std::size_t stride = kColors.size() * static_cast<std::size_t>(settings_.stack);
  for (int i = 0; i < settings_.stack; ++i) {
    const std::uint8_t* red = frame(i);
    const std::uint8_t* green = red + pixels;
    const std::uint8_t* blue = green + pixels;
    std::uint8_t* out = obs + kColors.size() * static_cast<std::size_t>(i);
    for (std::size_t pixel = 0; pixel < pixels; ++pixel, out += stride) {
      out[0] = red[pixel];
      out[1] = green[pixel];
      out[2] = blue[pixel];
    }
  }
}

std::vector<std::uint8_t> FrameStack::save() const {
  std::vector<std::uint8_t> result;
  result.reserve(frames_.size());
  for (int i = 0; i < settings_.stack; ++i) {
    result.insert(result.end(), frame(i), frame(i) + frame_size_);
  }
  return result;
}

void FrameStack::load(std::span<const std::uint8_t> frames) {
  std::copy(frames.begin(), frames.end(), frames_.begin());
  newest_ = settings_.stack - 1;
  has_kept_ = false;
}

}  // namespace warpzone
