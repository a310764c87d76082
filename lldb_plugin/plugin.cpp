// SPDX-License-Identifier: BSD-3-Clause
//
// `plugin load .../aotidbg_lldb.so` calls lldb::PluginInitialize, which adds `aoti` and its
// commands to that debugger. Nothing that goes wrong here may reach LLDB but as an error message:
// an exception that crosses its frames ends the user's session.
#include <fmt/format.h>
#include <lldb/API/LLDB.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/commands/command.h"
#include "lldb_plugin/evaluate.h"
#include "lldb_plugin/sb_threads.h"
#include "lldb_plugin/selected_target.h"
#include "lldb_plugin/type_summary.h"

namespace aotidbg {
namespace {

struct Plugin {
  std::timed_mutex busy;  // one analysis at a time, whatever debugger or thread asks
  SelectedTarget selected;
  std::set<std::uint64_t> debuggers;  // those that have the commands
};

// Lives until the process ends: LLDB never unloads a plugin, and what it holds of LLDB must not be
// released after LLDB's own end.
Plugin& plugin() {
  static Plugin* const kOnly = std::make_unique<Plugin>().release();
  return *kOnly;
}

// "lldb version 19.1.7\n  clang revision ..." -> "lldb 19.1.7".
std::string host_name() {
  const char* version = lldb::SBDebugger::GetVersionString();
  std::string_view text = version == nullptr ? "lldb" : version;
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kPrefix = "lldb version ";
  if (!text.starts_with(kPrefix)) return std::string(text);
  text.remove_prefix(kPrefix.size());
  return fmt::format("lldb {}", text.substr(0, text.find(' ')));
}

bool is_terminal(FILE* file) { return file != nullptr && isatty(fileno(file)) == 1; }

HostContext context_of(lldb::SBDebugger& debugger, SelectedTarget& selected) {
  HostContext host;
  host.host = host_name();
  host.prompt = "aoti";
  const bool terminal = is_terminal(debugger.GetOutputFileHandle());
  host.terminal_colors = terminal && debugger.GetUseColor();
  if (terminal) host.columns = static_cast<int>(debugger.GetTerminalWidth());
  host.target = [&debugger, &selected] { return selected.open(debugger); };
  host.evaluate = [&debugger](const std::string& name) {
    lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
    return evaluate(process, name);
  };
  lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
  if (process.IsValid() && lldb::SBDebugger::StateIsStoppedState(process.GetState())) {
    host.selected_thread = users_thread(process);
  }
  if (FILE* errors = debugger.GetErrorFileHandle(); is_terminal(errors)) {
    host.progress = [errors](std::string_view sentence) { fmt::print(errors, "{}\n", sentence); };
  }
  return host;
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--json") return true;
  }
  return false;
}

void answer(lldb::SBDebugger& debugger, const std::vector<std::string>& arguments,
            lldb::SBCommandReturnObject& result) {
  std::unique_lock lock(plugin().busy, std::chrono::seconds(5));
  if (!lock.owns_lock()) {
    result.SetError(
        "another `aoti` command is still at work in this debugger; ask again when it is done");
    return;
  }
  SelectedTarget& selected = plugin().selected;
  selected.drop_stale(debugger);
  CommandOutput output = run_command(context_of(debugger, selected), arguments);
  while (output.text.ends_with('\n')) output.text.pop_back();
  if (output.status == Status::failed) {
    result.SetError(output.text.c_str());
    return;
  }
  if (const std::string which = which_target(debugger);
      !which.empty() && !asks_for_json(arguments)) {
    result.AppendMessage(which.c_str());
  }
  result.AppendMessage(output.text.c_str());
  result.SetStatus(lldb::eReturnStatusSuccessFinishResult);
}

// One command of `aoti`. LLDB owns it, and calls it with the arguments as the user quoted them.
class AotiCommand final : public lldb::SBCommandPluginInterface {
 public:
  explicit AotiCommand(std::string_view name) : name_(name) {}

  bool DoExecute(lldb::SBDebugger debugger, char** command,
                 lldb::SBCommandReturnObject& result) override {
    try {
      std::vector<std::string> arguments = {name_};
      for (char** argument = command; argument != nullptr && *argument != nullptr; ++argument) {
        arguments.emplace_back(*argument);
      }
      answer(debugger, arguments, result);
    } catch (const std::exception& error) {
      result.SetError(
          fmt::format("aoti {} failed inside: {}; please report it", name_, error.what()).c_str());
    } catch (...) {
      result.SetError("aoti failed inside; please report it");
    }
    return result.Succeeded();
  }

 private:
  std::string name_;
};

std::string help_of(std::string_view name) {
  const std::vector<std::string> arguments = {"help", std::string(name)};
  HostContext host;
  host.prompt = "aoti";
  host.columns = 80;
  return run_command(host, arguments).text;
}

bool add_commands(lldb::SBDebugger& debugger) {
  lldb::SBCommandInterpreter interpreter = debugger.GetCommandInterpreter();
  lldb::SBCommand aoti = interpreter.AddMultiwordCommand(
      "aoti", "Explain the crash of an AOTInductor model: start with `aoti inspect`.");
  if (!aoti.IsValid()) return false;
  for (const CommandInfo& info : commands()) {
    const std::string name(info.name);
    const std::string summary(info.summary);
    lldb::SBCommand command =
        aoti.AddCommand(name.c_str(), std::make_unique<AotiCommand>(name).release(),
                        summary.c_str(), fmt::format("aoti {} [OPTION ...]", name).c_str());
    if (!command.IsValid()) return false;
    command.SetHelpLong(help_of(name).c_str());
  }
  return true;
}

// A value may be printed while a command of ours is at work, or be another target's than the one
// that is selected: LLDB then shows it as it would without us.
std::optional<std::string> summary_of(lldb::SBDebugger& debugger, lldb::SBProcess& process,
                                      Address at) {
  const std::unique_lock lock(plugin().busy, std::try_to_lock);
  lldb::SBProcess selected = debugger.GetSelectedTarget().GetProcess();
  if (!lock.owns_lock() || process.GetUniqueID() != selected.GetUniqueID()) return std::nullopt;
  const auto text = plugin().selected.tensor_summary(debugger, at);
  if (!text) return std::nullopt;
  return *text;
}

bool initialize(lldb::SBDebugger& debugger) {
  const std::unique_lock lock(plugin().busy);
  if (plugin().debuggers.contains(debugger.GetID())) {
    // There is no result to put it in: LLDB's `plugin load` gives none to a plugin.
    constexpr std::string_view kLoaded =
        "aotidbg " AOTIDBG_VERSION " is loaded already; `aoti` stays as it is\n";
    if (FILE* out = debugger.GetOutputFileHandle()) fmt::print(out, "{}", kLoaded);
    return true;
  }
  if (!add_commands(debugger) || !add_type_summaries(debugger, summary_of)) return false;
  plugin().debuggers.insert(debugger.GetID());
  return true;
}

}  // namespace
}  // namespace aotidbg

namespace lldb {

// The one name that this module exports: LLDB looks for it.
__attribute__((visibility("default"))) bool PluginInitialize(SBDebugger debugger);

bool PluginInitialize(SBDebugger debugger) {
  try {
    return aotidbg::initialize(debugger);
  } catch (...) {
    return false;  // LLDB then says that the plugin refused to load
  }
}

}  // namespace lldb
