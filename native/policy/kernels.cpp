#include "policy/kernels.hpp"

#include <stdexcept>
#include <vector>

#include "policy/instruction_sets.hpp"

namespace warpzone::policy {
namespace {

std::vector<Kernels> find_available() {
  std::vector<Kernels> found = {kPlainKernels};
#if WARPZONE_X86_KERNELS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.push_back(kAvx2Kernels);
  }
  if (__builtin_cpu_supports("avx512f")) {
    found.push_back(kAvx512Kernels);
    found.back().convolutions = kAvx2Kernels.convolutions;
  }
#endif
  return found;
}

}  // namespace

std::span<const Kernels> available_kernels() {
  static const std::vector<Kernels> kAvailable = find_available();
  return kAvailable;
}

const Kernels& kernels_named(const std::string& name) {
  const std::span<const Kernels> available = available_kernels();
  if (name == "auto") return available.back();
  std::string names = "'auto'";
  for (const Kernels& kernels : available) {
    if (name == kernels.name) return kernels;
    names += ", '" + std::string(kernels.name) + "'";
  }
  throw std::invalid_argument("instructions is '" + name + "'; this machine has " + names);
}

}  // namespace warpzone::policy
