#include "vector/info.hpp"

namespace warpzone {

void write_info(const std::uint8_t* ram, const mario::Tracker& t, const InfoSlot& out) {
  const mario::Signals s = mario::decode(ram);
  std::int32_t* number = out.numbers;
#define WARPZONE_PUT(name, expression, help) \
  *number = expression;                      \
  number += out.stride;
  WARPZONE_INFO_NUMBERS(WARPZONE_PUT)
#undef WARPZONE_PUT
  std::uint8_t* flag = out.flags;
#define WARPZONE_PUT(name, expression, help) \
  *flag = (expression) ? 1 : 0;              \
  flag += out.stride;
  WARPZONE_INFO_FLAGS(WARPZONE_PUT)
#undef WARPZONE_PUT
  for (std::size_t i = 0; i < mario::kTermCount; ++i) {
    out.terms[i] = static_cast<float>(t.sums.values[i]);
  }
  std::int32_t* enemy = out.enemies;
  for (const mario::Enemy& e : s.enemies) {
    enemy[0] = e.active ? e.type : 0;
    enemy[1] = e.active ? e.x : 0;
    enemy[2] = e.active ? e.y : 0;
    enemy[3] = e.active ? e.state : 0;
    enemy += kEnemyNumbers;
  }
}

void write_classic_info(const std::uint8_t* ram, const mario::Tracker& tracker, bool flag_get,
                        const InfoSlot& out) {
  write_info(ram, tracker, out);
  out.numbers[out.stride * static_cast<std::ptrdiff_t>(InfoNumber::life)] = ram[mario::ram::kLives];
  out.flags[out.stride * static_cast<std::ptrdiff_t>(InfoFlag::flag_get)] = flag_get ? 1 : 0;
}

}  // namespace warpzone
