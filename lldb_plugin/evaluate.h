// SPDX-License-Identifier: BSD-3-Clause
//
// What the user means by the name of a register or a variable, found without running anything.
#pragma once

#include <lldb/API/LLDB.h>

#include <string>

#include "common/target/result.h"

namespace aotidbg {

// "$rdi" or "rdi": the register of the selected frame. "tensor", "models[0].weight": a variable of
// that frame, by GetValueForVariablePath alone; a pointer or reference gives what it points to, any
// other object its own address. Never an expression.
Result<Address> evaluate(lldb::SBProcess& process, const std::string& name);

}  // namespace aotidbg
