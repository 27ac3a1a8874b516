// Which loops the decoder recognises as waiting, counting or filling, and which it must not.
#include "check.hpp"
#include "nes/program.hpp"
#include "nes_support.hpp"

namespace warpzone::nes {
namespace {

/// Decodes code that stands at $8000.
DecodedProgram decoded(const Bytes& code) {
  Bytes program(0x8000, 0xEA);
  std::copy(code.begin(), code.end(), program.begin());
  return decode_program(program.data());
}

Operation operation_at(const Bytes& code, int at) { return decoded(code)[at].operation; }

/// Whether the branch that ends this code closes a waiting loop.
bool waits(const Bytes& loop) {
  Bytes code = loop;
  const int at = static_cast<int>(code.size());
  code.push_back(0xF0);  // BEQ to the beginning
  code.push_back(static_cast<std::uint8_t>(-(at + 2)));
  return operation_at(code, at) == Operation::kWaitLoop;
}

}  // namespace

TEST(loops_that_only_look_are_recognised_as_waiting) {
  CHECK(waits({0xAD, 0x02, 0x20}));                          // LDA $2002
  CHECK(waits({0x2C, 0x02, 0x20}));                          // BIT $2002
  CHECK(waits({0xAE, 0xFA, 0x3F}));                          // LDX $3FFA, a mirror of it
  CHECK(waits({0xAD, 0x02, 0x20, 0x29, 0x40}));              // LDA $2002; AND #$40
  CHECK(waits({0xA5, 0x10}));                                // LDA $10
  CHECK(waits({0xC5, 0x10}));                                // CMP $10
  CHECK(waits({0xAD, 0x02, 0x20, 0x0A, 0x0A}));              // LDA $2002; ASL A; ASL A
  CHECK(waits({0xEA}));                                      // NOP
  CHECK(waits({}));                                          // BEQ to itself
  CHECK(waits({0xAC, 0x02, 0x20, 0x98, 0xA2, 0x00, 0x38}));  // LDY $2002; TYA; LDX #0; SEC
}

TEST(loops_that_leave_a_trace_are_not) {
  CHECK(!waits({0x85, 0x10}));                    // STA $10
  CHECK(!waits({0xE6, 0x10}));                    // INC $10
  CHECK(!waits({0xE8}));                          // INX
  CHECK(!waits({0x48}));                          // PHA
  CHECK(!waits({0x69, 0x01}));                    // ADC #1
  CHECK(!waits({0xAD, 0x07, 0x20}));              // LDA $2007: moves the address
  CHECK(!waits({0xAD, 0x16, 0x40}));              // LDA $4016: shifts the controller
  CHECK(!waits({0xAD, 0x15, 0x40}));              // LDA $4015: clears the frame interrupt
  CHECK(!waits({0xB5, 0x10}));                    // LDA $10,X
  CHECK(!waits({0xAF, 0x02, 0x20}));              // LAX $2002, unofficial
  CHECK(!waits({0x4D, 0x02, 0x20}));              // EOR $2002
  CHECK(!waits({0x58}));                          // CLI
  CHECK(!waits({0x20, 0x00, 0x90}));              // JSR $9000
  CHECK(!waits(Bytes(20, 0xEA)));                 // too long to be worth a look
  CHECK(!waits({0xAD, 0x02, 0x20, 0x85, 0x10}));  // LDA $2002; STA $10
}

TEST(a_branch_into_the_middle_of_an_instruction_is_no_waiting_loop) {
  // LDA $2002 from its second byte on would read $02 (KIL).
  CHECK(operation_at({0xAD, 0x02, 0x20, 0xF0, 0xFC}, 3) != Operation::kWaitLoop);
  // A forward branch waits for nothing.
  CHECK(operation_at({0xF0, 0x02, 0xEA, 0xEA}, 0) != Operation::kWaitLoop);
}

TEST(counting_loops_are_recognised_only_when_nothing_else_is_in_them) {
  CHECK_EQ(operation_at({0xCA, 0xD0, 0xFD}, 0), Operation::kCountX);       // DEX; BNE
  CHECK_EQ(operation_at({0x88, 0xD0, 0xFD}, 0), Operation::kCountY);       // DEY; BNE
  CHECK(operation_at({0xE8, 0xD0, 0xFD}, 0) != Operation::kCountX);        // INX; BNE
  CHECK(operation_at({0xCA, 0x10, 0xFD}, 0) != Operation::kCountX);        // DEX; BPL
  CHECK(operation_at({0xCA, 0xEA, 0xD0, 0xFC}, 0) != Operation::kCountX);  // DEX; NOP; BNE
  CHECK(operation_at({0xEA, 0xCA, 0xD0, 0xFC}, 1) != Operation::kCountX);  // to the NOP
  CHECK(operation_at({0xCA, 0xCA, 0xD0, 0xFC}, 0) != Operation::kCountX);  // DEX twice
}

TEST(filling_loops_are_recognised_only_when_the_index_steps_by_itself) {
  CHECK_EQ(operation_at({0x9D, 0x00, 0x03, 0xE8, 0xD0, 0xFA}, 0), Operation::kFillX);
  CHECK_EQ(operation_at({0x99, 0x00, 0x03, 0xC8, 0xD0, 0xFA}, 0), Operation::kFillY);
  CHECK_EQ(operation_at({0x9D, 0x00, 0x03, 0xE8, 0xE8, 0xD0, 0xF9}, 0), Operation::kFillX);
  CHECK(operation_at({0x9D, 0x00, 0x03, 0xC8, 0xD0, 0xFA}, 0) != Operation::kFillX);  // INY
  CHECK(operation_at({0x9D, 0x00, 0x03, 0xCA, 0xD0, 0xFA}, 0) != Operation::kFillX);  // DEX
  CHECK(operation_at({0x9D, 0x00, 0x20, 0xE8, 0xD0, 0xFA}, 0) != Operation::kFillX);  // registers
  CHECK(operation_at({0x9D, 0x80, 0x1F, 0xE8, 0xD0, 0xFA}, 0) != Operation::kFillX);  // into them
}

TEST(a_jump_to_itself_is_recognised_wherever_it_stands) {
  CHECK_EQ(operation_at({0x4C, 0x00, 0x80}, 0), Operation::kJmpSelf);
  CHECK_EQ(operation_at({0xEA, 0x4C, 0x01, 0x80}, 1), Operation::kJmpSelf);
  CHECK(operation_at({0x4C, 0x03, 0x80}, 0) != Operation::kJmpSelf);
}

TEST(instructions_that_reach_beyond_the_end_of_memory_are_left_to_the_literal_processor) {
  Bytes program(0x8000, 0xEA);
  program[0x7FFF] = 0xAD;  // LDA absolute without its operand
  CHECK_EQ(decode_program(program.data())[0x7FFF].operation, Operation::kLiteral);
  program[0x7FFE] = 0xD0;  // BNE beyond
  program[0x7FFF] = 0x7F;
  CHECK_EQ(decode_program(program.data())[0x7FFE].operation, Operation::kLiteral);
  CHECK_EQ(decode_program(program.data())[0x8000].operation, Operation::kLiteral);
}

TEST(any_bytes_can_be_decoded_and_jumps_stay_inside) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const DecodedProgram code = decode_program(random_bytes(0x8000, seed).data());
    CHECK_EQ(code.size(), std::size_t{0x8001});
    int wrong = 0;
    for (int at = 0; at < 0x8000; ++at) {
      const Instruction& i = code[at];
      const bool branch = i.plain >= Operation::kBplBranch && i.plain <= Operation::kBeqBranch;
      const bool jump = branch || i.plain == Operation::kJmp || i.plain == Operation::kJsr;
      wrong += jump && i.operand >= 0x8000;
      wrong += i.length < 1 || i.length > 3 || at + i.length > 0x8000;
      wrong += i.plain == Operation::kLiteral && (i.operation != i.plain || i.run != 0);
      wrong += i.plain != Operation::kLiteral && i.run < i.cycles;
    }
    CHECK_EQ(wrong, 0);
  }
}

}  // namespace warpzone::nes
