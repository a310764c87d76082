// SPDX-License-Identifier: BSD-3-Clause
//
// What is asked of GDB's Python module, and the user's selection, which every command leaves as it
// was. GDB 9 to 16 have all of this; what some lack is probed by name.
#pragma once

#include <optional>
#include <string>

#include "common/target/target.h"
#include "gdb_bridge/python.h"

namespace aotidbg {

Object gdb_module();

// A command's output. Never one that resumes or changes the process.
Result<std::string> gdb_output(const char* command);

// "gdb 13.1", "cuda-gdb 13.1".
std::string gdb_name();

// `show NAME`, when it is a text that is set.
std::optional<std::string> gdb_setting(const char* name);

// The kernel's id of a gdb.InferiorThread.
Result<ThreadId> thread_id(const Object& thread);

// Puts the selected thread and frame back.
class KeepSelection {
 public:
  KeepSelection();
  KeepSelection(const KeepSelection&) = delete;
  KeepSelection& operator=(const KeepSelection&) = delete;
  ~KeepSelection();

 private:
  Object thread_;
  Object frame_;
};

// cuda-gdb may stand in a GPU kernel, where frames, registers and memory are the device's. While
// this lives it stands in a thread of the host; afterwards the kernel has the focus again.
class HostFocus {
 public:
  HostFocus();
  HostFocus(const HostFocus&) = delete;
  HostFocus& operator=(const HostFocus&) = delete;
  ~HostFocus();

 private:
  std::optional<std::string> kernel_;  // the command that goes back there
};

// GDB runs no function of the process while this lives, whatever an expression asks for.
class NoCalls {
 public:
  NoCalls();
  NoCalls(const NoCalls&) = delete;
  NoCalls& operator=(const NoCalls&) = delete;
  ~NoCalls();

 private:
  bool were_allowed_;
};

}  // namespace aotidbg
