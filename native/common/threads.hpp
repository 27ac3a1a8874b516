/// What everything that owns threads shares.
#pragma once

#include <stdexcept>

namespace warpzone {

/// Raised in a child process that tries to use its parent's threads.
struct ForkedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A sleeping thread takes some ten microseconds to wake: as long as a lane needs for a step. So a
/// thread watches for this many pauses before it sleeps.
inline constexpr int kSpins = 2000;

/// Tells the processor that this thread waits in a loop.
void pause_spinning();

/// The process that started some threads: a forked child has copies of its parent's objects, but
/// none of the threads.
class ThreadOwner {
 public:
  ThreadOwner();
  bool is_this_process() const;
  /// Throws ForkedError in a forked child.
  void require_this_process() const;

 private:
  long process_;
};

}  // namespace warpzone
