#include "nes/cartridge.hpp"

#include <cstring>

#include "nes/hash.hpp"
#include "nes/patterns.hpp"

namespace warpzone::nes {
namespace {

constexpr std::size_t kHeaderSize = 16, kTrainerSize = 512;
constexpr std::size_t kProgramUnit = 16384, kPatternUnit = 8192;

std::string count(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

std::shared_ptr<const Cartridge> Cartridge::parse(std::span<const std::uint8_t> image,
                                                  bool compile) {
  if (image.size() < kHeaderSize) {
    throw CartridgeError("not an iNES image: it has only " + count(image.size()) +
                         ", the header alone takes 16");
  }
  if (std::memcmp(image.data(), "NES\x1a", 4) != 0) {
    throw CartridgeError("not an iNES image: it does not begin with the bytes 'NES' 1A");
  }
  const bool nes2 = (image[7] & 0x0C) == 0x08;
  unsigned mapper = image[6] >> 4;
  // Old dumping tools wrote their name over bytes 7-15, so the high nibble counts only when the
  // bytes that an iNES 1.0 header leaves at zero are zero.
  const bool clean = image[12] == 0 && image[13] == 0 && image[14] == 0 && image[15] == 0;
  if (nes2 || clean) mapper |= image[7] & 0xF0u;
  if (nes2) mapper |= (image[8] & 0x0Fu) << 8;
  if (mapper != 0) {
    throw CartridgeError("cartridge board (mapper) " + std::to_string(mapper) +
                         " is not supported; only mapper 0 is");
  }
  if (nes2 && image[9] != 0) {
    throw CartridgeError("the NES 2.0 header asks for more memory than mapper 0 can hold");
  }
  if ((image[6] & 0x08) != 0) {
    throw CartridgeError("four-screen nametables are not supported");
  }
  const std::size_t program_size = image[4] * kProgramUnit;
  const std::size_t pattern_size = image[5] * kPatternUnit;
  if (program_size != kProgramUnit && program_size != 2 * kProgramUnit) {
    throw CartridgeError("a mapper-0 cartridge has 16 or 32 KiB of program, this header says " +
                         count(program_size));
  }
  if (pattern_size > kPatternUnit) {
    throw CartridgeError("a mapper-0 cartridge has at most 8 KiB of patterns, this header says " +
                         count(pattern_size));
  }
  const std::size_t trainer = (image[6] & 0x04) != 0 ? kTrainerSize : 0;
  const std::size_t expected = kHeaderSize + trainer + program_size + pattern_size;
  if (image.size() < expected) {
    throw CartridgeError("the image is cut short: its header promises " + count(expected) +
                         ", it has " + count(image.size()));
  }

  auto cartridge = std::shared_ptr<Cartridge>(new Cartridge());
  const std::uint8_t* program = image.data() + kHeaderSize + trainer;
  cartridge->program_.assign(program, program + program_size);
  if (program_size == kProgramUnit) {
    cartridge->program_.insert(cartridge->program_.end(), program, program + program_size);
  }
  const std::uint8_t* patterns = program + program_size;
  cartridge->patterns_.assign(patterns, patterns + pattern_size);
  cartridge->pattern_rows_ = expand_patterns(cartridge->patterns_);
  const Mirroring mirroring =
      (image[6] & 0x01) != 0 ? Mirroring::kVertical : Mirroring::kHorizontal;
  cartridge->mapper_ = make_mapper0(static_cast<std::uint32_t>(program_size), mirroring);
  cartridge->decoded_ = decode_program(cartridge->program_.data());
  if (compile) {
    cartridge->compiled_ =
        CompiledProgram::compile(cartridge->decoded_, cartridge->program_.data());
  }
  cartridge->fingerprint_ =
      hash_bytes(cartridge->patterns_, hash_bytes(cartridge->program_, image[6] & 0x01u));
  return cartridge;
}

}  // namespace warpzone::nes
