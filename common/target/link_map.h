// SPDX-License-Identifier: BSD-3-Clause
//
// The dynamic loader's own list of what it loaded, for cores that do not say which file is mapped
// where: AT_PHDR -> PT_DYNAMIC -> DT_DEBUG -> r_debug -> link_map (<link.h>).
#pragma once

#include <string>
#include <vector>

#include "common/target/core_notes.h"
#include "common/target/memory.h"

namespace aotidbg {

struct LinkMapEntry {
  Address bias = 0;     // l_addr
  Address dynamic = 0;  // l_ld
  std::string path;     // l_name; empty for the main program
};

struct LinkMap {
  std::vector<LinkMapEntry> entries;  // in the loader's order
  Address executable_bias = 0;
  std::vector<ElfSegment> executable_segments;
  std::string problem;  // why the list ends early; empty when it does not
};

// Fails when there is no list: static programs, or a process that died before the loader ran.
Result<LinkMap> read_link_map(Memory& memory, const AuxiliaryVector& auxiliary);

}  // namespace aotidbg
