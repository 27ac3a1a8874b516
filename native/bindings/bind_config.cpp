/// Environment parameters and reward weights, by name.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/bindings.hpp"
#include "mario/reward.hpp"
#include "vector/config.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename Value>
Value cast_named(const char* name, nb::handle value, const char* expected) {
  try {
    return nb::cast<Value>(value);
  } catch (const nb::cast_error&) {
    throw std::invalid_argument(std::string(name) + " is " + nb::repr(value).c_str() +
                                "; it must be " + expected);
  }
}

template <typename Value>
struct Parameter;
template <>
struct Parameter<int> {
  static constexpr const char* kExpected = "an integer";
};
template <>
struct Parameter<double> {
  static constexpr const char* kExpected = "a number";
};
template <>
struct Parameter<bool> {
  static constexpr const char* kExpected = "True or False";
};
template <>
struct Parameter<Choice> {
  static constexpr const char* kExpected = "True, False or None";
};
template <>
struct Parameter<std::string> {
  static constexpr const char* kExpected = "a string";
};
template <>
struct Parameter<Names> {
  static constexpr const char* kExpected = "a list of level names";
};
template <>
struct Parameter<Buttons> {
  static constexpr const char* kExpected = "a list of button bytes";
};
template <>
struct Parameter<Size> {
  static constexpr const char* kExpected = "a pair (height, width)";
};

void set_parameter(EnvConfig& config, const std::string& name, nb::handle value) {
  if (name == "start_state") {  // The only string that holds bytes, not text.
    const auto blob = cast_named<nb::bytes>("start_state", value, "bytes");
    config.start_state.assign(blob.c_str(), blob.size());
    return;
  }
#define WARPZONE_SET(type, field, preset, help)                                 \
  if (name == #field) {                                                         \
    config.field = cast_named<type>(#field, value, Parameter<type>::kExpected); \
    return;                                                                     \
  }
  WARPZONE_ENV_PARAMETERS(WARPZONE_SET)
#undef WARPZONE_SET
  std::string known;
#define WARPZONE_LIST(type, field, preset, help) known += known.empty() ? #field : ", " #field;
  WARPZONE_ENV_PARAMETERS(WARPZONE_LIST)
#undef WARPZONE_LIST
  throw std::invalid_argument("'" + name +
                              "' is not an environment parameter; parameters are: " + known);
}

nb::object get_parameter(const EnvConfig& config, const std::string& name) {
  if (name == "start_state") {
    return nb::bytes(config.start_state.data(), config.start_state.size());
  }
#define WARPZONE_GET(type, field, preset, help) \
  if (name == #field) return nb::cast(config.field);
  WARPZONE_ENV_PARAMETERS(WARPZONE_GET)
#undef WARPZONE_GET
  throw nb::attribute_error(("there is no environment parameter '" + name + "'").c_str());
}

nb::dict parameter_help() {
  nb::dict result;
#define WARPZONE_HELP(type, field, preset, help) result[#field] = help;
  WARPZONE_ENV_PARAMETERS(WARPZONE_HELP)
#undef WARPZONE_HELP
  return result;
}

/// A weight is a number, or (start, end, steps) for one that moves.
mario::Anneal anneal_from(const char* name, nb::handle value) {
  double number = 0.0;
  if (nb::try_cast(value, number)) return mario::constant(number);
  const auto [start, end, steps] = cast_named<std::tuple<double, double, std::int64_t>>(
      name, value, "a number or (start, end, steps)");
  if (steps < 0) {
    throw std::invalid_argument(std::string("reward weight ") + name + " is annealed over " +
                                std::to_string(steps) + " steps; give 0 or more");
  }
  return {start, end, steps};
}

nb::object anneal_value(const mario::Anneal& anneal) {
  if (anneal.steps <= 0) return nb::cast(anneal.start);
  return nb::cast(std::make_tuple(anneal.start, anneal.end, anneal.steps));
}

#define WARPZONE_ANNEALED_WEIGHTS(X) X(scale) X(distance) X(death)
#define WARPZONE_PLAIN_WEIGHTS(X)   \
  X(score, double)                  \
  X(coin, double)                   \
  X(power, double)                  \
  X(clear, double)                  \
  X(milestone, double)              \
  X(milestone_pixels, std::int32_t) \
  X(time, double) X(early_steps, std::int32_t) X(early_factor, double)

[[noreturn]] void refuse_weight(const std::string& name, const std::string& value,
                                const std::string& allowed) {
  throw std::invalid_argument("reward weight " + name + " is " + value + "; it must be " + allowed);
}

void check_weight(const std::string& name, double value) {
  if (!(value > -1e12 && value < 1e12)) {
    refuse_weight(name, std::to_string(value), "a finite number");
  }
}

/// The weights that are not weights but numbers of pixels or steps.
void check_weight(const std::string& name, std::int32_t value) {
  const std::int32_t least = name == "milestone_pixels" ? 1 : 0;
  if (value < least) {
    refuse_weight(name, std::to_string(value), "at least " + std::to_string(least));
  }
}

void set_weight(mario::RewardWeights& weights, const std::string& name, nb::handle value) {
#define WARPZONE_SET(field)                                  \
  if (name == #field) {                                      \
    const mario::Anneal anneal = anneal_from(#field, value); \
    check_weight(#field, anneal.start);                      \
    check_weight(#field, anneal.end);                        \
    weights.field = anneal;                                  \
    return;                                                  \
  }
  WARPZONE_ANNEALED_WEIGHTS(WARPZONE_SET)
#undef WARPZONE_SET
#define WARPZONE_SET(field, type)                                    \
  if (name == #field) {                                              \
    const type number = cast_named<type>(#field, value, "a number"); \
    check_weight(#field, number);                                    \
    weights.field = number;                                          \
    return;                                                          \
  }
  WARPZONE_PLAIN_WEIGHTS(WARPZONE_SET)
#undef WARPZONE_SET
  std::string known;
#define WARPZONE_LIST(field, ...) known += known.empty() ? #field : ", " #field;
  WARPZONE_ANNEALED_WEIGHTS(WARPZONE_LIST)
  WARPZONE_PLAIN_WEIGHTS(WARPZONE_LIST)
#undef WARPZONE_LIST
  throw std::invalid_argument("'" + name + "' is not a reward weight; weights are: " + known);
}

nb::dict weights_dict(const mario::RewardWeights& weights) {
  nb::dict result;
#define WARPZONE_GET(field) result[#field] = anneal_value(weights.field);
  WARPZONE_ANNEALED_WEIGHTS(WARPZONE_GET)
#undef WARPZONE_GET
#define WARPZONE_GET(field, type) result[#field] = weights.field;
  WARPZONE_PLAIN_WEIGHTS(WARPZONE_GET)
#undef WARPZONE_GET
  return result;
}

}  // namespace

void bind_config(nb::module_& module) {
  nb::class_<EnvConfig>(module, "EnvConfig", "Parameters of an environment, by keyword.")
      .def(
          "__init__",
          [](EnvConfig* self, const nb::kwargs& parameters) {
            EnvConfig config;
            for (const auto& [name, value] : parameters) {
              set_parameter(config, nb::cast<std::string>(name), value);
            }
            new (self) EnvConfig(std::move(config));
          },
          "parameters"_a)
      .def("__getattr__", &get_parameter,
           nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
      .def_static("help", &parameter_help, "Name and help text of every parameter, in order.");

  nb::class_<mario::RewardWeights>(module, "RewardWeights",
                                   "Weights of the shaped reward; a weight that moves is given as "
                                   "(start, end, steps).")
      .def(
          "__init__",
          [](mario::RewardWeights* self, const nb::kwargs& weights) {
            mario::RewardWeights result;
            for (const auto& [name, value] : weights) {
              set_weight(result, nb::cast<std::string>(name), value);
            }
            new (self) mario::RewardWeights(result);
          },
          "weights"_a)
      .def("as_dict", &weights_dict, "All weights by name.");
}

}  // namespace warpzone::bindings
