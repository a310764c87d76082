// SPDX-License-Identifier: BSD-3-Clause
//
// Where the core file that LLDB has open lies on this machine, so that we can open it ourselves.
#pragma once

#include <lldb/API/LLDB.h>

#include <string>

#include "common/target/result.h"

namespace aotidbg {

// LLDB's own answer where it has one; else the core among the files that this debugger has mapped
// (LLDB maps the cores that it opens) whose thread ids are those of `process`: several cores may
// be open at once. Fails with one sentence when none is it, or when several could be.
Result<std::string> find_core_path(lldb::SBProcess& process);

}  // namespace aotidbg
