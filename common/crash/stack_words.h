// SPDX-License-Identifier: BSD-3-Clause
//
// The aligned words of a stretch of stack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

// Calls visit(address, word) for each aligned word in [start, end), as far as it is readable and
// inside one region. At most 8 MiB are looked at.
template <class Visit>
void visit_stack_words(Target& target, Address start, Address end, Visit visit) {
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  constexpr std::uint64_t kChunk = 16U << 10;
  constexpr std::uint64_t kMost = 8U << 20;
  start = (start + kWord - 1) / kWord * kWord;
  const Region* region = target.region_at(start);
  if (region == nullptr || end <= start) return;
  end = std::min({end, region->end, start + kMost});
  std::vector<std::uint64_t> words(kChunk / kWord);
  for (Address at = start; at + kWord <= end; at += kChunk) {
    const auto part = std::span(words).first(std::min(kChunk, end - at) / kWord);
    if (!target.read_stack(at, std::as_writable_bytes(part))) return;
    for (std::size_t i = 0; i < part.size(); ++i) visit(at + i * kWord, part[i]);
  }
}

}  // namespace aotidbg
