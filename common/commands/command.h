// SPDX-License-Identifier: BSD-3-Clause
//
// The commands, host-neutral: arguments in, text and status out. A host (a debugger's plugin, the
// command line) makes a HostContext for the stop at hand and passes on what the user typed.
//
// run_command is the single way in. It never throws and never prints.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

// What a command line names to be read: a core, or a process. A debugger has its process already.
struct FileArguments {
  std::string core;
  std::optional<std::int64_t> pid;    // --pid, in place of a core
  std::string executable;             // --exe; empty: as the core has it
  std::string sysroot;                // --sysroot; empty: none
  std::vector<std::string> search;    // --search: folders, for files that moved
  std::vector<std::string> packages;  // --package: folders that packages were extracted to
};

struct CommandInfo {
  std::string_view name;
  std::string_view summary;  // one line
};

// A command that one host alone has, and runs itself; named here for `help`.
struct HostCommand {
  CommandInfo info;
  std::string_view help;  // the whole text
};

// What a host knows of itself and of the user's session.
struct HostContext {
  std::string host;                         // "lldb 19.1.7"
  std::string prompt;                       // how a command is typed here: "aoti" or "aotidbg"
  std::optional<ThreadId> selected_thread;  // only when the user selected it himself
  bool terminal_colors = false;             // what --color auto means here
  int columns = 100;                        // width of the terminal

  // Opens the process at hand, or says why there is none ("no process: ...").
  std::function<Result<Target*>()> target;

  // Set by a host without a process of its own: commands then take CORE or --pid, and what finds
  // the files of a core; this is called with them in place of `target`.
  std::function<Result<Target*>(const FileArguments&)> open;

  // An address for the name of a variable or register that the user typed ("$rdi", "tensor"),
  // without running anything in the process; empty when the host cannot.
  std::function<Result<Address>(const std::string&)> evaluate;

  std::vector<HostCommand> own_commands;

  // Called at most a few times a second with a sentence while work takes long; may be empty.
  std::function<void(std::string_view)> progress;
};

enum class Status {
  report,   // a report was made, whatever its verdict (exit status 0)
  no_aoti,  // readable, but holds no AOTI state (1)
  failed,   // bad usage, or nothing to read (2)
};

struct CommandOutput {
  Status status = Status::failed;
  std::string text;  // what to print; with `failed`, one clear sentence
};

std::span<const CommandInfo> commands();  // in the order in which help shows them

// `arguments` starts with the command's name: {"inspect", "--json"}. Empty: help.
CommandOutput run_command(const HostContext& host, std::span<const std::string> arguments);

}  // namespace aotidbg
