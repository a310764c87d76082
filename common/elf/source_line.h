// SPDX-License-Identifier: BSD-3-Clause
//
// Functions, inlined calls and source lines of an address, from a module's DWARF (-g1 suffices),
// read with libdw. Modules without .debug_info cost nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

// One function at an address; inlined ones come before the function that holds them.
struct SourceFrame {
  // Brief: without parameters and template arguments. GCC records no linkage name for what is local
  // to a file (static, anonymous namespace): such a name comes without its scope.
  std::string function;
  std::string file;  // as the compiler recorded it; empty when not known
  int line = 0;      // 0: not known
  bool inlined = false;
};

class SourceLines {
 public:
  SourceLines();
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  // Innermost (most inlined) first; empty when the module's file has no DWARF for the address.
  // `at` is an address in the process; the module's file must be at hand, or have been when the
  // snapshot that `memory` is was saved.
  std::vector<SourceFrame> find(Memory& memory, const Module& module, Address at);

 private:
  struct State;
  std::vector<SourceFrame> find_in_file(const Module& module, Address at);
  std::unique_ptr<State> state_;
};

}  // namespace aotidbg
