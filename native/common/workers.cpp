#include "common/workers.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

namespace warpzone {
namespace {

// A sleeping thread takes some ten microseconds to wake: as long as a lane needs for a step. So it
// watches for a moment before it sleeps.
constexpr int kSpins = 2000;

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#endif
}

long this_process() {
#if defined(_WIN32)
  return 0;  // No fork there.
#else
  return static_cast<long>(getpid());
#endif
}

}  // namespace

/// What the threads share.
struct Workers::Crew {
  explicit Crew(int helpers);
  ~Crew() { stop(); }

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

Workers::Crew::Crew(int helpers) {
  try {
    for (int i = 0; i < helpers; ++i) threads.emplace_back([this] { serve(); });
  } catch (...) {  // The system gives no more threads: those that run must not outlive this.
    stop();
    throw;
  }
}

void Workers::Crew::stop() {
  {
    const std::scoped_lock lock(mutex);
    stopping = true;
    announced.fetch_add(1);
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

void Workers::Crew::take_pieces() {
  for (int i = next.fetch_add(1); i < pieces; i = next.fetch_add(1)) (*work)(i);
}

void Workers::Crew::serve() {
  std::uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && announced.load(std::memory_order_relaxed) == seen; ++spin) {
      pause();
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

void Workers::Crew::run(int count, const std::function<void(int)>& what) {
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
  for (int spin = 0; spin < kSpins && busy.load(std::memory_order_acquire) != 0; ++spin) pause();
  for (int left = busy.load(std::memory_order_acquire); left != 0;
       left = busy.load(std::memory_order_acquire)) {
    busy.wait(left);
  }
}

Workers::Workers(int count) : count_(count), process_(this_process()) {
  if (count > 1) crew_ = std::make_unique<Crew>(count - 1);
}

Workers::~Workers() {
  // A forked child has a copy of the crew but none of its threads: joining them, or taking down
  // what they waited for, would never end. The copy is left to the end of the process.
  if (process_ != this_process()) static_cast<void>(crew_.release());
}

void Workers::run(int pieces, const std::function<void(int)>& work) {
  if (!crew_ || pieces == 1) {
    for (int i = 0; i < pieces; ++i) work(i);
    return;
  }
  if (process_ != this_process()) {
    throw ForkedError(
        "this environment was made before the process forked, and threads do not survive a fork; "
        "make a new one here");
  }
  crew_->run(pieces, work);
}

}  // namespace warpzone
