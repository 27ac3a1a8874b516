// Tiny cartridges on the literal and the fast path, and save states, without any game.
#include <cstring>

#include "check.hpp"
#include "nes/console.hpp"
#include "nes/hash.hpp"
#include "nes_support.hpp"

namespace warpzone::nes {
namespace {

constexpr int kFrames = 12;

/// Writes `value` to a register: LDA #value; STA address.
void append_write(Bytes& code, int address, int value) {
  const Bytes write{0xA9, static_cast<std::uint8_t>(value), 0x8D,
                    static_cast<std::uint8_t>(address), static_cast<std::uint8_t>(address >> 8)};
  code.insert(code.end(), write.begin(), write.end());
}

/// Nametables and palette filled, sprites copied from page 2, frame and interrupt on.
Bytes rendering_setup(int control, int mask) {
  Bytes code{0x78, 0xA2, 0xFF, 0x9A};  // SEI; LDX #$FF; TXS
  append_write(code, 0x2006, 0x20);
  append_write(code, 0x2006, 0x00);
  // LDX #0; LDY #0; w: TXA; STA $2007; STA $0200,X; INX; BNE w; INY; CPY #16; BNE w
  const Bytes fill{0xA2, 0x00, 0xA0, 0x00, 0x8A, 0x8D, 0x07, 0x20, 0x9D, 0x00,
                   0x02, 0xE8, 0xD0, 0xF6, 0xC8, 0xC0, 0x10, 0xD0, 0xF1};
  code.insert(code.end(), fill.begin(), fill.end());
  append_write(code, 0x4014, 0x02);
  append_write(code, 0x2005, 0x03);
  append_write(code, 0x2005, 0x05);
  append_write(code, 0x2000, control);
  append_write(code, 0x2001, mask);
  return code;
}

Recipe with_loop(Bytes code, const Bytes& loop, Bytes nmi = {}) {
  const int start = kCodeStart + static_cast<int>(code.size());
  code.insert(code.end(), loop.begin(), loop.end());
  const Bytes jump{0x4C, static_cast<std::uint8_t>(start), static_cast<std::uint8_t>(start >> 8)};
  code.insert(code.end(), jump.begin(), jump.end());
  return Recipe{.code = std::move(code), .nmi = std::move(nmi)};
}

bool same_bytes(const void* a, const void* b, std::size_t size) {
  return std::memcmp(a, b, size) == 0;
}

void check_same(const Console& exact, const Console& fast) {
  const MachineState &a = exact.state(), &b = fast.state();
  CHECK_EQ(a.cycle, b.cycle);
  CHECK_EQ(a.cpu.pc, b.cpu.pc);
  CHECK(same_bytes(&a.cpu, &b.cpu, sizeof a.cpu));
  CHECK(same_bytes(a.ram, b.ram, sizeof a.ram));
  CHECK(same_bytes(a.cartridge_ram, b.cartridge_ram, sizeof a.cartridge_ram));
  CHECK(same_bytes(a.pattern_ram, b.pattern_ram, sizeof a.pattern_ram));
  CHECK(same_bytes(a.ppu.vram, b.ppu.vram, sizeof a.ppu.vram));
  CHECK(same_bytes(a.ppu.oam, b.ppu.oam, sizeof a.ppu.oam));
  CHECK(same_bytes(a.ppu.palette, b.ppu.palette, sizeof a.ppu.palette));
  CHECK_EQ(a.ppu.v, b.ppu.v);
  CHECK_EQ(a.ppu.t, b.ppu.t);
  CHECK_EQ(a.ppu.status, b.ppu.status);
  CHECK_EQ(a.ppu.clock, b.ppu.clock);
  CHECK_EQ(a.ppu.frame_start, b.ppu.frame_start);
  CHECK(same_bytes(exact.screen(), fast.screen(), kScreenWidth * kScreenHeight));
  CHECK(same_bytes(exact.row_emphasis(), fast.row_emphasis(), kScreenHeight));
}

/// The literal path, the interpreter and compiled code.
void check_paths_agree(const Recipe& recipe, int frames = kFrames) {
  const auto interpreted = cartridge_of(recipe, false), compiled = cartridge_of(recipe);
  Console exact(interpreted, true), slow(interpreted), fast(compiled);
  const int before = check::failure_count();
  for (int frame = 0; frame < frames && check::failure_count() == before; ++frame) {
    const auto buttons = static_cast<std::uint8_t>(frame * 37);
    for (Console* console : {&exact, &slow, &fast}) console->run_frame(buttons, frame % 3 != 0);
    check_same(exact, slow);
    check_same(exact, fast);
  }
}

const Bytes kCountFrames{0xE6, 0x10, 0x40};  // INC $10; RTI

}  // namespace

TEST(a_jump_to_itself_agrees_with_and_without_interrupts) {
  for (const int control : {0x00, 0x80}) {
    for (const int mask : {0x00, 0x1E}) {
      check_paths_agree(with_loop(rendering_setup(control, mask), {}, kCountFrames));
    }
  }
}

TEST(polling_loops_agree_for_every_flag_and_frame) {
  const Bytes loops[] = {
      {0x2C, 0x02, 0x20, 0x10, 0xFB},              // w: BIT $2002; BPL w
      {0x2C, 0x02, 0x20, 0x50, 0xFB},              // w: BIT $2002; BVC w
      {0x2C, 0x02, 0x20, 0x70, 0xFB},              // w: BIT $2002; BVS w
      {0xAD, 0x02, 0x20, 0x29, 0x20, 0xF0, 0xF9},  // w: LDA $2002; AND #$20; BEQ w
      {0xAD, 0x02, 0x20, 0x29, 0xC0, 0xF0, 0xF9},  // w: LDA $2002; AND #$C0; BEQ w
      {0xA5, 0x10, 0xC5, 0x10, 0xF0, 0xFC},        // LDA $10; w: CMP $10; BEQ w
  };
  for (const Bytes& loop : loops) {
    for (const int control : {0x00, 0x90, 0xA8}) {
      for (const int mask : {0x00, 0x1E, 0x18}) {
        // After the loop: STA $2005, so that its end is visible in the frame.
        Bytes body = loop;
        body.insert(body.end(), {0x8D, 0x05, 0x20, 0xE6, 0x11});
        check_paths_agree(with_loop(rendering_setup(control, mask), body, kCountFrames), 6);
      }
    }
  }
}

TEST(counting_loops_of_every_length_agree) {
  // LDX $10; w: DEX; BNE w; STX $2005; INC $10: a longer delay each time.
  check_paths_agree(with_loop(rendering_setup(0x80, 0x1E),
                              {0xA6, 0x10, 0xCA, 0xD0, 0xFD, 0x8E, 0x05, 0x20, 0xE6, 0x10}));
  check_paths_agree(with_loop(rendering_setup(0x80, 0x1E),
                              {0xA4, 0x10, 0x88, 0xD0, 0xFD, 0x8C, 0x05, 0x20, 0xE6, 0x10}));
}

TEST(register_writes_at_every_moment_agree) {
  // A delay that grows by a few cycles a turn moves the write over all dots in time.
  for (int index = 0; index < 8; ++index) {
    for (const int mask : {0x1E, 0x08}) {
      const auto low = static_cast<std::uint8_t>(index);
      // LDX #5; w: DEX; BNE w; LDA $12; ADC #$35; STA $12; STA $200i
      const Bytes body{0xA2, 0x05, 0xCA, 0xD0, 0xFD, 0xA5, 0x12,
                       0x69, 0x35, 0x85, 0x12, 0x8D, low,  0x20};
      check_paths_agree(with_loop(rendering_setup(0x80, mask), body, kCountFrames), 8);
    }
  }
}

TEST(pattern_ram_written_during_the_frame_agrees) {
  Recipe recipe = with_loop(rendering_setup(0x00, 0x1E),
                            {0xA9, 0x00, 0x8D, 0x06, 0x20, 0xA5, 0x12, 0x8D, 0x06, 0x20, 0x8D, 0x07,
                             0x20, 0xE6, 0x12, 0x8D, 0x07, 0x20});
  recipe.pattern_ram = true;
  for (const bool vertical : {false, true}) {
    recipe.vertical = vertical;
    check_paths_agree(recipe);
  }
}

TEST(patterns_of_sprites_changed_after_they_were_fetched_agree) {
  // Sprites of tile 0 on every line: LDX #0; w: TXA; STA $0200,X; STA $0203,X; LDA #0;
  // STA $0201,X; STA $0202,X; INX; INX; INX; INX; BNE w
  Bytes code = rendering_setup(0x00, 0x00);
  const Bytes place{0xA2, 0x00, 0x8A, 0x9D, 0x00, 0x02, 0x9D, 0x03, 0x02, 0xA9, 0x00, 0x9D,
                    0x01, 0x02, 0x9D, 0x02, 0x02, 0xE8, 0xE8, 0xE8, 0xE8, 0xD0, 0xEB};
  code.insert(code.end(), place.begin(), place.end());
  append_write(code, 0x4014, 0x02);
  append_write(code, 0x2001, 0x1E);
  // LDA #0; STA $2006; LDA $12; AND #$0F; STA $2006; LDA $13; STA $2007; ADC #$4F; STA $13; INC $12
  Recipe recipe = with_loop(std::move(code),
                            {0xA9, 0x00, 0x8D, 0x06, 0x20, 0xA5, 0x12, 0x29, 0x0F, 0x8D, 0x06, 0x20,
                             0xA5, 0x13, 0x8D, 0x07, 0x20, 0x69, 0x4F, 0x85, 0x13, 0xE6, 0x12});
  recipe.pattern_ram = true;
  check_paths_agree(recipe);
}

TEST(a_reset_in_the_middle_of_a_frame_agrees) {
  // Tall sprites, so that the reset changes their height; then nothing is written any more.
  Recipe recipe = with_loop(rendering_setup(0x20, 0x1E), {});
  // INC $10 in front: from the second start on, only the frame is switched on.
  recipe.code.insert(recipe.code.begin(), {0xE6, 0x10, 0xA5, 0x10, 0xC9, 0x01, 0xF0, 0x08, 0xA9,
                                           0x1E, 0x8D, 0x01, 0x20, 0x4C, 0x0D, 0x80});
  const auto cartridge = cartridge_of(recipe);
  for (int steps = 0; steps < 9000; steps += 531) {
    Console exact(cartridge, true), fast(cartridge, false);
    for (Console* console : {&exact, &fast}) {
      for (int frame = 0; frame < 4; ++frame) console->run_frame(0, true);
      for (int step = 0; step < steps; ++step) console->step_instruction();
      console->reset();
      // Both frames: the one with the reset in it, and the one after.
      console->run_frame(0, true);
    }
    check_same(exact, fast);
    exact.run_frame(0, true);
    fast.run_frame(0, true);
    check_same(exact, fast);
  }
}

TEST(random_bytes_as_a_program_agree) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Recipe recipe{.code = random_bytes(0x1000, seed), .nmi = random_bytes(0x100, seed + 1000)};
    recipe.pattern_ram = seed % 3 == 0;
    recipe.vertical = seed % 2 == 0;
    check_paths_agree(recipe, 4);
  }
}

TEST(random_instructions_agree) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    check_paths_agree({.code = random_instructions(0xC00, seed), .nmi = {0xE6, 0x10, 0x40}}, 4);
  }
}

TEST(single_steps_agree) {
  const auto cartridge =
      cartridge_of(with_loop(rendering_setup(0x80, 0x1E), {0x2C, 0x02, 0x20, 0x50, 0xFB}));
  Console exact(cartridge, true), fast(cartridge, false);
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    exact.step_instruction();
    fast.step_instruction();
    wrong += exact.cycle_count() != fast.cycle_count() || exact.cpu().pc != fast.cpu().pc ||
             exact.cpu().a != fast.cpu().a || exact.cpu().p != fast.cpu().p;
  }
  CHECK_EQ(wrong, 0);
}

TEST(a_frame_of_a_jammed_processor_ends) {
  Console fast(cartridge_of(Recipe{.code = {0x02}}));
  for (int frame = 0; frame < 5; ++frame) fast.run_frame(0, true);
  CHECK_EQ(fast.frame_count(), 5);
  CHECK_EQ(fast.cpu().jammed, 1);
}

TEST(a_state_restores_every_byte_in_either_path) {
  for (const bool exact : {false, true}) {
    const auto cartridge =
        cartridge_of(with_loop(rendering_setup(0x80, 0x1E), {0x2C, 0x02, 0x20, 0x50, 0xFB}));
    Console console(cartridge, exact);
    console.run_frame(0, true);
    console.run_frame(0, true);
    console.poke(0x6005, 0x55);
    const Bytes state = console.save();
    CHECK_EQ(state.size(), console.state_size());
    for (int frame = 0; frame < 3; ++frame) console.run_frame(0x80, true);
    const Bytes later = console.save();
    console.load(state);
    CHECK(console.save() == state);
    for (int frame = 0; frame < 3; ++frame) console.run_frame(0x80, true);
    CHECK(console.save() == later);
    Console other(cartridge, !exact);
    other.load(state);
    for (int frame = 0; frame < 3; ++frame) other.run_frame(0x80, true);
    CHECK_EQ(other.cycle_count(), console.cycle_count());
    CHECK(same_bytes(other.ram(), console.ram(), 2048));
    CHECK(same_bytes(other.screen(), console.screen(), kScreenWidth * kScreenHeight));
  }
}

TEST(a_bare_snapshot_restores_like_a_state) {
  Recipe recipe = with_loop(rendering_setup(0x80, 0x1E), {0xEE, 0x00, 0x60, 0x8D, 0x07, 0x20});
  recipe.pattern_ram = true;
  Console console(cartridge_of(recipe));
  console.run_frame(0, true);
  auto snapshot = std::make_unique<MachineState>();
  console.snapshot(*snapshot);
  const Bytes state = console.save();
  for (int frame = 0; frame < 4; ++frame) console.run_frame(1, true);
  const Bytes later = console.save();
  console.restore(*snapshot);
  CHECK(console.save() == state);
  for (int frame = 0; frame < 4; ++frame) console.run_frame(1, true);
  CHECK(console.save() == later);
}

TEST(cut_padded_altered_and_foreign_states_are_refused_and_change_nothing) {
  Console console(cartridge_of(Recipe{.code = {0x4C, 0x00, 0x80}}));
  Console foreign(cartridge_of(Recipe{.code = {0xEA, 0x4C, 0x00, 0x80}}));
  console.run_frame(0, true);
  const Bytes state = console.save();
  const auto refused = [&](const Bytes& bad) {
    CHECK_THROWS(console.load(bad), StateError);
    CHECK(console.save() == state);
  };
  for (std::size_t size = 0; size < 64; ++size) refused({state.begin(), state.begin() + size});
  refused({state.begin(), state.end() - 1});
  Bytes padded = state;
  padded.push_back(0);
  refused(padded);
  for (std::size_t at = 0; at < state.size(); at += at < 64 ? 1 : 211) {
    Bytes altered = state;
    altered[at] ^= 0x10;
    refused(altered);
  }
  refused(foreign.save());
  Bytes buffer(state.size() - 1);
  CHECK_THROWS(console.save(buffer), StateError);
}

TEST(positions_that_contradict_the_clocks_are_refused_in_spite_of_a_right_checksum) {
  // What a frame is drawn into is indexed by these; a checksum keeps no forger away.
  const auto cartridge = cartridge_of(with_loop(rendering_setup(0x80, 0x1E), {}));
  constexpr std::size_t kHeaderSize = 32, kChecksumAt = 24;
  for (const int steps : {0, 100, 700, 3000}) {
    Console console(cartridge);
    for (int frame = 0; frame < 3; ++frame) console.run_frame(0, true);
    for (int step = 0; step < steps; ++step) console.step_instruction();
    const Bytes good = console.save();
    const auto refused = [&](auto change) {
      MachineState state;
      std::memcpy(&state, good.data() + kHeaderSize, sizeof state);
      change(state.ppu);
      Bytes forged = good;
      std::memcpy(forged.data() + kHeaderSize, &state, sizeof state);
      const std::uint64_t checksum =
          hash_bytes({forged.data() + kHeaderSize, forged.size() - kHeaderSize});
      std::memcpy(forged.data() + kChecksumAt, &checksum, sizeof checksum);
      CHECK_THROWS(console.load(forged), StateError);
    };
    for (const std::uint64_t dots : {2, 341, 341 * 22, 30'000, 80'000}) {
      refused([&](PpuState& ppu) { ppu.frame_start -= dots; });
      refused([&](PpuState& ppu) { ppu.frame_start += dots; });
    }
    for (const int lines : {1, 5, 21, 100, 239, 261, -1, -300}) {
      refused([&](PpuState& ppu) { ppu.line = static_cast<std::int16_t>(ppu.line + lines); });
    }
    for (const int dots : {2, 100, 341, -2, -341}) {
      refused([&](PpuState& ppu) { ppu.dot = static_cast<std::int16_t>(ppu.dot + dots); });
    }
    refused([](PpuState& ppu) { ppu.clock += 341; });
    CHECK(console.save() == good);
  }
}

TEST(images_of_every_length_parse_or_are_refused) {
  const Bytes image = image_of(Recipe{.code = {0x4C, 0x00, 0x80}});
  for (std::size_t size = 0; size < image.size(); size += size < 600 ? 1 : 997) {
    // A copy of its own, so that a sanitizer sees a read past its end.
    const Bytes cut(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS(Cartridge::parse(cut), CartridgeError);
  }
  for (int at = 0; at < 16; ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes changed = image;
      changed[at] = static_cast<std::uint8_t>(value);
      try {
        Console console(Cartridge::parse(changed));
        CHECK_EQ(console.cpu().pc >> 15, 1);
      } catch (const CartridgeError& error) {
        CHECK(std::strlen(error.what()) > 20);
      }
    }
  }
}

TEST(only_ram_can_be_poked) {
  Console console(cartridge_of(Recipe{.code = {0x4C, 0x00, 0x80}}));
  console.poke(0x1FFF, 1);
  console.poke(0x6000, 2);
  CHECK_EQ(console.peek(0x07FF), 1);
  CHECK_EQ(console.peek(0x6000), 2);
  CHECK_THROWS(console.poke(0x2000, 0), std::out_of_range);
  CHECK_THROWS(console.poke(0x8000, 0), std::out_of_range);
}

}  // namespace warpzone::nes
