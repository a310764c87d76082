// SPDX-License-Identifier: BSD-3-Clause
//
// A local process that somebody has stopped: memory through /proc/PID/mem, regions and modules
// from /proc/PID/maps, files through /proc/PID/root. Who stopped it knows its threads, registers
// and signal, and hands them over.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/target/core_notes.h"
#include "common/target/target.h"

namespace aotidbg {

struct StoppedThreads {
  std::vector<Thread> threads;
  std::optional<ThreadId> stopped_thread;
  std::vector<Error> gaps;  // what is not known of the threads
};

// Fails when /proc/PID cannot be read: another machine, another user, or the process is gone.
// Whoever holds it goes on doing so while the target is read.
Result<std::unique_ptr<Target>> open_live_process(std::int64_t pid, StoppedThreads threads,
                                                  std::function<bool()> interrupted);

// A process that the kernel is dumping: its threads are those of the core's notes, its memory and
// files are still there. It is what the core will be, and says so: TargetKind::core.
Result<std::unique_ptr<Target>> open_dying_process(std::int64_t pid, const CoreNotes& notes);

}  // namespace aotidbg
