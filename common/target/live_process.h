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

#include "common/target/target.h"

namespace aotidbg {

struct StoppedThreads {
  std::vector<Thread> threads;
  std::optional<ThreadId> stopped_thread;
};

// Fails when /proc/PID cannot be read: another machine, another user, or the process is gone.
Result<std::unique_ptr<Target>> open_live_process(std::int64_t pid, StoppedThreads threads,
                                                  std::function<bool()> interrupted);

}  // namespace aotidbg
