/// Threads that share out numbered pieces of work.
#pragma once

#include <functional>
#include <memory>

#include "common/threads.hpp"

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
  /// throw. Throws ForkedError in a forked child, where the threads are gone.
  void run(int pieces, const std::function<void(int)>& work);
  int count() const { return count_; }

 private:
  struct ThreadPool;

  int count_;
  ThreadOwner owner_;
  std::unique_ptr<ThreadPool> thread_pool_;
};

}  // namespace warpzone
