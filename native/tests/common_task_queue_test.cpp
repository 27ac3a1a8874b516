// The queue of tasks: order, helpers, and ends.
#include <atomic>
#include <latch>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "common/task_queue.hpp"

namespace {

using warpzone::TaskQueue;

TEST(the_caller_does_everything_in_order_without_helpers) {
  std::vector<int> played;
  TaskQueue queue(1, [&](int task) { played.push_back(task); });
  queue.add(std::vector<int>{3, 1, 2});
  CHECK(played.empty());
  CHECK(queue.wait(2) == (std::vector<int>{3, 1}));
  CHECK(played == (std::vector<int>{3, 1}));
  queue.add(std::vector<int>{0});
  CHECK(queue.wait(2) == (std::vector<int>{2, 0}));
}

TEST(helpers_work_while_the_caller_does_something_else) {
  std::latch all_done(4);
  TaskQueue queue(3, [&](int) { all_done.count_down(); });
  queue.add(std::vector<int>{0, 1, 2, 3});
  all_done.wait();  // Would hang if tasks were done only in `wait`.
  CHECK_EQ(queue.wait(4).size(), 4);
}

TEST(a_slow_task_holds_up_no_other) {
  std::latch begun(1), release(1);
  TaskQueue queue(2, [&](int task) {
    if (task != 0) return;
    begun.count_down();
    release.wait();
  });
  queue.add(std::vector<int>{0});
  begun.wait();  // The helper has it.
  for (int task = 1; task < 50; ++task) {
    queue.add(std::vector<int>{task});
    CHECK(queue.wait(1) == std::vector<int>{task});
  }
  release.count_down();
  CHECK(queue.wait(1) == std::vector<int>{0});
}

TEST(every_task_is_done_exactly_once) {
  constexpr int kTasks = 64, kTurns = 300;
  std::vector<std::atomic<int>> counts(kTasks);
  TaskQueue queue(4, [&](int task) { ++counts[static_cast<std::size_t>(task)]; });
  std::vector<int> tasks(kTasks);
  std::iota(tasks.begin(), tasks.end(), 0);
  queue.add(tasks);
  for (int turn = 0; turn < kTurns; ++turn) queue.add(queue.wait(16));
  queue.wait(kTasks);
  int sum = 0;
  for (const auto& count : counts) sum += count;
  CHECK_EQ(sum, kTasks + 16 * kTurns);
}

TEST(a_queue_may_end_with_tasks_under_way) {
  for (int turn = 0; turn < 20; ++turn) {
    std::atomic<int> done = 0;
    {
      TaskQueue queue(3, [&](int) { ++done; });
      queue.add(std::vector<int>(100, 0));
    }
    CHECK(done <= 100);
  }
}

}  // namespace
