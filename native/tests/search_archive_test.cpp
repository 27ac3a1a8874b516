#include <set>

#include "check.hpp"
#include "nes_support.hpp"
#include "search/archive.hpp"

using namespace warpzone;
using namespace warpzone::search;

namespace {

constexpr std::size_t kAmple = std::size_t{64} << 20;
using Inputs = std::vector<std::uint8_t>;

const nes::Console& any_console() {
  static const nes::Console console(nes::cartridge_of({.code = {0x4C, 0x00, 0x80}}));
  return console;
}

Discovery at(CellKey key, std::int32_t frames, bool alternative = false) {
  return {key, frames, alternative, 0, PackedState(any_console())};
}

/// An archive that holds the start, cell 0.
struct Fixture {
  explicit Fixture(std::size_t limit = kAmple) : archive(limit) { start = add(at(0, 0), kNoNode); }

  NodeId add(Discovery&& discovery, NodeId parent, const Inputs& inputs = {1}) {
    NodeId node = kNoNode;
    change = archive.add(std::move(discovery), parent, inputs, node, random);
    return node;
  }
  /// Chooses until the cell has come up so often.
  void choose(CellKey key, int times) {
    while (times > 0) times -= archive.choose(random, 1 << 30)->key == key ? 1 : 0;
  }

  Archive archive;
  Random random{1};
  NodeId start = kNoNode;
  Archive::Change change = Archive::Change::kNone;
};

}  // namespace

TEST(an_unknown_cell_is_new) {
  Fixture f;
  CHECK(f.archive.wants(5, 100));
  f.add(at(5, 100), f.start);
  CHECK_EQ(f.change, Archive::Change::kNew);
  CHECK_EQ(f.archive.size(), 2);
}

TEST(a_shorter_way_replaces_and_a_longer_one_does_not) {
  Fixture f;
  f.add(at(5, 100), f.start, {1, 1});
  f.add(at(5, 100), f.start, {2});
  CHECK_EQ(f.change, Archive::Change::kNone);
  const NodeId better = f.add(at(5, 99), f.start, {3});
  CHECK_EQ(f.change, Archive::Change::kBetter);
  CHECK(f.archive.trail().inputs_to(better) == (Inputs{1, 3}));
  CHECK_EQ(f.archive.size(), 2);
}

TEST(the_way_to_a_cell_stays_when_an_earlier_cell_gets_another) {
  Fixture f;
  const NodeId first = f.add(at(5, 100), f.start, {4});
  const NodeId second = f.add(at(6, 200), first, {5});
  f.add(at(5, 50), f.start, {9, 9});
  CHECK(f.archive.trail().inputs_to(second) == (Inputs{1, 4, 5}));
}

TEST(only_a_tired_cell_takes_a_longer_way) {
  Fixture f;
  f.add(at(5, 100), f.start);
  f.add(at(5, 150, true), f.start);
  CHECK_EQ(f.change, Archive::Change::kNone);
  f.choose(5, 12);
  CHECK(f.archive.tires_of(5, 150));
  CHECK(!f.archive.tires_of(5, 5000));
  f.add(at(5, 150, true), f.start);
  CHECK_EQ(f.change, Archive::Change::kBetter);
  CHECK(!f.archive.tires_of(5, 150));
}

TEST(praise_keeps_a_cell_from_tiring) {
  Fixture f;
  f.add(at(5, 100), f.start);
  f.choose(5, 11);
  f.archive.praise(5);
  f.choose(5, 1);
  CHECK(!f.archive.tires_of(5, 100));
}

TEST(every_cell_is_chosen_sooner_or_later) {
  Fixture f;
  for (CellKey key = 1; key < 300; ++key) f.add(at(key, 10), f.start);
  std::set<CellKey> chosen;
  for (int i = 0; i < 3000; ++i) chosen.insert(f.archive.choose(f.random, 1 << 30)->key);
  CHECK_EQ(chosen.size(), 300);
}

TEST(cells_beyond_the_best_way_are_not_chosen) {
  Fixture f;
  for (CellKey key = 1; key < 50; ++key) f.add(at(key, static_cast<std::int32_t>(key)), f.start);
  for (int i = 0; i < 500; ++i) {
    const Cell* cell = f.archive.choose(f.random, 20);
    CHECK(cell == nullptr || cell->frames < 20);
  }
  CHECK(f.archive.choose(f.random, 0) == nullptr);
}

TEST(memory_never_passes_its_limit) {
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  Fixture f(kLimit);
  NodeId parent = f.start;
  for (CellKey key = 1; key < 2000; ++key) {
    // A few long chains, so that nodes outlive their cells.
    const NodeId node = f.add(at(key, 10), parent, Inputs(40, static_cast<std::uint8_t>(key)));
    f.archive.trail().hold(node);
    if (parent != f.start) f.archive.trail().release(parent);
    parent = key % 50 == 0 ? f.start : node;
    if (parent == f.start) f.archive.trail().release(node);
    CHECK(f.archive.memory() <= kLimit);
  }
  CHECK(f.archive.forgotten() > 1000);
  CHECK(f.archive.knows(0));
}

TEST(a_forgotten_cell_can_be_found_again) {
  Fixture f(std::size_t{1} << 19);
  for (CellKey key = 1; key < 500; ++key) f.add(at(key, 10), f.start);
  CellKey forgotten = 1;
  while (f.archive.knows(forgotten)) ++forgotten;
  CHECK(f.archive.wants(forgotten, 1000));
  f.add(at(forgotten, 1000), f.start);
  CHECK_EQ(f.change, Archive::Change::kNew);
  CHECK(f.archive.knows(forgotten));
}
