/// Memory with machine code: written once, then executable and read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace warpzone::nes {

class ExecutableMemory {
 public:
  /// Copies code. The memory is empty if the system has none to execute.
  explicit ExecutableMemory(std::span<const std::uint8_t> code);
  ExecutableMemory(ExecutableMemory&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ExecutableMemory& operator=(ExecutableMemory&&) = delete;
  ~ExecutableMemory();

  bool empty() const { return begin_ == nullptr; }
  const std::uint8_t* begin() const { return begin_; }

 private:
  std::uint8_t* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace warpzone::nes
