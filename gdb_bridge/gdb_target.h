// SPDX-License-Identifier: BSD-3-Clause
//
// A process on the other side of a connection (gdbserver), seen through GDB's own calls: its
// memory, and its mappings as GDB fetches them from there. Nothing of this machine's /proc is read,
// and files of this machine are believed by build id alone. Slow, so that memory is searched only
// when asked.
#pragma once

#include <functional>
#include <memory>

#include "common/target/live_process.h"
#include "gdb_bridge/python.h"

namespace aotidbg {

Result<std::unique_ptr<Target>> open_gdb_target(Object inferior, StoppedThreads threads,
                                                std::function<bool()> interrupted);

// The folders that the user told GDB to look for files in; for our own search by build id.
struct FileSearch {
  std::string sysroot;               // `set sysroot`, when it is a folder here; else empty
  std::vector<std::string> folders;  // `set solib-search-path`
};
FileSearch file_search();

}  // namespace aotidbg
