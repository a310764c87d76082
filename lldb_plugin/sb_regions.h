// SPDX-License-Identifier: BSD-3-Clause
//
// The mappings of a process as LLDB has them: over lldb-server with their files' names, on a core
// without.
#pragma once

#include <lldb/API/LLDB.h>

#include <span>
#include <vector>

#include "common/target/modules.h"
#include "common/target/target.h"

namespace aotidbg {

// Sorted by address. Fails when LLDB cannot list them: without them nobody can say what is mapped,
// and an address that merely was not listed would look like one that is gone.
Result<std::vector<Region>> read_regions(lldb::SBProcess& process);

// Writes into `regions` which file, from which offset, each mapping of `modules` shows.
void name_regions(std::span<Region> regions, std::span<const MappedModule> modules);

}  // namespace aotidbg
