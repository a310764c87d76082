// SPDX-License-Identifier: BSD-3-Clause
//
// `p tensor` in LLDB: at::Tensor, c10::TensorImpl and AtenTensorHandle in one line, of which LLDB
// needs to know no more than the type's name. `type category disable aotidbg` ends it.
#pragma once

#include <lldb/API/LLDB.h>

#include <functional>
#include <optional>
#include <string>

#include "common/target/target.h"

namespace aotidbg {

// How the process of a value shows the tensor at an address; nothing when it cannot be asked now.
using SummaryOf = std::optional<std::string> (*)(lldb::SBDebugger& debugger,
                                                 lldb::SBProcess& process, Address at);

bool add_type_summaries(lldb::SBDebugger& debugger, SummaryOf summary_of);

}  // namespace aotidbg
