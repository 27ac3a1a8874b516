#include "nes/apu.hpp"

#include "nes/apu_tables.hpp"

namespace warpzone::nes {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

void Apu::power_on() {
  s_ = ApuState{};
  s_.dmc.silent = 1;
  s_.dmc.shift_bits = 8;
  s_.dmc.sample_address = 0;
  restart_sequence(0);
}

void Apu::reset(std::uint64_t cycle) {
  write(0x4015, 0, cycle);
  s_.frame_irq = 0;
  restart_sequence(cycle);
}

void Apu::restart_sequence(std::uint64_t cycle) {
  s_.sequence_start = cycle;
  s_.step = 0;
  s_.next_step = cycle + kFourStep[0];
}

void Apu::clock_lengths() {
  for (int channel = 0; channel < 4; ++channel) {
    if (s_.length[channel] > 0 && (s_.halted >> channel & 1) == 0) --s_.length[channel];
  }
}

void Apu::sequencer_step() {
  const int step = s_.step;
  if (s_.five_step == 0) {
    if (step == 1 || step == 4) clock_lengths();
    if (step >= 3 && s_.irq_inhibited == 0) s_.frame_irq = 1;
  } else if (step == 1 || step == 4) {
    clock_lengths();
  }
  const int* times = s_.five_step != 0 ? kFiveStep : kFourStep;
  if (step == 5) {
    s_.sequence_start += static_cast<std::uint64_t>(times[5]);
    s_.step = 0;
  } else {
    ++s_.step;
  }
  s_.next_step = s_.sequence_start + static_cast<std::uint64_t>(times[s_.step]);
}

void Apu::run_to(std::uint64_t cycle) {
  for (;;) {
    const std::uint64_t reset_at = s_.reset_pending != 0 ? s_.reset_at : kNever;
    if (reset_at <= cycle && reset_at <= s_.next_step) {
      s_.reset_pending = 0;
      s_.five_step = s_.reset_value >> 7;
      if (s_.five_step != 0) clock_lengths();
      s_.sequence_start = reset_at;
      s_.step = 0;
      s_.next_step = reset_at + static_cast<std::uint64_t>(kFourStep[0]);
    } else if (s_.next_step <= cycle) {
      sequencer_step();
    } else {
      return;
    }
  }
}

std::uint64_t Apu::quiet_until() const {
  if (s_.irq_inhibited != 0) return kNever;
  if (s_.reset_pending != 0) return 0;
  if (s_.five_step != 0) return kNever;
  return s_.step <= 3 ? s_.sequence_start + static_cast<std::uint64_t>(kFourStep[3]) : s_.next_step;
}

void Apu::write(std::uint16_t address, std::uint8_t value, std::uint64_t cycle) {
  run_to(cycle);
  switch (address) {
    case 0x4000:
    case 0x4004:
    case 0x4008:
    case 0x400C: {
      const int channel = (address - 0x4000) / 4;
      const int bit = channel == 2 ? 7 : 5;
      run_to(cycle + 1);  // A counter clocked in the same moment still sees the old setting.
      s_.halted = static_cast<std::uint8_t>((s_.halted & ~(1 << channel)) | ((value >> bit) & 1)
                                                                                << channel);
      break;
    }
    case 0x4003:
    case 0x4007:
    case 0x400B:
    case 0x400F: {
      const int channel = (address - 0x4000) / 4;
      // A counter that is clocked in the same moment, and had not run out, ignores the reload.
      const std::uint8_t before = s_.length[channel];
      run_to(cycle + 1);
      const bool enabled = (s_.enabled >> channel & 1) != 0;
      if (enabled && s_.length[channel] == before) s_.length[channel] = kLengths[value >> 3];
      break;
    }
    case 0x4010:
      s_.dmc.control = value;
      if ((value & 0x80) == 0) s_.dmc.irq = 0;
      break;
    case 0x4012:
      s_.dmc.sample_address = value;
      break;
    case 0x4013:
      s_.dmc.sample_length = value;
      break;
    case 0x4015:
      s_.enabled = value & 0x0F;
      for (int channel = 0; channel < 4; ++channel) {
        if ((value >> channel & 1) == 0) s_.length[channel] = 0;
      }
      s_.dmc.irq = 0;
      if ((value & 0x10) == 0) {
        s_.dmc.bytes_left = 0;
        s_.dmc.active = 0;
      } else if (s_.dmc.bytes_left == 0) {
        if (!playing_sample()) {
          s_.dmc.next_clock =
              cycle + static_cast<std::uint64_t>(kSamplePeriods[s_.dmc.control & 0x0F]);
        }
        start_sample();
      }
      break;
    case 0x4017:
      s_.irq_inhibited = (value >> 6) & 1;
      if (s_.irq_inhibited != 0) s_.frame_irq = 0;
      // The sequencer restarts once it has seen the write: three cycles later on one phase of its
      // half-rate clock, four on the other.
      s_.reset_pending = 1;
      s_.reset_value = value;
      s_.reset_at = cycle + ((cycle & 1) != 0 ? 4 : 3);
      break;
    default:
      break;
  }
}

std::uint8_t Apu::read_status(std::uint64_t cycle, std::uint8_t open_bus) {
  run_to(cycle);
  int value = open_bus & 0x20;
  for (int channel = 0; channel < 4; ++channel) value |= (s_.length[channel] > 0) << channel;
  value |= (s_.dmc.bytes_left > 0) << 4 | s_.frame_irq << 6 | s_.dmc.irq << 7;
  s_.frame_irq = 0;
  return static_cast<std::uint8_t>(value);
}

void Apu::start_sample() {
  s_.dmc.active = 1;
  s_.dmc.address = static_cast<std::uint16_t>(0xC000 + s_.dmc.sample_address * 64);
  s_.dmc.bytes_left = static_cast<std::uint16_t>(s_.dmc.sample_length * 16 + 1);
}

bool Apu::wants_sample(std::uint64_t cycle) {
  DmcState& dmc = s_.dmc;
  if (dmc.next_clock <= cycle) {
    // All bits since the last call at once: a jammed processor may have let years of them pass.
    const auto period = static_cast<std::uint64_t>(kSamplePeriods[dmc.control & 0x0F]);
    const std::uint64_t bits = (cycle - dmc.next_clock) / period + 1;
    dmc.next_clock += bits * period;
    if (bits < dmc.shift_bits) {
      dmc.shift_bits = static_cast<std::uint8_t>(dmc.shift_bits - bits);
    } else {
      const std::uint64_t after = bits - dmc.shift_bits;
      dmc.silent = dmc.buffer_full == 0 || after >= 8;
      dmc.buffer_full = 0;
      dmc.shift_bits = static_cast<std::uint8_t>(8 - after % 8);
    }
  }
  return dmc.buffer_full == 0 && dmc.bytes_left > 0;
}

void Apu::sample_fetched() {
  DmcState& dmc = s_.dmc;
  dmc.buffer_full = 1;
  dmc.address = dmc.address == 0xFFFF ? 0x8000 : static_cast<std::uint16_t>(dmc.address + 1);
  if (--dmc.bytes_left != 0) return;
  if ((dmc.control & 0x40) != 0) {
    start_sample();
  } else {
    dmc.active = 0;
    if ((dmc.control & 0x80) != 0) dmc.irq = 1;
  }
}

}  // namespace warpzone::nes
