// Programs as machine code. That it does what the interpreter does is for nes_console_test.cpp.
#include "check.hpp"
#include "mario_support.hpp"
#include "nes/flag_liveness.hpp"
#include "nes_support.hpp"

namespace warpzone::nes {
namespace {

/// The flags that matter in front of the instructions of code that stands at $8000.
std::vector<std::uint8_t> live_in(const Bytes& code) {
  Bytes program(0x8000, 0xEA);
  std::copy(code.begin(), code.end(), program.begin());
  return live_flags(decode_program(program.data()));
}

}  // namespace

TEST(programs_are_compiled_on_64_bit_x86_unless_told_otherwise) {
#if defined(__x86_64__) && defined(__linux__)
  CHECK(cartridge_of({.code = {0xEA}})->compiled() != nullptr);
#endif
  CHECK(cartridge_of({.code = {0xEA}}, false)->compiled() == nullptr);
}

TEST(flags_that_are_set_again_do_not_matter) {
  // LDA #1; ADC $10; CMP #2; BNE
  const std::vector<std::uint8_t> live = live_in({0xA9, 0x01, 0x65, 0x10, 0xC9, 0x02, 0xD0, 0x00});
  CHECK_EQ(live[0], flags::kCarry);  // What ADC adds.
  CHECK_EQ(live[2], flags::kCarry);
  CHECK_EQ(live[4], flags::kOverflow);  // The one that CMP leaves alone.
  CHECK_EQ(live[6], flags::kAll);
}

TEST(all_flags_matter_where_compiled_code_may_stop) {
  // LDX #1; LDA ($10),Y; LDA #1; LDA $4016,X; LDA #1; PHP
  const std::vector<std::uint8_t> live =
      live_in({0xA2, 0x01, 0xB1, 0x10, 0xA9, 0x01, 0xBD, 0x16, 0x40, 0xA9, 0x01, 0x08});
  for (const int at : {2, 6, 11}) CHECK_EQ(live[at], flags::kAll);
  CHECK_EQ(live[0], flags::kCarry | flags::kOverflow);
}

TEST(a_program_that_runs_off_the_end_of_memory_continues_at_its_beginning) {
  // $8000: INC $10; JMP $FFF0, where NOPs lead to the vectors, and past them to $0000.
  const Recipe recipe{.code = {0xE6, 0x10, 0x4C, 0xF0, 0xFF}};
  Console slow(cartridge_of(recipe, false)), fast(cartridge_of(recipe));
  for (Console* console : {&slow, &fast}) console->run_frame(0, false);
  CHECK_EQ(fast.cycle_count(), slow.cycle_count());
  CHECK_EQ(fast.cpu().pc, slow.cpu().pc);
  CHECK_EQ(fast.ram()[0x10], slow.ram()[0x10]);
}

TEST(the_game_plays_the_same_compiled_and_interpreted) {
  const auto interpreted = mario::game_cartridge(false), compiled = mario::game_cartridge();
  if (compiled == nullptr) return;
  Console slow(interpreted), fast(compiled);
  int wrong = 0;
  std::mt19937 random(5);
  for (int frame = 0; frame < 4000; ++frame) {
    const bool starts = frame > 40 && frame < 44;
    const auto moves = static_cast<std::uint8_t>(button::kRight | (random() % 4));
    const std::uint8_t buttons = starts ? button::kStart : frame < 240 ? 0 : moves;
    for (Console* console : {&slow, &fast}) console->run_frame(buttons, frame % 5 == 0);
    wrong += slow.cycle_count() != fast.cycle_count() || slow.cpu().pc != fast.cpu().pc ||
             slow.cpu().p != fast.cpu().p || slow.save() != fast.save();
  }
  CHECK_EQ(wrong, 0);
}

}  // namespace warpzone::nes
