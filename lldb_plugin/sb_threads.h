// SPDX-License-Identifier: BSD-3-Clause
//
// Threads, their registers and the signal, as LLDB has them. No code of the process is run, and no
// frame but the innermost is asked for.
#pragma once

#include <lldb/API/LLDB.h>

#include <optional>

#include "common/target/live_process.h"

namespace aotidbg {

// All threads of a stopped process. The stopped thread is the first one that a signal stopped.
StoppedThreads read_threads(lldb::SBProcess& process);

// The thread that the user selected himself. LLDB selects one at each stop: the one that has a stop
// reason; a different selection is the user's.
std::optional<ThreadId> users_thread(lldb::SBProcess& process);

}  // namespace aotidbg
