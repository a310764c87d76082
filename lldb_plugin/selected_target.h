// SPDX-License-Identifier: BSD-3-Clause
//
// From what is selected in a debugger to a Target: our own core reader on a core, /proc on a local
// process that is provably the one LLDB shows, LLDB's own calls otherwise.
#pragma once

#include <lldb/API/LLDB.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/commands/tensor_summary.h"
#include "common/target/target.h"

namespace aotidbg {

class SelectedTarget {
 public:
  // The selected process of `debugger`, or one sentence that says why there is none to look at.
  // Kept for the next command about the same stop. `debugger` must live as long as the command.
  Result<Target*> open(lldb::SBDebugger& debugger);

  // A tensor of the selected process in one line.
  Result<std::string> tensor_summary(lldb::SBDebugger& debugger, Address at);

  // Lets go of what was opened for a process or a stop that `debugger` no longer shows, so that no
  // core stays open behind the user's back.
  void drop_stale(lldb::SBDebugger& debugger);

 private:
  // One stop of one process. Process ids may repeat; LLDB's unique ids do not.
  struct Stop {
    std::uint64_t debugger = 0;
    std::uint32_t process = 0;
    std::uint32_t stop = 0;
    bool operator==(const Stop&) const = default;
  };
  static Stop stop_of(lldb::SBDebugger& debugger, lldb::SBProcess& process);
  void drop();

  Stop stop_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<TensorSummaries> summaries_;  // of target_
};

// "target 2 of 3: /data/run (core /tmp/core)" when a debugger has several; empty otherwise.
std::string which_target(lldb::SBDebugger& debugger);

}  // namespace aotidbg
