/// Threads that share out numbered pieces of work.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

namespace warpzone {

/// Raised in a child process that tries to use its parent's threads.
struct ForkedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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
  struct Crew;

  int count_;
  long process_;  ///< The one that started the threads.
  std::unique_ptr<Crew> crew_;
};

}  // namespace warpzone
