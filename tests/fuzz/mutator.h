// SPDX-License-Identifier: BSD-3-Clause
//
// Damages a core the way disks, truncation and overwritten memory do, and worse: with values that
// arithmetic trips over, and with pointers that lead into other objects of the same process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace aotidbg {

// Numbers are taken from it as they come: the standard's distributions differ between libraries,
// and a mutant has to be the same everywhere.
using Random = std::mt19937_64;

enum class Damage {
  anywhere,
  headers,  // ELF header, program headers and notes alone: what a core is, and of what
};

class Mutator {
 public:
  // `core` is a valid core, and outlives this.
  Mutator(std::span<const std::byte> core, Damage damage);

  // A copy with one to a dozen changes; never longer than the core.
  std::vector<std::byte> mutate(Random& random) const;

 private:
  std::uint64_t word(std::size_t at) const;
  std::size_t place(Random& random) const;
  std::uint64_t interesting(Random& random) const;
  void change(std::vector<std::byte>& mutant, Random& random) const;
  void change_pointer(std::vector<std::byte>& mutant, Random& random) const;
  void copy_block(std::vector<std::byte>& mutant, Random& random) const;

  std::span<const std::byte> core_;
  Damage damage_;
  std::size_t headers_end_ = 0;  // of the program headers
  std::size_t notes_end_ = 0;
  std::vector<std::size_t> words_;     // where memory holds a word that is not 0
  std::vector<std::size_t> pointers_;  // those of them that lead into mapped memory
};

}  // namespace aotidbg
