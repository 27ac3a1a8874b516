#include "check.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using warpzone::check::describe;
using warpzone::check::equal;

TEST(bytes_compare_to_plain_literals) {
  const std::uint8_t byte = 200;
  CHECK_EQ(byte, 200);
  CHECK_EQ(std::vector<int>(3).size(), 3);
  CHECK(!equal(byte, static_cast<std::int8_t>(-56)));
}

TEST(bytes_are_described_as_numbers) {
  CHECK_EQ(describe(static_cast<std::uint8_t>(65)), std::string("65 (0x41)"));
  CHECK_EQ(describe(true), std::string("true"));
}

TEST(an_expected_exception_is_caught) {
  CHECK_THROWS(throw std::out_of_range("lane"), std::out_of_range);
}
