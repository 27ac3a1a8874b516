/// Threads that work through a queue of numbered tasks, without waiting for each other.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/threads.hpp"

namespace warpzone {

/// Tasks begin in the order in which they were added and are returned in the order in which they
/// were done. One caller at a time: `add` and `wait` must not overlap.
class TaskQueue {
 public:
  /// Starts `count - 1` threads; the caller's thread works too, while it is in `wait`. `work` must
  /// not throw.
  TaskQueue(int count, std::function<void(int)> work);
  /// Drops the tasks that have not begun and waits for those that have.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Throws ForkedError in a forked child, as `wait` does, where the threads are gone.
  void add(std::span<const int> tasks);
  /// Returns the `count` tasks that were done first, which the caller must have added, and forgets
  /// them.
  std::vector<int> wait(std::size_t count);

 private:
  struct Shared;

  void require_threads() const;

  ThreadOwner owner_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace warpzone
