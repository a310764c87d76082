// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/completion.h"

#include <algorithm>

#include "common/commands/session.h"

namespace aotidbg {
namespace {

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names;
  names.reserve(commands().size());
  for (const CommandInfo& info : commands()) names.emplace_back(info.name);
  return names;
}

std::vector<std::string> candidates(std::span<const std::string> before, std::string_view word,
                                    bool takes_file) {
  if (before.empty()) return names_of_commands();
  const Command* command = find_command(before.front());
  if (command == nullptr) return {};
  const Grammar grammar = grammar_of(*command, takes_file);
  for (const OptionInfo& option : grammar.options) {
    if (option.value.empty() || option.name != before.back()) continue;
    if (option.name == kColor.name) return {"auto", "always", "never"};
    return {};  // a number or a file, which the user knows
  }
  const bool wants_argument = !grammar.argument.empty() || grammar.takes_file;
  if (word.empty() && wants_argument && command != &kHelpCommand) return {};
  if (command == &kHelpCommand && !word.starts_with('-')) return names_of_commands();
  std::vector<std::string> options;
  options.reserve(grammar.options.size());
  for (const OptionInfo& option : grammar.options) options.emplace_back(option.name);
  return options;
}

}  // namespace

std::vector<std::string> completions(std::span<const std::string> before, std::string_view word,
                                     bool takes_file) {
  std::vector<std::string> fitting = candidates(before, word, takes_file);
  std::erase_if(fitting,
                [word](const std::string& candidate) { return !candidate.starts_with(word); });
  std::sort(fitting.begin(), fitting.end());
  return fitting;
}

}  // namespace aotidbg
