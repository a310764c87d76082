// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/mutator.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace aotidbg {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kMostChanges = 12;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

bool chance(Random& random, unsigned percent) { return random() % 100 < percent; }

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

void store(std::vector<std::byte>& mutant, std::size_t at, std::uint64_t value, std::size_t size) {
  if (at >= mutant.size()) return;
  std::memcpy(mutant.data() + at, &value, std::min(size, mutant.size() - at));
}

}  // namespace

Mutator::Mutator(std::span<const std::byte> core, Damage damage) : core_(core), damage_(damage) {
  const auto header = value_at<Elf64_Ehdr>(core, 0);
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  headers_end_ = header.e_phoff + segments.size() * sizeof(Elf64_Phdr);
  notes_end_ = headers_end_;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    segments[i] = value_at<Elf64_Phdr>(core, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segments[i].p_type == PT_NOTE) notes_end_ = segments[i].p_offset + segments[i].p_filesz;
  }
  const auto is_mapped = [&segments](std::uint64_t address) {
    return std::any_of(segments.begin(), segments.end(), [address](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_memsz;
    });
  };
  for (std::size_t at = (notes_end_ + kWord - 1) / kWord * kWord; at + kWord <= core.size();
       at += kWord) {
    if (word(at) == 0) continue;
    words_.push_back(at);
    if (is_mapped(word(at))) pointers_.push_back(at);
  }
}

std::uint64_t Mutator::word(std::size_t at) const { return value_at<std::uint64_t>(core_, at); }

// The few bytes of headers steer everything, so they are hit more often than their size asks for.
std::size_t Mutator::place(Random& random) const {
  const std::size_t kind = below(random, damage_ == Damage::headers ? 35 : 100);
  if (kind < 5) return below(random, sizeof(Elf64_Ehdr));
  if (kind < 20) return sizeof(Elf64_Ehdr) + below(random, headers_end_ - sizeof(Elf64_Ehdr));
  if (kind < 35) return headers_end_ + below(random, notes_end_ - headers_end_);
  if (kind < 90)
    return words_[below(random, words_.size())] + (chance(random, 70) ? 0 : below(random, kWord));
  return below(random, core_.size());
}

std::uint64_t Mutator::interesting(Random& random) const {
  const std::array<std::uint64_t, 24> values = {
      0,
      1,
      2,
      ~std::uint64_t{0},
      ~std::uint64_t{0} - 1,
      ~std::uint64_t{0} - 7,
      0x7f,
      0x80,
      0xff,
      0x100,
      0xfff,
      0x1000,
      0xffff,
      std::uint64_t{1} << 16,
      std::uint64_t{1} << 20,
      (std::uint64_t{1} << 31) - 1,
      std::uint64_t{1} << 31,
      (std::uint64_t{1} << 32) - 1,
      std::uint64_t{1} << 40,
      std::uint64_t{1} << 62,
      (std::uint64_t{1} << 63) - 1,
      std::uint64_t{1} << 63,
      0xfffffffffffff000,
      core_.size(),
  };
  return values[below(random, values.size())];
}

// To another object, to another place in the same one, or just beside.
void Mutator::change_pointer(std::vector<std::byte>& mutant, Random& random) const {
  if (pointers_.empty()) return;
  const std::size_t at = pointers_[below(random, pointers_.size())];
  const std::uint64_t other = word(pointers_[below(random, pointers_.size())]);
  const auto nudge =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(below(random, 512)) - 256);
  switch (below(random, 4)) {
    case 0:
      return store(mutant, at, word(at) + nudge * kWord, kWord);
    case 1:
      return store(mutant, at, word(at) + nudge, kWord);
    case 2:
      return store(mutant, at, other + nudge * kWord, kWord);
    default:
      return store(mutant, at, other, kWord);
  }
}

void Mutator::copy_block(std::vector<std::byte>& mutant, Random& random) const {
  const std::size_t size = std::size_t{1} << below(random, 9);
  const std::size_t from = place(random);
  const std::size_t to = place(random);
  const std::size_t last = std::max(from, to);
  if (last >= mutant.size()) return;
  std::memmove(mutant.data() + to, mutant.data() + from, std::min(size, mutant.size() - last));
}

void Mutator::change(std::vector<std::byte>& mutant, Random& random) const {
  const std::size_t at = place(random);
  if (at >= mutant.size()) return;
  std::size_t kind = below(random, 100);
  // Pointers are in memory.
  if (damage_ == Damage::headers && kind >= 68 && kind < 86) kind = 28;
  if (kind < 20) {
    mutant[at] ^= std::byte{1} << static_cast<unsigned>(below(random, 8));
  } else if (kind < 30) {
    mutant[at] = static_cast<std::byte>(random());
  } else if (kind < 58) {
    store(mutant, at, interesting(random), std::size_t{1} << below(random, 4));
  } else if (kind < 68) {
    const std::uint64_t nearby = random() % 33 - 16;
    if (at + kWord <= mutant.size()) {
      store(mutant, at, value_at<std::uint64_t>(mutant, at) + nearby, kWord);
    }
  } else if (kind < 86) {
    change_pointer(mutant, random);
  } else if (kind < 93) {
    copy_block(mutant, random);
  } else if (kind < 98) {
    const auto filler = chance(random, 50) ? std::byte{0} : std::byte{0xff};
    const std::size_t size = std::min(std::size_t{1} << below(random, 10), mutant.size() - at);
    std::fill_n(mutant.begin() + static_cast<std::ptrdiff_t>(at), size, filler);
  } else {
    const bool here = damage_ == Damage::headers || chance(random, 50);
    mutant.resize(here ? at : below(random, mutant.size()));
  }
}

std::vector<std::byte> Mutator::mutate(Random& random) const {
  std::vector<std::byte> mutant(core_.begin(), core_.end());
  std::size_t changes = 1;
  while (changes < kMostChanges && chance(random, 60)) ++changes;
  for (std::size_t i = 0; i < changes; ++i) change(mutant, random);
  return mutant;
}

}  // namespace aotidbg
