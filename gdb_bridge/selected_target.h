// SPDX-License-Identifier: BSD-3-Clause
//
// From what is selected in GDB to a Target: our own core reader on a core, /proc on a process of
// this machine, GDB's own calls through a connection.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/commands/tensor_summary.h"
#include "common/target/target.h"
#include "gdb_bridge/python.h"

namespace aotidbg {

class SelectedTarget {
 public:
  // The selected inferior, or one sentence that says why there is none to look at. Kept for the
  // next command about the same stop: forget() ends that.
  Result<Target*> open();

  // A tensor of the selected inferior in one line. Selects no thread meanwhile: GDB may be in the
  // middle of printing frames.
  Result<std::string> tensor_summary(Address at);

  // The thread that the user selected himself, once open() gave a target. GDB selects one at each
  // stop, and on a core the one that the core names first; another one is the user's.
  std::optional<ThreadId> users_thread() const;

  // What GDB's events say: the selected thread has just stopped; the process runs on or has ended.
  void note_stop();
  void forget();

  // "inferior 2 of 3: /data/run, process 4711" when GDB has several; empty otherwise.
  std::string which() const;

 private:
  enum class Threads { read, leave };
  Result<std::unique_ptr<Target>> open_fresh(const Object& inferior, Threads threads);

  // Numbers of inferiors and of connections are never used twice by one GDB.
  struct Stop {
    std::uint64_t inferior = 0;
    std::uint64_t connection = 0;
    std::uint64_t pid = 0;
    bool operator==(const Stop&) const = default;
  };
  static Stop stop_of(const Object& inferior);
  void drop_others(const Stop& stop);  // what is kept of another stop

  Stop stop_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<Target> memory_;  // the same without threads, when only tensors were printed
  std::unique_ptr<TensorSummaries> summaries_;  // of one of the two
  std::map<std::uint64_t, ThreadId> events_;    // by inferior: the thread that stopped last
};

}  // namespace aotidbg
