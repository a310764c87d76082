// SPDX-License-Identifier: BSD-3-Clause
//
// /proc/PID/maps, proc(5): "start-end perms offset major:minor inode   path". The kernel writes a
// newline in a path as \012 (fs/proc/task_mmu.c), and nothing else is escaped.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

struct ProcMapping {
  Region region;             // `dumped`: all of it where it can be read, else nothing
  std::uint64_t device = 0;  // as makedev(3) puts it together
  std::uint64_t inode = 0;
  bool shared = false;
};

// Sorted, not overlapping. Lines that are no mapping are left out, as is a torn last one: the
// process may die while the file is read.
std::vector<ProcMapping> parse_maps(std::string_view text);

}  // namespace aotidbg
