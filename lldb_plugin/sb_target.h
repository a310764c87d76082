// SPDX-License-Identifier: BSD-3-Clause
//
// A process seen through LLDB's own calls: for remote processes, and for cores whose file we cannot
// open ourselves. Slower than our own readers, and memory that was not dumped may read as zeros in
// old versions of LLDB; the gaps say so.
#pragma once

#include <lldb/API/LLDB.h>

#include <functional>
#include <memory>

#include "common/target/live_process.h"

namespace aotidbg {

struct SbTargetOptions {
  TargetKind kind = TargetKind::live;
  Error why;                          // why the process is not read directly; becomes a gap
  std::function<bool()> interrupted;  // see Target::interrupted
};

// `process` is stopped, and belongs to `target`.
Result<std::unique_ptr<Target>> open_sb_target(lldb::SBTarget target,
                                               const lldb::SBProcess& process,
                                               StoppedThreads threads, SbTargetOptions options);

}  // namespace aotidbg
