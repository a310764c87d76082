// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <span>

#include "common/arch/x86_64.h"

namespace aotidbg {
namespace {

// Intel SDM volume 2, CALL: E8 rel32, or FF /2 with a ModRM byte. Prefixes before them do not
// matter to where the instruction ends.
constexpr std::size_t kDirectCall = 5;
constexpr std::size_t kLongestIndirectCall = 7;  // FF, ModRM, SIB, disp32

// Bytes of FF /2 with this ModRM (and SIB) byte; 0 when it is another instruction.
std::size_t indirect_call_length(std::byte modrm_byte, std::byte sib_byte) {
  const unsigned modrm = std::to_integer<unsigned>(modrm_byte);
  const unsigned mod = modrm >> 6;
  const unsigned rm = modrm & 7;
  if (((modrm >> 3) & 7) != 2) return 0;
  if (mod == 3) return 2;
  const bool has_sib = rm == 4;
  std::size_t length = has_sib ? 3 : 2;
  if (mod == 1) {
    length += 1;
  } else if (mod == 2) {
    length += 4;
  } else if (rm == 5 || (has_sib && (std::to_integer<unsigned>(sib_byte) & 7) == 5)) {
    length += 4;  // rip-relative, or a SIB without a base
  }
  return length;
}

bool ends_with_call(std::span<const std::byte> code) {
  if (code.size() >= kDirectCall && code[code.size() - kDirectCall] == std::byte{0xE8}) return true;
  for (std::size_t length = 2; length <= code.size(); ++length) {
    const auto tail = code.last(length);
    if (tail[0] != std::byte{0xFF}) continue;
    const std::byte sib = length > 2 ? tail[2] : std::byte{0};
    if (indirect_call_length(tail[1], sib) == length) return true;
  }
  return false;
}

}  // namespace

bool follows_call(Memory& memory, Address return_address) {
  std::array<std::byte, kLongestIndirectCall> code;
  // The longest first; less where the code begins in the middle.
  for (std::size_t length = code.size(); length >= 2; --length) {
    if (return_address < length) continue;
    const auto bytes = std::span(code).first(length);
    if (memory.read(return_address - length, bytes)) return ends_with_call(bytes);
  }
  return false;
}

}  // namespace aotidbg
