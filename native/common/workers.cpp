#include "common/workers.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace warpzone {

/// What the threads share.
struct Workers::ThreadPool {
  explicit ThreadPool(int helpers);
  ~ThreadPool() { stop(); }

  void run(int pieces, const std::function<void(int)>& work);
  void serve();
  void take_pieces();
  void stop();

  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t round = 0;  ///< Guarded by mutex, as are the next three.
  bool stopping = false;
  const std::function<void(int)>* work = nullptr;
  int pieces = 0;
  std::atomic<std::uint64_t> announced{0};  ///< Equals round; lets waiting threads spin a little.
  std::atomic<int> next{0};
  std::atomic<int> busy{0};
};

Workers::ThreadPool::ThreadPool(int helpers) {
  try {
    for (int i = 0; i < helpers; ++i) threads.emplace_back([this] { serve(); });
  } catch (...) {  // The system gives no more threads: those that run must not outlive this.
    stop();
    throw;
  }
}

void Workers::ThreadPool::stop() {
  {
    const std::scoped_lock lock(mutex);
    stopping = true;
    announced.fetch_add(1);
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

void Workers::ThreadPool::take_pieces() {
  for (int i = next.fetch_add(1); i < pieces; i = next.fetch_add(1)) (*work)(i);
}

void Workers::ThreadPool::serve() {
  std::uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && announced.load(std::memory_order_relaxed) == seen; ++spin) {
      pause_spinning();
    }
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopping || round != seen; });
      if (stopping) return;
      seen = round;
    }
    take_pieces();
    busy.fetch_sub(1, std::memory_order_acq_rel);
    busy.notify_one();
  }
}

void Workers::ThreadPool::run(int count, const std::function<void(int)>& what) {
  {
    const std::scoped_lock lock(mutex);
    work = &what;
    pieces = count;
    next.store(0);
    busy.store(static_cast<int>(threads.size()));
    ++round;
    announced.store(round);
  }
  changed.notify_all();
  take_pieces();
  for (int spin = 0; spin < kSpins && busy.load(std::memory_order_acquire) != 0; ++spin)
    pause_spinning();
  for (int left = busy.load(std::memory_order_acquire); left != 0;
       left = busy.load(std::memory_order_acquire)) {
    busy.wait(left);
  }
}

Workers::Workers(int count) : count_(count) {
  if (count > 1) thread_pool_ = std::make_unique<ThreadPool>(count - 1);
}

Workers::~Workers() {
  // A forked child has a copy of the thread pool but none of its threads: joining them, or taking
  // down what they waited for, would never end. The copy is left to the end of the process.
  if (!owner_.is_this_process()) static_cast<void>(thread_pool_.release());
}

void Workers::run(int pieces, const std::function<void(int)>& work) {
  if (!thread_pool_ || pieces == 1) {
    for (int i = 0; i < pieces; ++i) work(i);
    return;
  }
  owner_.require_this_process();
  thread_pool_->run(pieces, work);
}

}  // namespace warpzone
