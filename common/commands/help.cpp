// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "common/commands/session.h"
#include "common/report/terminal_text.h"

namespace aotidbg {
namespace {

Result<Answer> help(const Session& session) {
  if (session.options.json) {
    Json document = head_without_target(session.host);
    document["commands"] = Json::array();
    for (const CommandInfo& info : commands()) {
      document["commands"].push_back({{"name", info.name}, {"summary", info.summary}});
    }
    return Answer{Status::report, json_text(document)};
  }
  if (session.options.arguments.empty()) return Answer{Status::report, help_text(session.host)};
  const std::string& name = session.options.arguments.front();
  for (const HostCommand& own : session.host.own_commands) {
    if (own.info.name == name) return Answer{Status::report, std::string(own.help)};
  }
  const Command* command = find_command(name);
  if (command == nullptr) return tl::unexpected(no_such_command(name, session.host.prompt));
  return Answer{Status::report, help_text(session.host, *command)};
}

std::string argument_text(const Command& command) {
  if (command.argument.empty()) return {};
  return command.argument_required ? fmt::format(" {}", command.argument)
                                   : fmt::format(" [{}]", command.argument);
}

std::string paragraph(std::string_view text, std::size_t columns) {
  std::string out;
  for (const std::string& line : wrap(text, columns)) out += line + "\n";
  return out;
}

std::size_t columns_of(const HostContext& host) {
  return static_cast<std::size_t>(std::clamp(host.columns, 40, 100));
}

}  // namespace

std::string help_text(const HostContext& host) {
  std::string out = fmt::format("usage: {} COMMAND{} [options]\n\n", host.prompt,
                                host.open ? " (CORE | --pid PID)" : "");
  out += "Explains crashes of AOTInductor models. Nothing is run in the process.\n\n";
  std::vector<CommandInfo> infos(commands().begin(), commands().end());
  for (const HostCommand& own : host.own_commands) infos.push_back(own.info);
  for (const CommandInfo& info : infos) {
    constexpr std::size_t kMargin = 13;  // "  constants  "
    std::string lead = fmt::format("  {:<{}}", info.name, kMargin - 2);
    for (const std::string& line : wrap(info.summary, columns_of(host) - kMargin)) {
      out += lead + line + "\n";
      lead.assign(kMargin, ' ');
    }
  }
  out += fmt::format("\n'{} help COMMAND' says more.\n", host.prompt);
  return out;
}

std::string help_text(const HostContext& host, const Command& command) {
  const Grammar grammar = grammar_of(command, static_cast<bool>(host.open));
  const std::string file = grammar.takes_file ? " (CORE | --pid PID)" : "";
  std::string out;
  for (const ActionInfo& action : command.actions) {
    out += fmt::format("usage: {} {} {}{}{}{} [options]\n", host.prompt, command.info.name,
                       action.name, file, action.argument.empty() ? "" : " ", action.argument);
    out += fmt::format("         {}\n", action.summary);
  }
  if (command.actions.empty()) {
    out = fmt::format("usage: {} {}{}{} [options]\n", host.prompt, command.info.name, file,
                      argument_text(command));
  }
  out += "\n";
  out += paragraph(command.info.summary, columns_of(host));
  if (!command.about.empty()) out += "\n" + paragraph(command.about, columns_of(host));
  out += "\noptions:\n";
  for (const OptionInfo& option : grammar.options) {
    const std::string name = option.value.empty() ? std::string(option.name)
                                                  : fmt::format("{} {}", option.name, option.value);
    out += fmt::format("  {:<16}  {}\n", name, option.summary);
  }
  if (command.example.empty()) return out;
  // "inspect" is "inspect core" where a core has to be named.
  std::string typed(command.example);
  if (grammar.takes_file) {
    const std::size_t action =
        command.actions.empty() ? 0 : command.actions.front().name.size() + 1;
    typed.insert(command.info.name.size() + action, " core");
  }
  out += fmt::format("\nexample:\n  {} {}\n", host.prompt, typed);
  if (!command.example_answer.empty()) {
    out += fmt::format("    {}\n", cut_end(command.example_answer, columns_of(host) - 4));
  }
  return out;
}

const Command kHelpCommand{.info = {"help", "what the commands are, or one of them in full"},
                           .argument = "COMMAND",
                           .reads_target = false,
                           .about = "",
                           .example = "help constants",
                           .run = help};

}  // namespace aotidbg
