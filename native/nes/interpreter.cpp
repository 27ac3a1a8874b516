/// The fast path: decoded program code, as long as nothing outside the processor can interfere.
///
/// Registers live in local variables. Every operation leaves exactly what the literal processor
/// would leave, cycles included; what it cannot do it hands back (`literal`).
///
/// Time is kept by runs (see program.hpp): whoever enters a run adds its cycles at once, so that an
/// instruction inside begins at `cycle - at->run`. A run that might reach the limit is executed
/// carefully instead: one plain instruction after the other, each after a look at the clock.
#include <algorithm>

#include "nes/interpreter_macros.hpp"
#include "nes/machine.hpp"
#include "nes/packed_flags.hpp"

namespace warpzone::nes {
namespace {

using Word = std::uint32_t;

/// What a waiting loop looked like the last time round.
struct LastTurn {
  const Instruction* branch = nullptr;
  std::uint64_t cycle = 0;
  Word a = 0, x = 0, y = 0, nz = 0, carry = 0, overflow = 0;

  bool operator==(const LastTurn&) const = default;
};

}  // namespace

// A handler ends with NEXT inside a run, with ENTER at the end of one. Where the compiler can, each
// jumps straight to the next handler; elsewhere (or with WARPZONE_SWITCH_DISPATCH, for tests) all
// go through one switch.
#if defined(__GNUC__) && !defined(WARPZONE_SWITCH_DISPATCH)
#define WARPZONE_COMPUTED_GOTO 1
#endif
#if defined(WARPZONE_COMPUTED_GOTO)
#define CASE(name) label_##name
#if defined(__clang__)
#define RARE_CASE(name) label_##name:
#else
// Registers are not worth saving for the sake of the calls in these.
#define RARE_CASE(name) label_##name : __attribute__((cold));
#endif
#define NEXT() goto* labels[static_cast<std::size_t>(at->operation)]
#else
#define CASE(name) case Operation::k##name
#define RARE_CASE(name) case Operation::k##name:
#define NEXT() goto dispatch
#endif
#define ENTER()                         \
  do {                                  \
    cycle += at->run;                   \
    if (cycle > guard) goto near_limit; \
    NEXT();                             \
  } while (false)

bool Machine::interpret(const Horizon& horizon, Extent extent) {
#if defined(WARPZONE_COMPUTED_GOTO)
#define LABEL(what) &&label_##what,
#define LABEL_2(what, where) &&label_##what##where,
#define LABEL_4(first, there, second, where) &&label_##first##there##second##where,
#define LABEL_CHAIN(what) &&label_##what##Chain,
  static const void* const kLabels[] = {WARPZONE_SPECIAL(LABEL) WARPZONE_REGULAR(LABEL_2)
                                            WARPZONE_CHAINS(LABEL_CHAIN) WARPZONE_PAIRS(LABEL_4)};
#define CAREFUL(...) &&careful,
  static const void* const kCareful[] = {WARPZONE_SPECIAL(CAREFUL) WARPZONE_REGULAR(CAREFUL)
                                             WARPZONE_CHAINS(CAREFUL) WARPZONE_PAIRS(CAREFUL)};
#define STOP(...) &&leave,
  static const void* const kStop[] = {WARPZONE_SPECIAL(STOP) WARPZONE_REGULAR(STOP)
                                          WARPZONE_CHAINS(STOP) WARPZONE_PAIRS(STOP)};
  const void* const* labels = kLabels;
#else
  bool careful = false, done = false;
#endif
  const Instruction* const code = cartridge->decoded().data();
  const std::uint8_t* const program = cartridge->program();
  std::uint8_t* const ram = state.ram;
  CpuRegisters& cpu = state.cpu;

  const std::uint64_t limit = horizon.limit;
  const std::uint64_t guard = limit > kMostExtras ? limit - kMostExtras : 0;
  std::uint64_t cycle = state.cycle;
  const Instruction* at = code + (cpu.pc & 0x7FFF);
  Word a = cpu.a, x = cpu.x, y = cpu.y, sp = cpu.sp;
  Word nz = pack_nz(cpu.p);
  Word carry = cpu.p & flag::kCarry;
  Word overflow = cpu.p & flag::kOverflow;
  Word other = cpu.p & (flag::kInterrupt | flag::kDecimal | flag::kUnused);
  bool finished = true;
  LastTurn last;

  const auto began = [&] { return cycle - at->run; };
  const auto status = [&] {
    return static_cast<std::uint8_t>(other | unpack_flags(nz, carry, overflow));
  };
  // Interrupts that are up but masked wait for the literal processor to be let in.
  const auto would_interrupt = [&](Word p) {
    return (p & flag::kInterrupt) == 0 && (state.apu.frame_irq | state.apu.dmc.irq) != 0;
  };
  const auto set_status = [&](Word p) {
    nz = pack_nz(p);
    carry = p & flag::kCarry;
    overflow = p & flag::kOverflow;
    other = (p & (flag::kInterrupt | flag::kDecimal)) | flag::kUnused;
  };

  if (extent == Extent::kOperation) {
    cycle += at->run;
#if defined(WARPZONE_COMPUTED_GOTO)
    labels = kStop;
    goto* kLabels[static_cast<std::size_t>(at->operation)];
#else
    goto dispatch;
#endif
  }
  ENTER();
#if !defined(WARPZONE_COMPUTED_GOTO)
dispatch:
  if (done) goto leave;
  done = extent == Extent::kOperation;
  if (careful && began() >= limit) goto leave;
  switch (careful ? at->plain : at->operation) {
#endif

    WARPZONE_REGULAR(REGULAR)
    WARPZONE_PAIRS(PAIR)
    WARPZONE_CHAINS(CHAIN)

    CASE(Jmp) : { at = code + at->operand; }
    ENTER();
    CASE(JmpSelf) : {
      // Identical iterations that end before anything happens.
      const std::uint64_t turns = (horizon.idle_end - std::min(horizon.idle_end, began())) / 3;
      if (turns == 0) goto literal;
      cycle += turns * 3;
    }
    goto leave;
    CASE(JmpIndirect) : {
      const Word pointer = at->operand;
      const Word target = ram[pointer & 0x7FF] |
                          Word{ram[((pointer & 0xFF00) | ((pointer + 1) & 0xFF)) & 0x7FF]} << 8;
      if (target < 0x8000) goto literal;
      at = code + (target & 0x7FFF);
    }
    ENTER();
    CASE(Jsr) : {
      const Word back = static_cast<Word>(at - code) + 0x8000 + 2;
      PUSH(back >> 8)
      PUSH(back)
      at = code + at->operand;
    }
    ENTER();
    CASE(Rts) : {
      const Word target = ((STACKED(1) | STACKED(2) << 8) + 1) & 0xFFFF;
      if (target < 0x8000) goto literal;
      sp = (sp + 2) & 0xFF;
      at = code + (target & 0x7FFF);
    }
    ENTER();
    CASE(Rti) : {
      const Word target = STACKED(2) | STACKED(3) << 8;
      if (target < 0x8000 || would_interrupt(STACKED(1))) goto literal;
      set_status(STACKED(1));
      sp = (sp + 3) & 0xFF;
      at = code + (target & 0x7FFF);
    }
    ENTER();
    CASE(Plp) : {
      if (would_interrupt(STACKED(1))) goto literal;
      set_status(STACKED(1));
      sp = (sp + 1) & 0xFF;
      PASS(1);
    }
    NEXT();
    CASE(Cli) : {
      if (would_interrupt(0)) goto literal;
      other &= ~Word{flag::kInterrupt};
      PASS(1);
    }
    NEXT();

    FAR_READ(LdaFax, x)
    FAR_READ(LdaFay, y)
    FAR_WRITE(StaFax, x)
    FAR_WRITE(StaFay, y)
    DEVICE_READ(LdaDevice, OP_Lda)
    DEVICE_READ(LdxDevice, OP_Ldx)
    DEVICE_READ(LdyDevice, OP_Ldy)
    DEVICE_READ(BitDevice, OP_Bit)
    DEVICE_WRITE(StaDevice, a)
    DEVICE_WRITE(StxDevice, x)
    DEVICE_WRITE(StyDevice, y)
    SWITCH_WRITE(StaSwitch, a)
    SWITCH_WRITE(StxSwitch, x)
    SWITCH_WRITE(StySwitch, y)

    COUNT(CountX, x, OP_Dex)
    COUNT(CountY, y, OP_Dey)
    FILL(FillX, x, PLACE_Wax)
    FILL(FillY, y, PLACE_Way)

    RARE_CASE(WaitLoop) {
      const bool taken[8] = {OP_Bpl, OP_Bmi, OP_Bvc, OP_Bvs, OP_Bcc, OP_Bcs, OP_Bne, OP_Beq};
      if (!taken[(static_cast<unsigned>(at->plain) - static_cast<unsigned>(Operation::kBplBranch)) &
                 7]) {
        PASS(2);
        if (extent == Extent::kLoop) {
          cycle += at->run;
          goto leave;
        }
        ENTER();
      }
      cycle += at->extra;
      unsigned turn = at->cycles + at->extra;
      bool polls = false;
      for (const Instruction* i = code + at->operand; i < at; i += i->length) {
        turn += i->cycles;
        polls = polls || polls_status(*i);
      }
      last.cycle += turn;
      if (cycle < limit && last == LastTurn{at, cycle, a, x, y, nz, carry, overflow}) {
        // Two turns that left the same registers: so will every other one until what they look at
        // changes. RAM cannot change before the limit. The PPU's flags may have changed
        // since this turn looked at them, so they are asked from its beginning on.
        std::uint64_t until = limit;
        if (polls) {
          const std::uint64_t stable = ppu_.flags_stable_until((cycle - turn) * kDotsPerCycle);
          until = std::min(until, stable / kDotsPerCycle);
        }
        const std::uint64_t turns = until > cycle ? (until - cycle) / turn : 0;
        if (turns > 1) cycle += (turns - 1) * turn;
      }
      last = {at, cycle, a, x, y, nz, carry, overflow};
      at = code + at->operand;
    }
    ENTER();

    CASE(Literal) : goto literal;
#if !defined(WARPZONE_COMPUTED_GOTO)
    default:
      goto literal;
  }
#endif

near_limit:
  if (extent == Extent::kOperation) goto leave;
#if defined(WARPZONE_COMPUTED_GOTO)
  labels = kCareful;
careful:
  if (began() >= limit) goto leave;
  goto* kLabels[static_cast<std::size_t>(at->plain)];
#else
  careful = true;
  goto dispatch;
#endif

literal:
  finished = false;
leave:
  cycle -= at->run;
finish:
  cpu.pc = static_cast<std::uint16_t>(0x8000 + (at - code));
  cpu.a = static_cast<std::uint8_t>(a);
  cpu.x = static_cast<std::uint8_t>(x);
  cpu.y = static_cast<std::uint8_t>(y);
  cpu.sp = static_cast<std::uint8_t>(sp);
  cpu.p = status();
  state.cycle = cycle;
  // What the processor would have sampled in the last cycle; no other was worth noticing.
  state.interrupts.nmi_level = ppu_.nmi_level(cycle * kDotsPerCycle);
  return finished;
}

}  // namespace warpzone::nes
