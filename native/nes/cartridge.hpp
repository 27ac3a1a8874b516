/// A cartridge: the program and pattern memory of an iNES file, parsed once and shared by every
/// console that runs it. Immutable after construction, so any number of threads may read it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "nes/compiled_program.hpp"
#include "nes/mapper.hpp"
#include "nes/program.hpp"

namespace warpzone::nes {

/// Raised for a ROM that this machine cannot run; the text is meant for users.
struct CartridgeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Cartridge {
 public:
  /// Parses an iNES or NES 2.0 image. Throws CartridgeError with one sentence naming the fault.
  /// Without `compile`, consoles interpret the program.
  static std::shared_ptr<const Cartridge> parse(std::span<const std::uint8_t> image,
                                                bool compile = true);

  /// The 32 KiB at $8000-$FFFF as the processor sees them at power-on.
  const std::uint8_t* program() const { return program_.data(); }
  /// The same 32 KiB decoded for the fast interpreter.
  const DecodedProgram& decoded() const { return decoded_; }
  /// The same as machine code; null where it is interpreted.
  const CompiledProgram* compiled() const { return compiled_.get(); }

  bool has_pattern_ram() const { return patterns_.empty(); }
  /// 8 KiB pattern memory, or empty when the cartridge has RAM in its place.
  const std::vector<std::uint8_t>& patterns() const { return patterns_; }
  /// The same patterns, one 8-pixel row a word (see patterns.hpp).
  const std::vector<std::uint64_t>& pattern_rows() const { return pattern_rows_; }

  const Mapper& mapper() const { return *mapper_; }
  /// Identifies program and pattern memory (not the header); save states carry it.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  Cartridge() = default;

  std::vector<std::uint8_t> program_;
  std::vector<std::uint8_t> patterns_;
  std::vector<std::uint64_t> pattern_rows_;
  std::unique_ptr<const Mapper> mapper_;
  DecodedProgram decoded_;
  std::unique_ptr<const CompiledProgram> compiled_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace warpzone::nes
