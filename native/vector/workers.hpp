/// Threads that share out numbered pieces of work.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <condition_variable>
#include <thread>
#include <vector>

namespace warpzone {

/// `count` threads in all, the caller's among them. Which thread does which piece is left to
/// chance, so pieces must not depend on each other.
class Workers {
 public:
  explicit Workers(int count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls `work(i)` for every i below `pieces` and returns when all are done. `work` must not
  /// throw.
  void run(int pieces, const std::function<void(int)>& work);
  int count() const { return static_cast<int>(threads_.size()) + 1; }

 private:
  void serve();
  void take_pieces();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t round_ = 0;  ///< Guarded by mutex_, as are the next two.
  bool stopping_ = false;
  const std::function<void(int)>* work_ = nullptr;
  int pieces_ = 0;
  std::atomic<std::uint64_t> announced_{0};  ///< Equals round_; lets waiting threads spin a little.
  std::atomic<int> next_{0};
  std::atomic<int> busy_{0};
};

}  // namespace warpzone
