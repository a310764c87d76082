// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/session.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <array>
#include <charconv>
#include <chrono>
#include <functional>
#include <utility>

#include "common/commands/nearest.h"
#include "common/report/words.h"

namespace aotidbg {

std::span<const Command* const> all_commands() {
  static constexpr std::array kCommands = {&kInspectCommand, &kModelsCommand,  &kConstantsCommand,
                                           &kInputsCommand,  &kKernelsCommand, &kFaultCommand,
                                           &kTensorCommand,  &kDoctorCommand,  &kSnapshotCommand,
                                           &kHelpCommand,    &kVersionCommand};
  return kCommands;
}

const Command* find_command(std::string_view name) {
  for (const Command* command : all_commands()) {
    if (command->info.name == name) return command;
  }
  return nullptr;
}

Error no_such_command(std::string_view name, std::string_view prompt) {
  std::vector<std::string_view> names;
  for (const Command* command : all_commands()) names.push_back(command->info.name);
  const auto meant = nearest(name, names);
  return {meant ? fmt::format("there is no command '{}': did you mean '{}'?", name, *meant)
                : fmt::format("there is no command '{}': '{} help' lists them", name, prompt),
          std::nullopt,
          {}};
}

Grammar grammar_of(const Command& command, bool takes_file) {
  Grammar grammar;
  grammar.command = command.info.name;
  grammar.actions = command.actions;
  grammar.argument = command.argument;
  grammar.argument_required = command.argument_required;
  grammar.options = command.options;
  grammar.options.insert(grammar.options.end(), {kJson, kOutput, kForce, kColor, kColumns});
  if (takes_file && command.reads_target) {
    grammar.takes_file = true;
    grammar.options.insert(grammar.options.end(), {kPid, kExecutable, kSysroot, kSearch, kPackage});
  }
  grammar.options.push_back(kHelp);
  return grammar;
}

namespace {

// Tells of work that takes over a second, and then once a second.
std::function<void(std::string_view)> now_and_then(std::function<void(std::string_view)> tell) {
  using Clock = std::chrono::steady_clock;
  if (!tell) return {};
  return [tell = std::move(tell),
          next = Clock::now() + std::chrono::seconds(1)](std::string_view sentence) mutable {
    if (Clock::now() < next) return;
    tell(sentence);
    next = Clock::now() + std::chrono::seconds(1);
  };
}

}  // namespace

Result<AnalysisOptions> analysis_options(const Session& session) {
  AnalysisOptions options;
  options.thread = session.options.thread ? session.options.thread : session.host.selected_thread;
  options.all_threads = session.options.all_threads;
  options.inactive = session.options.inactive;
  // Numbers are those of `models`, which searches memory.
  options.scan = session.options.model.has_value();
  options.progress = now_and_then(session.host.progress);
  if (!session.options.thread || session.target->thread(*session.options.thread) != nullptr) {
    return options;
  }
  constexpr std::size_t kShown = 8;
  std::vector<std::string> ids;
  const std::span<const Thread> threads = session.target->threads();
  for (const Thread& thread : threads) {
    if (ids.size() == kShown) break;
    ids.push_back(std::to_string(thread.id));
  }
  return fail(fmt::format(
      "there is no thread {}: this process has {}{}", *session.options.thread,
      ids.empty() ? "none that is known" : joined(ids),
      threads.size() > kShown ? fmt::format(" and {} more", threads.size() - kShown) : ""));
}

Report full_report(const Session& session, Analysis& analysis) {
  Report report = analysis.report();
  report.tool_version = AOTIDBG_VERSION;
  report.host = session.host.host;
  return report;
}

Json head_without_target(const HostContext& host) {
  Report nothing;
  nothing.tool_version = AOTIDBG_VERSION;
  nothing.host = host.host;
  Json head = answer_head(nothing);
  head["target"] = nullptr;
  return head;
}

Status status_of(const Report& report) {
  return report.verdict.code == "not_aoti" && report.models.empty() ? Status::no_aoti
                                                                    : Status::report;
}

Result<std::vector<ModelReport>> chosen_models(const Session& session,
                                               std::vector<ModelReport> models) {
  if (!session.options.model) return models;
  const std::size_t wanted = *session.options.model;
  if (wanted >= models.size()) {
    return fail(models.empty()
                    ? fmt::format("there is no model {}: none was found in this process", wanted)
                    : fmt::format("there is no model {}: this process has {}, counted from 0",
                                  wanted, counted(models.size(), "model")));
  }
  std::vector<ModelReport> chosen;
  chosen.push_back(std::move(models[wanted]));
  return chosen;
}

std::optional<Address> address_of(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  text.remove_prefix(2);
  Address value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool fits(const std::string& pattern, const std::string& name) {
  if (pattern == name) return true;
  if (pattern.find_first_of("*?[") == std::string::npos) return false;
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace aotidbg
