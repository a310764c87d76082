// SPDX-License-Identifier: BSD-3-Clause
//
// The modules that LLDB knows or that mappings name, judged by ourselves: program headers and build
// id are read from the memory of the process, and a file is believed only if its build id is the
// same.
#pragma once

#include <lldb/API/LLDB.h>

#include <span>
#include <string>
#include <vector>

#include "common/target/modules.h"

namespace aotidbg {

std::string path_of(const lldb::SBFileSpec& file);  // empty when there is none

// `held` reads memory as the process has it, never filled from files. Sorted by address; modules
// that are not loaded are left out.
std::vector<MappedModule> read_modules(
    lldb::SBTarget& target, std::span<const Region> regions,
    const std::function<Result<void>(Address, std::span<std::byte>)>& held);

}  // namespace aotidbg
