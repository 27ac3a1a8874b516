#include "vector/workers.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
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

}  // namespace

Workers::Workers(int count) {
  for (int i = 1; i < count; ++i) threads_.emplace_back([this] { serve(); });
}

Workers::~Workers() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    announced_.fetch_add(1);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::take_pieces() {
  for (int i = next_.fetch_add(1); i < pieces_; i = next_.fetch_add(1)) (*work_)(i);
}

void Workers::serve() {
  std::uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && announced_.load(std::memory_order_relaxed) == seen; ++spin) {
      pause();
    }
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    take_pieces();
    busy_.fetch_sub(1, std::memory_order_acq_rel);
    busy_.notify_one();
  }
}

void Workers::run(int pieces, const std::function<void(int)>& work) {
  if (threads_.empty() || pieces == 1) {
    for (int i = 0; i < pieces; ++i) work(i);
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    work_ = &work;
    pieces_ = pieces;
    next_.store(0);
    busy_.store(static_cast<int>(threads_.size()));
    ++round_;
    announced_.store(round_);
  }
  changed_.notify_all();
  take_pieces();
  for (int spin = 0; spin < kSpins && busy_.load(std::memory_order_acquire) != 0; ++spin) pause();
  for (int busy = busy_.load(std::memory_order_acquire); busy != 0;
       busy = busy_.load(std::memory_order_acquire)) {
    busy_.wait(busy);
  }
}

}  // namespace warpzone
