// SPDX-License-Identifier: BSD-3-Clause
//
// All threads of a local process stand still for as long as this object lives, and go on as before
// when it ends, or when this process does, however it ends: ptrace(2), PTRACE_SEIZE and
// PTRACE_INTERRUPT, which sends no signal and is seen by nobody.
//
// A process that SIGSTOP had stopped stays stopped; a signal that was on its way to a thread is
// handed on. One that a debugger holds is refused and stays as it is. As after any stop, a few
// system calls of the process return EINTR (signal(7), "Interruption of system calls ... by stop
// signals").
//
// Belongs to the thread that made it: ptrace knows no other.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "common/target/live_process.h"
#include "common/target/result.h"

namespace aotidbg {

class ProcessStop {
 public:
  // `pid` may be the id of any thread of the process. Fails with one sentence when the process is
  // not there, is traced already, or may not be traced by this user.
  static Result<ProcessStop> make(std::int64_t pid);
  ProcessStop(ProcessStop&& other) noexcept;
  ProcessStop& operator=(ProcessStop&&) = delete;
  ~ProcessStop();

  std::int64_t pid() const { return pid_; }  // of the process

  // Registers of every thread, and the signal of one that was about to take it. Threads that did
  // not stop in time (asleep inside the kernel) have no registers and are a gap.
  StoppedThreads threads() const;

 private:
  struct Held {
    pid_t id = 0;
    bool stopped = false;
    int signal = 0;  // was on its way to the thread; 0: none
  };

  explicit ProcessStop(std::int64_t pid) : pid_(pid) {}
  Result<void> stop_all();
  Result<std::size_t> seize_new_ones();
  void wait_for_all();

  std::int64_t pid_;
  std::vector<Held> held_;
};

}  // namespace aotidbg
