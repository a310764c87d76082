// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "common/commands/nearest.h"
#include "common/report/style.h"

namespace aotidbg {
namespace {

constexpr std::size_t kMostValues = 4096;

// What CLI11 makes of the words, before any of it is understood.
struct Words {
  std::map<std::string, bool, std::less<>> flags;
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // of at least one
  std::vector<std::string> arguments;
  std::vector<std::string> unknown;
};

const OptionInfo* find_option(const Grammar& grammar, std::string_view name) {
  const auto found = std::find_if(grammar.options.begin(), grammar.options.end(),
                                  [name](const OptionInfo& option) { return option.name == name; });
  return found == grammar.options.end() ? nullptr : &*found;
}

tl::unexpected<Error> refuse_value(const OptionInfo& option, std::string_view wants,
                                   std::string_view value) {
  return fail(fmt::format("{} takes {}, not '{}'", option.name, wants, value));
}

// CLI11 throws; nothing of that leaves this function.
Result<Words> split(const Grammar& grammar, std::span<const std::string> words) {
  Words out;
  std::string about_option;
  try {
    CLI::App app;
    app.set_help_flag("");
    app.allow_extras(true);
    for (const OptionInfo& option : grammar.options) {
      const std::string name(option.name);
      if (option.value.empty()) {
        app.add_flag(option.name == kHelp.name ? "-h,--help" : name, out.flags[name]);
      } else {
        CLI::Option* added = app.add_option(name, out.values[name]);
        added->allow_extra_args(false)->multi_option_policy(
            option.repeats ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
      }
    }
    app.add_option("arguments", out.arguments);
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(std::move(reversed));
    out.unknown = app.remaining();
    for (const OptionInfo& option : grammar.options) {
      if (!option.value.empty() && app.count(std::string(option.name)) == 0) {
        out.values.erase(std::string(option.name));
      }
    }
    return out;
  } catch (const CLI::ArgumentMismatch& error) {
    about_option = error.what();
  } catch (const CLI::Error& error) {
    return fail(
        fmt::format("the options of '{}' were not understood: {}", grammar.command, error.what()));
  }
  // "--model: 1 required TEXT missing": only an option without its value ends here.
  about_option.resize(std::min(about_option.find(':'), about_option.size()));
  const OptionInfo* option = find_option(grammar, about_option);
  if (option == nullptr) return fail(fmt::format("{} was not understood", about_option));
  return fail(fmt::format("{0} needs a value: {0} {1}", option->name, option->value));
}

template <class Number>
Result<std::optional<Number>> number(const Words& words, const OptionInfo& option, Number least,
                                     Number most) {
  const auto found = words.values.find(option.name);
  if (found == words.values.end()) return std::optional<Number>();
  const std::string& text = found->second.back();
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    const std::string wants = most == std::numeric_limits<Number>::max()
                                  ? fmt::format("a number from {}", least)
                                  : fmt::format("a number from {} to {}", least, most);
    return refuse_value(option, wants, text);
  }
  return std::optional<Number>(value);
}

Result<std::vector<std::string>> file_names(const Words& words, const OptionInfo& option) {
  const auto found = words.values.find(option.name);
  if (found == words.values.end()) return std::vector<std::string>();
  for (const std::string& name : found->second) {
    if (!name.empty() && !name.starts_with("--")) continue;
    return fail(fmt::format("{0} needs a value: {0} {1}", option.name, option.value));
  }
  return found->second;
}

Result<std::string> file_name(const Words& words, const OptionInfo& option) {
  auto names = file_names(words, option);
  if (!names) return tl::unexpected(names.error());
  return names->empty() ? std::string() : std::move(names->back());
}

Result<ColorChoice> color_choice(const Words& words) {
  const auto found = words.values.find(kColor.name);
  if (found == words.values.end()) return ColorChoice::automatic;
  const std::string& choice = found->second.back();
  if (choice == "auto") return ColorChoice::automatic;
  if (choice == "always") return ColorChoice::always;
  if (choice == "never") return ColorChoice::never;
  return refuse_value(kColor, "auto, always or never", choice);
}

Error unknown_option(const Grammar& grammar, std::string_view word) {
  word = word.substr(0, word.find('='));
  std::vector<std::string_view> names;
  names.reserve(grammar.options.size());
  for (const OptionInfo& option : grammar.options) names.push_back(option.name);
  const auto meant = nearest(word, names);
  return {fmt::format("'{}' has no option '{}'{}", grammar.command, word,
                      meant ? fmt::format(": did you mean '{}'?", *meant) : ""),
          std::nullopt,
          {}};
}

// The action that the first word names. null: the command has none to name.
Result<const ActionInfo*> take_action(const Grammar& grammar, std::vector<std::string>& arguments) {
  if (grammar.actions.empty()) return nullptr;
  std::vector<std::string> names;
  names.reserve(grammar.actions.size());
  for (const ActionInfo& action : grammar.actions) names.emplace_back(action.name);
  if (arguments.empty()) {
    return fail(fmt::format("'{}' needs {}", grammar.command, fmt::join(names, " or ")));
  }
  const std::string word = arguments.front();
  arguments.erase(arguments.begin());
  for (const ActionInfo& action : grammar.actions) {
    if (action.name == word) return &action;
  }
  return fail(
      fmt::format("'{}' takes {}, not '{}'", grammar.command, fmt::join(names, " or "), word));
}

// CORE, or --pid and nothing that only a core's files need.
Result<void> take_file(const Grammar& grammar, Words& words, Options& options) {
  std::vector<std::string>& arguments = words.arguments;
  if (!options.file.pid) {
    if (arguments.empty()) {
      return fail(fmt::format("'{}' needs a core file, or --pid PID", grammar.command));
    }
    options.file.core = arguments.front();
    arguments.erase(arguments.begin());
    return {};
  }
  for (const OptionInfo& option : {kExecutable, kSysroot, kSearch, kPackage}) {
    if (!words.values.contains(option.name)) continue;
    return fail(
        fmt::format("{} goes with a core, not with --pid: a running process shows its own "
                    "files",
                    option.name));
  }
  return {};
}

Result<void> take_arguments(const Grammar& grammar, Words& words, Options& options) {
  std::vector<std::string>& arguments = words.arguments;
  const auto action = take_action(grammar, arguments);
  if (!action) return tl::unexpected(action.error());
  if (*action != nullptr) options.action = (*action)->name;
  const std::string_view argument = *action != nullptr ? (*action)->argument : grammar.argument;
  const bool is_required = *action != nullptr ? !argument.empty() : grammar.argument_required;
  if (grammar.takes_file) {
    if (auto taken = take_file(grammar, words, options); !taken) return taken;
  }
  const std::size_t most = argument.empty() ? 0 : 1;
  if (arguments.size() > most) {
    if (options.file.pid) {
      return fail(fmt::format("'{}' takes a core or --pid, not both", grammar.command));
    }
    return fail(most == 0 ? fmt::format("'{}' takes no '{}'", grammar.command, arguments[0])
                          : fmt::format("'{}' takes one {}, not also '{}'", grammar.command,
                                        argument, arguments[1]));
  }
  if (is_required && arguments.empty()) {
    return fail(fmt::format("'{}' needs {}", grammar.command, argument));
  }
  options.arguments = std::move(arguments);
  return {};
}

// Puts the value of a parsed Result into `place`; answers whether there was one.
template <class T, class Place>
bool keep(Result<T> result, Place& place, std::optional<Error>& problem) {
  if (problem) return false;
  if (!result) {
    problem = std::move(result.error());
    return false;
  }
  place = std::move(*result);
  return true;
}

}  // namespace

Result<Options> parse_options(const Grammar& grammar, std::span<const std::string> input) {
  Result<Words> words = split(grammar, input);
  if (!words) return tl::unexpected(words.error());
  if (!words->unknown.empty()) {
    return tl::unexpected(unknown_option(grammar, words->unknown.front()));
  }

  const auto flag = [&words](const OptionInfo& option) {
    const auto found = words->flags.find(option.name);
    return found != words->flags.end() && found->second;
  };
  Options options;
  options.help = flag(kHelp);
  if (options.help) return options;
  options.json = flag(kJson);
  options.force = flag(kForce);
  options.all_threads = flag(kAllThreads);
  options.inactive = flag(kInactive);
  options.all = flag(kAll);
  options.with_values = flag(kWithValues);
  options.keep_values = flag(kKeepValues);

  constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();
  constexpr ThreadId kAnyThread = std::numeric_limits<ThreadId>::max();
  constexpr std::size_t kWidest = 10000;
  std::string output;
  std::optional<Error> problem;
  keep(color_choice(*words), options.color, problem);
  keep(file_name(*words, kOutput), output, problem);
  keep(file_name(*words, kExecutable), options.file.executable, problem);
  keep(file_name(*words, kSysroot), options.file.sysroot, problem);
  keep(file_names(*words, kSearch), options.file.search, problem);
  keep(file_names(*words, kPackage), options.file.packages, problem);
  keep(number<std::int64_t>(*words, kPid, 1, std::numeric_limits<std::int32_t>::max()),
       options.file.pid, problem);
  keep(number<std::size_t>(*words, kColumns, TextStyle::kNarrowest, kWidest), options.columns,
       problem);
  keep(number<std::size_t>(*words, kModel, 0, kAnySize), options.model, problem);
  keep(number<std::size_t>(*words, kValueCount, 0, kMostValues), options.value_count, problem);
  keep(number<ThreadId>(*words, kThread, 1, kAnyThread), options.thread, problem);
  if (problem) return tl::unexpected(*problem);

  if (!output.empty()) options.output = std::move(output);
  if (auto taken = take_arguments(grammar, *words, options); !taken) {
    return tl::unexpected(taken.error());
  }
  const bool writes = options.output || (!options.action.empty() && !options.arguments.empty());
  if (options.force && !writes) return fail("--force goes with --output FILE");
  return options;
}

}  // namespace aotidbg
