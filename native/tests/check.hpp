/// A test library in one header: `TEST(name) { CHECK(...); CHECK_EQ(a, b); }`.
///
/// Include it in exactly one source file per test program; it defines `main`. A program runs all
/// its tests, or those whose name contains the first argument, and exits 1 if any failed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace warpzone::check {

struct TestCase {
  std::string name;
  std::function<void()> body;
};

inline std::vector<TestCase>& registry() {
  static std::vector<TestCase> cases;
  return cases;
}

inline int& failure_count() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(const char* name, std::function<void()> body) {
    registry().push_back({name, std::move(body)});
  }
};

inline void report_failure(const char* file, int line, const std::string& message) {
  ++failure_count();
  std::cerr << file << ":" << line << ": " << message << "\n";
}

/// Bytes print as numbers, since a character would be unreadable in a report.
template <typename T>
std::string describe(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (std::is_enum_v<T>) {
    out << static_cast<long long>(value);
  } else if constexpr (std::is_integral_v<T>) {
    out << +value << " (0x" << std::hex << (static_cast<std::uint64_t>(value)) << ")";
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else {
    out << "<value of " << sizeof(T) << " bytes>";
  }
  return out.str();
}

template <typename A, typename B>
bool equal(const A& left, const B& right) {
  // Literals such as 5 are signed; comparing them to bytes or sizes must not warn.
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> &&
                !std::is_same_v<B, bool>) {
    return static_cast<std::int64_t>(left) == static_cast<std::int64_t>(right);
  } else {
    return left == right;
  }
}

template <typename A, typename B>
void check_equal(const char* file, int line, const char* text, const A& left, const B& right) {
  if (!equal(left, right)) {
    report_failure(file, line,
                   std::string(text) + ": " + describe(left) + " != " + describe(right));
  }
}

inline int run(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  int ran = 0;
  int failed = 0;
  for (const TestCase& test : registry()) {
    if (test.name.find(filter) == std::string::npos) {
      continue;
    }
    ++ran;
    const int before = failure_count();
    try {
      test.body();
    } catch (const std::exception& error) {
      report_failure(test.name.c_str(), 0, std::string("unexpected exception: ") + error.what());
    }
    const bool passed = failure_count() == before;
    failed += passed ? 0 : 1;
    std::printf("%s %s\n", passed ? "ok  " : "FAIL", test.name.c_str());
  }
  std::printf("%d tests, %d failed\n", ran, failed);
  // A filter that matches nothing is a typing mistake, not a success.
  return ran == 0 || failed > 0 ? 1 : 0;
}

}  // namespace warpzone::check

#define TEST(name)                                                                  \
  static void test_##name();                                                        \
  static const ::warpzone::check::Registration register_##name{#name, test_##name}; \
  static void test_##name()

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      ::warpzone::check::report_failure(__FILE__, __LINE__, "CHECK(" #condition ")"); \
    }                                                                                 \
  } while (false)

#define CHECK_EQ(left, right)                                                                   \
  ::warpzone::check::check_equal(__FILE__, __LINE__, "CHECK_EQ(" #left ", " #right ")", (left), \
                                 (right))

#define CHECK_THROWS(expression, exception_type)                                        \
  do {                                                                                  \
    bool caught = false;                                                                \
    try {                                                                               \
      static_cast<void>(expression);                                                    \
    } catch (const exception_type&) {                                                   \
      caught = true;                                                                    \
    }                                                                                   \
    if (!caught) {                                                                      \
      ::warpzone::check::report_failure(__FILE__, __LINE__,                             \
                                        #expression " did not throw " #exception_type); \
    }                                                                                   \
  } while (false)

int main(int argc, char** argv) { return ::warpzone::check::run(argc, argv); }
