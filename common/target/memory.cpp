// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace aotidbg {

namespace {
constexpr std::uint64_t kPage = 4096;
}

Result<std::vector<std::byte>> Memory::read_bytes(Address at, std::uint64_t size,
                                                  std::uint64_t limit) {
  if (size > limit) {
    return fail(fmt::format("{} bytes at {:#x} are more than the {} that are read at once", size,
                            at, limit),
                at);
  }
  std::vector<std::byte> bytes(size);
  if (auto done = read(at, bytes); !done) return tl::unexpected(done.error());
  return bytes;
}

// Page by page: the string may end just before a page that is missing.
Result<std::string> Memory::read_c_string(Address at, std::size_t limit) {
  std::string text;
  std::array<std::byte, kPage> page;
  for (Address next = at; text.size() < limit;) {
    const std::uint64_t in_page = kPage - next % kPage;
    const std::size_t wanted = std::min<std::size_t>(in_page, limit - text.size());
    const std::span<std::byte> part(page.data(), wanted);
    if (auto done = read(next, part); !done) return tl::unexpected(done.error());
    const auto end = std::find(part.begin(), part.end(), std::byte{0});
    text.append(reinterpret_cast<const char*>(part.data()),
                static_cast<std::size_t>(end - part.begin()));
    if (end != part.end()) return text;
    next += wanted;
    if (next < at) break;
  }
  return fail(fmt::format("the text at {:#x} does not end within {} bytes", at, limit), at);
}

}  // namespace aotidbg
