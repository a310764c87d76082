// SPDX-License-Identifier: BSD-3-Clause
//
// What the user means by the name of a register or a variable, found without running anything.
#pragma once

#include <string>

#include "common/target/result.h"

namespace aotidbg {

// "$rdi" or "rdi": the register of the selected frame. "tensor", "models[0].weight", "*handle": a
// variable of that frame; a pointer or reference gives what it points to, any other object its own
// address. Text that is more than such a path is refused, and GDB may call no function meanwhile.
Result<Address> evaluate(const std::string& name);

}  // namespace aotidbg
