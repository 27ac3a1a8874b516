/// Table look-ups over rows of pixels: the one place where the processor's vector instructions
/// are chosen, at run time, so that one build is fast everywhere and runs anywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpzone::nes {

/// out[i] = table[in[i]] for values below 32, in `rows` rows of `width` bytes that begin a stride
/// apart. `in` and `out` do not overlap.
void look_up_32(std::uint8_t* out, int out_stride, const std::uint8_t* in, int in_stride, int width,
                int rows, const std::uint8_t* table);

/// out[i] = table[in[i]] for values below 64.
void look_up_64(std::uint8_t* out, const std::uint8_t* in, int count, const std::uint8_t* table);

}  // namespace warpzone::nes
