#include "nes/mapper.hpp"

namespace warpzone::nes {
namespace {

class Mapper0 final : public Mapper {
 public:
  Mapper0(std::uint32_t program_size, Mirroring mirroring)
      : mask_(program_size - 1), mirroring_(mirroring) {}

  Mirroring mirroring() const override { return mirroring_; }
  std::uint32_t program_offset(std::uint16_t address) const override { return address & mask_; }
  void write(std::uint16_t, std::uint8_t) const override {}
  bool fixed_program() const override { return true; }

 private:
  std::uint32_t mask_;
  Mirroring mirroring_;
};

}  // namespace

std::unique_ptr<const Mapper> make_mapper0(std::uint32_t program_size, Mirroring mirroring) {
  return std::make_unique<Mapper0>(program_size, mirroring);
}

}  // namespace warpzone::nes
