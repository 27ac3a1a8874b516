#include "common/task_queue.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace warpzone {

/// What the threads share.
struct TaskQueue::Shared {
  Shared(int helpers, std::function<void(int)> what);
  ~Shared() { stop(); }

  void serve();
  void stop();
  /// Takes the first waiting task and does it, without holding the lock meanwhile.
  void do_one(std::unique_lock<std::mutex>& lock);
  void wait_for_done(std::unique_lock<std::mutex>& lock, std::size_t count);

  const std::function<void(int)> work;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable added, finished;
  std::deque<int> waiting, done;  ///< Guarded by mutex, as are the next two.
  std::size_t wanted = 0;         ///< How many done tasks the caller sleeps for.
  bool stopping = false;
  // Equal to the sizes of the queues; threads watch them before they sleep.
  std::atomic<std::size_t> waiting_count{0}, done_count{0};
};

TaskQueue::Shared::Shared(int helpers, std::function<void(int)> what) : work(std::move(what)) {
  try {
    for (int i = 0; i < helpers; ++i) threads.emplace_back([this] { serve(); });
  } catch (...) {  // The system gives no more threads: those that run must not outlive this.
    stop();
    throw;
  }
}

void TaskQueue::Shared::stop() {
  {
    const std::scoped_lock lock(mutex);
    stopping = true;
  }
  added.notify_all();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

void TaskQueue::Shared::do_one(std::unique_lock<std::mutex>& lock) {
  const int task = waiting.front();
  waiting.pop_front();
  waiting_count.store(waiting.size(), std::memory_order_relaxed);
  lock.unlock();
  work(task);
  lock.lock();
  done.push_back(task);
  done_count.store(done.size(), std::memory_order_relaxed);
  if (wanted != 0 && done.size() >= wanted) finished.notify_one();
}

void TaskQueue::Shared::serve() {
  std::unique_lock lock(mutex);
  for (;;) {
    if (stopping) return;
    if (!waiting.empty()) {
      do_one(lock);
      continue;
    }
    lock.unlock();
    for (int spin = 0; spin < kSpins && waiting_count.load(std::memory_order_relaxed) == 0;
         ++spin) {
      pause_spinning();
    }
    lock.lock();
    added.wait(lock, [&] { return stopping || !waiting.empty(); });
  }
}

void TaskQueue::Shared::wait_for_done(std::unique_lock<std::mutex>& lock, std::size_t count) {
  lock.unlock();
  for (int spin = 0; spin < kSpins && done_count.load(std::memory_order_relaxed) < count; ++spin) {
    pause_spinning();
  }
  lock.lock();
  wanted = count;
  finished.wait(lock, [&] { return done.size() >= count; });
  wanted = 0;
}

TaskQueue::TaskQueue(int count, std::function<void(int)> work)
    : shared_(std::make_unique<Shared>(count - 1, std::move(work))) {}

TaskQueue::~TaskQueue() {
  // A forked child has none of the threads: joining them would never end. The copy is left to the
  // end of the process.
  if (!owner_.is_this_process()) static_cast<void>(shared_.release());
}

void TaskQueue::require_threads() const {
  if (!shared_->threads.empty()) owner_.require_this_process();
}

void TaskQueue::add(std::span<const int> tasks) {
  require_threads();
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->waiting.insert(shared_->waiting.end(), tasks.begin(), tasks.end());
    shared_->waiting_count.store(shared_->waiting.size(), std::memory_order_relaxed);
  }
  shared_->added.notify_all();
}

std::vector<int> TaskQueue::wait(std::size_t count) {
  require_threads();
  std::unique_lock lock(shared_->mutex);
  while (shared_->done.size() < count) {
    if (shared_->waiting.empty()) {
      shared_->wait_for_done(lock, count);
    } else {
      shared_->do_one(lock);
    }
  }
  const auto end = shared_->done.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<int> tasks(shared_->done.begin(), end);
  shared_->done.erase(shared_->done.begin(), end);
  shared_->done_count.store(shared_->done.size(), std::memory_order_relaxed);
  return tasks;
}

}  // namespace warpzone
