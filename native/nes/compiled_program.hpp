/// The decoded program as machine code, for processors that the translator knows.
///
/// Compiled code keeps the 6502's registers in the host's and executes what the fast interpreter
/// would, run by run, with the same cycles. It does the frequent instructions itself. At any other,
/// and when a run might reach the limit, it stops in front of the instruction, and the interpreter
/// takes over. So compiled code adds speed and nothing else: without it (another processor, or a
/// system that refuses executable memory) the interpreter executes everything.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "nes/executable_memory.hpp"
#include "nes/program.hpp"

namespace warpzone::nes {

/// What compiled code reads and writes. Registers are as in interpreter_macros.hpp.
struct CompiledContext {
  /// Reads or writes a device in a cycle. A negative result means that nothing has been done, since
  /// the literal path is needed.
  using Read = std::int32_t (*)(void* machine, std::uint32_t address, std::uint64_t cycle);
  using Write = std::int32_t (*)(void* machine, std::uint32_t address, std::uint64_t cycle,
                                 std::uint32_t value);

  std::uint64_t cycle;  ///< When the instruction at `at` begins.
  std::uint64_t guard;  ///< Runs that end later are not begun.
  std::uint8_t* ram;
  void* machine;
  Read read;
  Write write;
  Read read_far;  ///< Of a table whose base is in the address, with the index in the upper half.
  Write write_far;
  const void* tables;  ///< Set by `run`.
  std::uint32_t at;    ///< Index of an instruction.
  std::uint32_t a, x, y, sp, nz, carry, overflow;
};

enum class CompiledExit : std::uint32_t {
  kLimit,    ///< The run at `at` might reach the limit.
  kSpecial,  ///< The instruction at `at` is for the interpreter.
};

class CompiledProgram {
 public:
  /// Returns null where programs cannot be compiled. `program` is the 32 KiB that `code` decodes.
  static std::unique_ptr<const CompiledProgram> compile(const DecodedProgram& code,
                                                        const std::uint8_t* program);

  /// Runs from `context.at` until the interpreter is needed. Any number of threads may do so.
  CompiledExit run(CompiledContext& context) const;

  /// Constants that the code looks up.
  struct Tables {
    static constexpr std::size_t kInstructions = 0x8000 + 1;

    std::array<std::uint8_t, 0x8000> program;
    std::array<std::uint8_t, kInstructions> runs;  ///< `Instruction::run`
    std::array<const std::uint8_t*, kInstructions> bodies;
  };

 private:
  using Enter = CompiledExit (*)(CompiledContext*);

  CompiledProgram(ExecutableMemory memory, std::unique_ptr<const Tables> tables)
      : memory_(std::move(memory)), tables_(std::move(tables)) {}

  ExecutableMemory memory_;  ///< Begins with the entry.
  std::unique_ptr<const Tables> tables_;
};

}  // namespace warpzone::nes
