#include "check.hpp"
#include "search/trail.hpp"

using namespace warpzone::search;

namespace {

using Inputs = std::vector<std::uint8_t>;

}  // namespace

TEST(a_path_is_the_inputs_of_all_nodes_from_the_root) {
  Trail trail;
  const NodeId root = trail.add(kNoNode, Inputs{});
  const NodeId first = trail.add(root, Inputs{1, 1, 2});
  const NodeId second = trail.add(first, Inputs{2, 3});
  CHECK(trail.inputs_to(root).empty());
  CHECK(trail.inputs_to(second) == (Inputs{1, 1, 2, 2, 3}));
}

TEST(long_holds_come_back_whole) {
  Trail trail;
  const Inputs held(1000, 0x82);
  CHECK(trail.inputs_to(trail.add(kNoNode, held)) == held);
}

TEST(a_node_lives_as_long_as_something_follows_it) {
  Trail trail;
  const NodeId root = trail.add(kNoNode, Inputs{7});
  const NodeId middle = trail.add(root, Inputs{8});
  const NodeId end = trail.add(middle, Inputs{9});
  trail.release(root);
  trail.release(middle);
  CHECK(trail.inputs_to(end) == (Inputs{7, 8, 9}));
}

TEST(memory_returns_to_zero_when_nothing_is_held) {
  Trail trail;
  NodeId last = trail.add(kNoNode, Inputs{1});
  for (std::uint8_t i = 0; i < 100; ++i) {
    const NodeId next = trail.add(last, Inputs{i, i, 3});
    trail.release(last);
    last = next;
  }
  CHECK(trail.memory() > 0);
  trail.release(last);
  CHECK_EQ(trail.memory(), 0);
}

TEST(room_of_released_nodes_is_used_again) {
  Trail trail;
  const NodeId root = trail.add(kNoNode, Inputs{1});
  const NodeId gone = trail.add(root, Inputs{2});
  trail.release(gone);
  const NodeId other = trail.add(root, Inputs{3, 4});
  CHECK_EQ(other, gone);
  CHECK(trail.inputs_to(other) == (Inputs{1, 3, 4}));
}
