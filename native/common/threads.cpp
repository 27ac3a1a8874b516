#include "common/threads.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

namespace warpzone {
namespace {

long this_process() {
#if defined(_WIN32)
  return 0;  // No fork there.
#else
  return static_cast<long>(getpid());
#endif
}

}  // namespace

void pause_spinning() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#endif
}

ThreadOwner::ThreadOwner() : process_(this_process()) {}

bool ThreadOwner::is_this_process() const { return process_ == this_process(); }

void ThreadOwner::require_this_process() const {
  if (!is_this_process()) {
    throw ForkedError(
        "this environment was made before the process forked, and threads do not survive a fork; "
        "make a new one here");
  }
}

}  // namespace warpzone
