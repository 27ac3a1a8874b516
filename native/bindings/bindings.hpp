#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>

#include "mario/levels.hpp"

namespace warpzone::bindings {

void bind_console(nanobind::module_& module);
void bind_config(nanobind::module_& module);
void bind_game(nanobind::module_& module);
void bind_pool(nanobind::module_& module);
void bind_replay(nanobind::module_& module);
void bind_search(nanobind::module_& module);
void bind_policy(nanobind::module_& module);
void bind_player(nanobind::module_& module);
void bind_images(nanobind::module_& module);

/// 'smb' or 'lost-levels'.
mario::Game game_named(const std::string& name);

inline std::span<const std::uint8_t> span_of(const nanobind::bytes& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace warpzone::bindings
