#include "vector/lane_state.hpp"

#include <cstring>
#include <type_traits>

#include "nes/console.hpp"
#include "nes/hash.hpp"

namespace warpzone {
namespace {

constexpr std::uint32_t kMagic = 0x4C4E5A57;  // "WZNL"
constexpr std::uint32_t kVersion = 3;

struct Header {
  std::uint32_t magic, version;
  std::uint64_t console_size, lane_size, frames_size;
  std::uint64_t shape;     ///< Of the observation that the frames belong to.
  std::uint64_t checksum;  ///< Of everything else.
};
static_assert(std::has_unique_object_representations_v<Header>);

std::uint64_t checksum_of(Header header, std::span<const std::uint8_t> body) {
  header.checksum = 0;
  return nes::hash_bytes({reinterpret_cast<const std::uint8_t*>(&header), sizeof header}) * 31 +
         nes::hash_bytes(body);
}

std::uint64_t shape_of(const LaneSettings& settings) {
  const std::uint32_t numbers[] = {static_cast<std::uint32_t>(settings.obs),
                                   static_cast<std::uint32_t>(settings.hud),
                                   static_cast<std::uint32_t>(settings.height),
                                   static_cast<std::uint32_t>(settings.width),
                                   static_cast<std::uint32_t>(settings.stack),
                                   static_cast<std::uint32_t>(settings.config.show_buttons)};
  return nes::hash_bytes({reinterpret_cast<const std::uint8_t*>(numbers), sizeof numbers});
}

Header read_header(std::span<const std::uint8_t> blob) {
  Header header{};
  std::memcpy(&header, blob.data(), sizeof header);
  if (header.version != kVersion) {
    throw nes::StateError("the save state has lane format version " +
                          std::to_string(header.version) + ", this build reads version " +
                          std::to_string(kVersion));
  }
  const std::span<const std::uint8_t> body = blob.subspan(sizeof header);
  const std::uint64_t limit = body.size();
  if (header.console_size > limit || header.lane_size > limit || header.frames_size > limit ||
      header.console_size + header.lane_size + header.frames_size != limit) {
    throw nes::StateError("the save state is cut or padded: its parts do not add up to " +
                          std::to_string(blob.size()) + " bytes");
  }
  if (checksum_of(header, body) != header.checksum) {
    throw nes::StateError("the save state was altered: its checksum does not match");
  }
  return header;
}

bool is_truth(const bool& value) {
  std::uint8_t byte;
  std::memcpy(&byte, &value, sizeof byte);
  return byte <= 1;
}

bool is_small(std::int32_t value) { return value >= -(1 << 29) && value <= (1 << 29); }

bool is_small(double value) { return value > -1e30 && value < 1e30; }

}  // namespace

bool is_sound(const mario::Tracker& tracker) {
  const mario::Progress& progress = tracker.progress;
  const mario::Episode& episode = tracker.episode;
  const mario::Events& events = episode.events;
  for (const bool* truth :
       {&events.clear, &events.game_cleared, &events.death, &events.warp, &events.game_over,
        &events.level_changed, &episode.dying, &episode.level_cleared}) {
    if (!is_truth(*truth)) return false;
  }
  if (events.cause > mario::DeathCause::kTime ||
      static_cast<int>(episode.end) >= mario::kEndReasonCount) {
    return false;
  }
  for (const std::int32_t number :
       {progress.total, progress.waypoint, progress.start_distance, episode.clears, episode.deaths,
        episode.frames, episode.last_progress, tracker.classic.x_last, tracker.classic.clock_last,
        tracker.classic_reward, tracker.progress_before, tracker.score_before, tracker.coins_before,
        tracker.deaths_before, tracker.clears_before}) {
    if (!is_small(number)) return false;
  }
  for (const mario::Progress::Area& area : progress.areas) {
    if (!is_small(area.furthest)) return false;
  }
  for (const double sum : tracker.sums.values) {
    if (!is_small(sum)) return false;
  }
  return progress.waypoint >= -1 && progress.area_count <= mario::Progress::kMaxAreas &&
         tracker.steps >= 0 && tracker.steps <= kMostSteps && is_small(tracker.episode_return);
}

bool is_lane_state(std::span<const std::uint8_t> blob) {
  std::uint32_t magic = 0;
  if (blob.size() < sizeof(Header)) return false;
  std::memcpy(&magic, blob.data(), sizeof magic);
  return magic == kMagic;
}

std::vector<std::uint8_t> pack_lane_state(std::span<const std::uint8_t> console,
                                          std::span<const std::uint8_t> lane,
                                          std::span<const std::uint8_t> frames,
                                          const LaneSettings& settings) {
  std::vector<std::uint8_t> blob(sizeof(Header));
  for (const auto& part : {console, lane, frames}) {
    blob.insert(blob.end(), part.begin(), part.end());
  }
  Header header{kMagic, kVersion, console.size(), lane.size(), frames.size(), shape_of(settings),
                0};
  header.checksum = checksum_of(header, std::span(blob).subspan(sizeof header));
  std::memcpy(blob.data(), &header, sizeof header);
  return blob;
}

LaneParts unpack_lane_state(std::span<const std::uint8_t> blob, std::size_t lane_size,
                            const LaneSettings& settings) {
  const Header header = read_header(blob);
  if (header.lane_size != lane_size) {
    throw nes::StateError("the save state was made by another build of warpzone");
  }
  if (header.shape != shape_of(settings) || header.frames_size != settings.obs_size()) {
    throw nes::StateError(
        "the save state was made with other observations (obs, size, stack, hud or show_buttons "
        "differ)");
  }
  const auto body = blob.subspan(sizeof header);
  return {body.first(header.console_size), body.subspan(header.console_size, header.lane_size),
          body.last(header.frames_size)};
}

std::span<const std::uint8_t> console_part(std::span<const std::uint8_t> blob) {
  if (!is_lane_state(blob)) return blob;
  const Header header = read_header(blob);
  return blob.subspan(sizeof header, header.console_size);
}

}  // namespace warpzone
