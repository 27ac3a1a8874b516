/// The sum-tree of prioritized replay.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "replay/sum_tree.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;
using replay::SumTree;

namespace {

template <typename Value>
using List = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Value>
std::span<const Value> span_over(const List<Value>& list) {
  return {list.data(), list.shape(0)};
}

OwnedArray<std::int64_t> find(const SumTree& self, const List<double>& shares) {
  std::vector<std::int64_t> found(shares.shape(0));
  self.find(span_over(shares), found);
  return array_of(found.data(), {found.size()});
}

OwnedArray<double> get(const SumTree& self, const List<std::int64_t>& indices) {
  std::vector<double> weights(indices.shape(0));
  self.get(span_over(indices), weights);
  return array_of(weights.data(), {weights.size()});
}

}  // namespace

void bind_replay(nb::module_& module) {
  nb::class_<SumTree>(module, "SumTree", "Draws leaves in proportion to their weights.")
      .def(nb::init<std::int64_t>(), "capacity"_a)
      .def_prop_ro("capacity", &SumTree::capacity)
      .def_prop_ro("nbytes", &SumTree::bytes, "Memory that is allocated.")
      .def_prop_ro("total", &SumTree::total, "Sum of all weights.")
      .def(
          "set",
          [](SumTree& self, const List<std::int64_t>& indices, const List<double>& weights) {
            self.set(span_over(indices), span_over(weights));
          },
          "indices"_a, "weights"_a, "Gives leaves new weights.")
      .def("get", &get, "indices"_a, "The weights of leaves.")
      .def("find", &find, "shares"_a, "The leaves at these shares, 0 to below 1, of the total.")
      .def(
          "weights",
          [](const SumTree& self) {
            const auto leaves = self.leaves();
            return array_of(leaves.data(), {leaves.size()});
          },
          "A copy of all weights.");
}

}  // namespace warpzone::bindings
