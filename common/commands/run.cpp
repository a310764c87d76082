// SPDX-License-Identifier: BSD-3-Clause
//
// From what the user typed to the answer; nothing is thrown past here.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>

#include "common/commands/output_file.h"
#include "common/commands/session.h"
#include "common/report/terminal_text.h"
#include "common/report/words.h"

namespace aotidbg {
namespace {

// One analysis at a time: hosts may call from several threads, and what is under the analysis
// (elfutils, the host's own API) was not made for that.
std::mutex& analysis_mutex() {
  static std::mutex mutex;
  return mutex;
}

// One line: what failed, where, and what helps.
std::string sentence(const Error& error) {
  std::string text = error.what;
  if (error.at && text.find(hex(*error.at)) == std::string::npos) {
    text += fmt::format(" (at {})", hex(*error.at));
  }
  if (!error.fix.empty()) text += fmt::format("; {}", error.fix);
  return printable(text);
}

CommandOutput refused(const Error& error) { return {Status::failed, sentence(error)}; }

TextStyle style_for(const HostContext& host, const Options& options) {
  TextStyle style;
  const int columns = std::max(host.columns, static_cast<int>(TextStyle::kNarrowest));
  style.columns = options.columns.value_or(static_cast<std::size_t>(columns));
  style.color =
      options.color == ColorChoice::always || (options.color == ColorChoice::automatic &&
                                               host.terminal_colors && !options.output.has_value());
  style.prompt = host.prompt.empty() ? "aoti" : host.prompt;
  return style;
}

Result<Target*> open_target(const HostContext& host, const Options& options) {
  if (host.open) return host.open(options.file);
  if (host.target) return host.target();
  return fail("there is no process to look at");
}

CommandOutput run(const HostContext& host, std::span<const std::string> arguments) {
  std::string name = arguments.empty() ? "help" : arguments.front();
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  const Command* command = find_command(name);
  if (command == nullptr) return refused(no_such_command(name, host.prompt));

  const Result<Options> options = parse_options(grammar_of(*command, static_cast<bool>(host.open)),
                                                arguments.subspan(arguments.empty() ? 0 : 1));
  if (!options) return refused(options.error());
  if (options->help) return {Status::report, help_text(host, *command)};
  if (options->output) {
    if (auto fine = check_output_file(*options->output, options->force); !fine) {
      return refused(fine.error());
    }
  }

  const std::lock_guard lock(analysis_mutex());
  Session session{host, *options, nullptr, style_for(host, *options)};
  if (command->reads_target) {
    const Result<Target*> target = open_target(host, *options);
    if (!target) return refused(target.error());
    session.target = *target;
  }
  Result<Answer> answer = command->run(session);
  if (!answer) return refused(answer.error());
  if (session.target != nullptr && !options->json && session.target->interrupted()) {
    answer->text +=
        "Interrupted: this is what had been read by then; ask again, and let it finish\n";
  }
  if (!options->output) return {answer->status, std::move(answer->text)};
  if (auto done = write_output_file(*options->output, answer->text, options->force); !done) {
    return refused(done.error());
  }
  return {answer->status, fmt::format("wrote {} to {}\n", counted(answer->text.size(), "byte"),
                                      printable(*options->output))};
}

}  // namespace

std::span<const CommandInfo> commands() {
  static const std::vector<CommandInfo> kInfos = [] {
    std::vector<CommandInfo> made;
    for (const Command* command : all_commands()) made.push_back(command->info);
    return made;
  }();
  return kInfos;
}

CommandOutput run_command(const HostContext& host, std::span<const std::string> arguments) {
  try {
    return run(host, arguments);
  } catch (const std::bad_alloc&) {
    return {Status::failed, "there was not enough memory for this command; nothing was changed"};
  } catch (const std::exception& error) {
    return refused({fmt::format("the command failed inside the tool: {}", error.what()),
                    std::nullopt, "please report it"});
  } catch (...) {
    return {Status::failed, "the command failed inside the tool; please report it"};
  }
}

}  // namespace aotidbg
