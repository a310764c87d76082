// SPDX-License-Identifier: BSD-3-Clause
//
// What the user typed after a command's name, understood or refused with one sentence.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/commands/command.h"

namespace aotidbg {

// An option that a command can have.
struct OptionInfo {
  std::string_view name;   // "--model"
  std::string_view value;  // "N"; empty for a flag
  std::string_view summary;
  bool repeats = false;  // each time that it is given counts, not the last alone
};

// Those of several commands, each with one meaning.
inline constexpr OptionInfo kJson{"--json", "", "answer as JSON (docs/report.schema.json)"};
inline constexpr OptionInfo kOutput{"--output", "FILE", "write the answer into a new file"};
inline constexpr OptionInfo kForce{"--force", "", "replace the file that is written"};
inline constexpr OptionInfo kColor{"--color", "WHEN", "auto, always or never"};
inline constexpr OptionInfo kColumns{"--columns", "N", "width of the text, 40 or more"};
inline constexpr OptionInfo kHelp{"--help", "", "show this"};
inline constexpr OptionInfo kModel{"--model", "N", "one model alone, as 'models' numbers them"};
inline constexpr OptionInfo kThread{"--thread", "ID", "explain this thread"};
inline constexpr OptionInfo kAllThreads{"--all-threads", "", "show every thread"};
inline constexpr OptionInfo kInactive{"--inactive", "", "also the constant buffer not in use"};
inline constexpr OptionInfo kAll{"--all", "", "show every row"};
inline constexpr OptionInfo kWithValues{"--values", "", "show the first values of each"};
inline constexpr OptionInfo kValueCount{"--values", "N", "how many first values to show"};
inline constexpr OptionInfo kKeepValues{"--with-values", "", "also keep first values of tensors"};
inline constexpr OptionInfo kPid{"--pid", "PID", "a running process, stopped while it is read"};
inline constexpr OptionInfo kExecutable{"--exe", "FILE", "the program that died, if it moved"};
inline constexpr OptionInfo kSysroot{"--sysroot", "DIR", "look for its files under DIR first"};
inline constexpr OptionInfo kSearch{"--search", "DIR", "find files that moved by build id in DIR",
                                    true};
inline constexpr OptionInfo kPackage{"--package", "PATH", "the same, in a .pt2 or its folder",
                                     true};

enum class ColorChoice { automatic, always, never };

// One of the things that a command does, where it does several: its first word.
struct ActionInfo {
  std::string_view name;      // "save"
  std::string_view argument;  // "FILE", which it writes; empty: takes none
  std::string_view summary;
};

struct Options {
  std::string action;                  // empty for commands that do one thing
  std::vector<std::string> arguments;  // what is no option: GLOB, NAME...
  FileArguments file;
  bool json = false;
  bool force = false;
  bool help = false;
  bool all_threads = false;
  bool inactive = false;
  bool all = false;
  bool with_values = false;
  bool keep_values = false;
  ColorChoice color = ColorChoice::automatic;
  std::optional<std::string> output;
  std::optional<std::size_t> columns;
  std::optional<std::size_t> model;
  std::optional<std::size_t> value_count;
  std::optional<ThreadId> thread;
};

// What a command accepts.
struct Grammar {
  std::string_view command;
  std::string_view argument;  // "GLOB"; empty: takes none
  bool argument_required = false;
  std::vector<ActionInfo> actions;  // the first word is one of them
  bool takes_file = false;          // CORE or --pid, for a host that opens files
  std::vector<OptionInfo> options;
};

// `words` is what follows the command's name. The error is one sentence; for a mistyped option it
// names the nearest that there is.
Result<Options> parse_options(const Grammar& grammar, std::span<const std::string> words);

}  // namespace aotidbg
