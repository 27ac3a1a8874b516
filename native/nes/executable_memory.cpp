#include "nes/executable_memory.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>

#include <cstring>

namespace warpzone::nes {

ExecutableMemory::ExecutableMemory(std::span<const std::uint8_t> code) {
  void* memory = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (memory == MAP_FAILED) return;
  std::memcpy(memory, code.data(), code.size());
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, code.size());
    return;
  }
  begin_ = static_cast<std::uint8_t*>(memory);
  size_ = code.size();
}

ExecutableMemory::~ExecutableMemory() {
  if (begin_ != nullptr) munmap(begin_, size_);
}

}  // namespace warpzone::nes

#else

namespace warpzone::nes {

ExecutableMemory::ExecutableMemory(std::span<const std::uint8_t>) {}
ExecutableMemory::~ExecutableMemory() = default;

}  // namespace warpzone::nes

#endif
