// SPDX-License-Identifier: BSD-3-Clause
//
// Calls of the SB API that some LLDB between 13 and 22 lacks. They are looked up by name when they
// are needed, so that one binary loads everywhere, even where symbols are bound at load
// (LD_BIND_NOW). Everything else that the plugin calls is there in LLDB 13.
//
// Source: the dynamic symbols of Debian's liblldb 13, 14, 15, 16, 19 and 22.
#pragma once

#include <lldb/API/LLDB.h>

#include <optional>
#include <string>

namespace aotidbg {

// True once the user pressed Ctrl-C. SBDebugger::InterruptRequested where there is one (19 has it,
// 16 does not), else SBCommandInterpreter::WasInterrupted.
bool interrupt_requested(lldb::SBDebugger& debugger);

// SBProcess::GetCoreFile (19 has it, 16 does not). Empty when LLDB cannot tell.
std::optional<std::string> core_file_of(lldb::SBProcess& process);

// SBThread::GetSiginfo (14 has it, 13 does not).
std::optional<lldb::SBValue> siginfo_of(lldb::SBThread& thread);

}  // namespace aotidbg
