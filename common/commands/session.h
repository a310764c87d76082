// SPDX-License-Identifier: BSD-3-Clause
//
// What the commands are made of: each has a file with one `Command`, which reads a Session and
// answers with text and status.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/commands/command.h"
#include "common/commands/options.h"
#include "common/crash/analysis.h"
#include "common/report/json.h"
#include "common/report/style.h"

namespace aotidbg {

// One run of one command.
struct Session {
  const HostContext& host;
  const Options& options;
  Target* target = nullptr;  // null for commands that read none
  TextStyle style;
};

struct Answer {
  Status status = Status::report;
  std::string text;
};

struct Command {
  CommandInfo info;
  std::vector<ActionInfo> actions = {};  // the first word, for a command that does several things
  std::string_view argument = {};        // "[GLOB]" in help is made from it
  bool argument_required = false;
  bool reads_target = true;
  std::vector<OptionInfo> options = {};  // without those that every command has
  std::string_view about = {};           // what help says below the summary
  std::string_view example = {};  // what one types after the prompt, and a line of its answer
  std::string_view example_answer = {};
  Result<Answer> (*run)(const Session& session) = nullptr;
};

extern const Command kInspectCommand;
extern const Command kModelsCommand;
extern const Command kConstantsCommand;
extern const Command kInputsCommand;
extern const Command kKernelsCommand;
extern const Command kFaultCommand;
extern const Command kTensorCommand;
extern const Command kDoctorCommand;
extern const Command kSnapshotCommand;
extern const Command kHelpCommand;
extern const Command kVersionCommand;

std::span<const Command* const> all_commands();  // in the order in which help shows them
const Command* find_command(std::string_view name);
Error no_such_command(std::string_view name, std::string_view prompt);

Grammar grammar_of(const Command& command, bool takes_file);

// Help for all commands, and for one.
std::string help_text(const HostContext& host);
std::string help_text(const HostContext& host, const Command& command);

// The options of the analysis that the user's words and the host's selection ask for. Fails when
// the process has no thread of that id.
Result<AnalysisOptions> analysis_options(const Session& session);

// The whole report, with the host's name and the tool's version in it.
Report full_report(const Session& session, Analysis& analysis);

// "schema", "tool" and a null "target", for answers that are about no process.
Json head_without_target(const HostContext& host);

// no_aoti when the crash has no AOTI part and no model was found.
Status status_of(const Report& report);

// Reduces `models` to the one of --model; the error says which there are.
Result<std::vector<ModelReport>> chosen_models(const Session& session,
                                               std::vector<ModelReport> models);

// "0x7f00" or "0X7F00" as an address; nothing for any other text.
std::optional<Address> address_of(std::string_view text);

// True when `name` is `pattern`, or fits it where the pattern has *, ? or [.
bool fits(const std::string& pattern, const std::string& name);

}  // namespace aotidbg
