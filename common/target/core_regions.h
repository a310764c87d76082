// SPDX-License-Identifier: BSD-3-Clause
//
// The mappings of a core: ranges, permissions and bytes from its program headers, names from
// NT_FILE.
#pragma once

#include <cstdint>
#include <vector>

#include "common/target/core_file.h"
#include "common/target/core_notes.h"
#include "common/target/target.h"

namespace aotidbg {

struct CoreRegions {
  std::vector<Region> regions;              // sorted, not overlapping
  std::vector<std::uint64_t> core_offsets;  // of regions[i].start in the core file
  std::vector<bool> cut_short;              // regions[i] lacks bytes because the file ends
  // regions[i] is in NT_FILE alone (gcore leaves out what it does not dump), so its permissions are
  // not known; it counts as readable until its module's program headers say more.
  std::vector<bool> permissions_unknown;
  std::vector<Error> gaps;
};

CoreRegions read_core_regions(const CoreFile& core, const CoreNotes& notes);

}  // namespace aotidbg
