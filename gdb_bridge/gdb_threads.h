// SPDX-License-Identifier: BSD-3-Clause
//
// Threads, their registers and the signal, as GDB has them. No code of the process is run, and no
// frame but the innermost is asked for. The user's selection stays as it was.
#pragma once

#include <optional>

#include "common/target/live_process.h"
#include "gdb_bridge/python.h"

namespace aotidbg {

// All threads of a stopped gdb.Inferior. `event`: the thread that GDB said had stopped, when that
// was heard. A thread that runs (non-stop mode) has no registers.
StoppedThreads read_threads(const Object& inferior, std::optional<ThreadId> event);

// Some thread of the inferior runs, and some does not.
struct RunState {
  bool any_running = false;
  bool any_stopped = false;
};
RunState run_state(const Object& inferior);

std::optional<ThreadId> selected_thread();

}  // namespace aotidbg
