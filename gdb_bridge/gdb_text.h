// SPDX-License-Identifier: BSD-3-Clause
//
// What GDB's Python API does not tell, read out of the text of its commands. Pure functions of
// that text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

// Of `info files`, under "Local core dump file:"
//   `/data/core', file type elf64-x86-64.
// (gdb/exec.c, print_section_info).
std::optional<std::string> core_in(std::string_view info_files);

// "core", "native" or "remote" from the headline of `info files` (each target's to_longname), for
// GDB before 12, which has no gdb.Inferior.connection; empty when it says none of them.
std::string_view connection_in(std::string_view info_files);

// Of `info proc mappings` on a process (gdb/linux-tdep.c, linux_info_proc): "Start Addr, End Addr,
// Size, Offset, Perms, objfile". Sorted, not overlapping. Fails without the permissions, which GDB
// shows since 12: without them nobody can say what a fault was denied.
Result<std::vector<Region>> mappings_in(std::string_view info_proc);

// Of cuda-gdb's `cuda kernel block thread`, "kernel 0, block (1,0,0), thread (64,0,0)": the command
// that brings the focus there. Empty when no kernel has it.
std::optional<std::string> focus_command_in(std::string_view cuda_focus);

// `info program` says that a signal stopped the process, not a breakpoint or a step.
bool stopped_by_signal(std::string_view info_program);

}  // namespace aotidbg
