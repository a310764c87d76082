// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <string_view>

#include "common/commands/command.h"
#include "common/crash/analysis.h"
#include "common/report/json.h"
#include "common/report/text.h"
#include "common/target/elf_core.h"

namespace aotidbg {
namespace {

constexpr std::size_t kValues = 16;
constexpr std::size_t kMostConstants = 64;  // whose values are read; a mutant may claim a million

// Collects the first answer that breaks a rule.
class Answers {
 public:
  void text(std::string_view what, std::string_view answer) {
    const auto breaks = [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == '\x7f';
    };
    if (std::any_of(answer.begin(), answer.end(), breaks)) {
      broken(what, "sends control characters to the terminal", answer);
    }
  }

  void json(std::string_view what, const std::string& answer) {
    if (Json::parse(answer, nullptr, false).is_discarded()) broken(what, "is no JSON", answer);
  }

  void broken(std::string_view what, std::string_view why, std::string_view answer) {
    if (!problem) problem = fmt::format("{} {}: {}", what, why, answer.substr(0, 400));
  }

  std::optional<std::string> problem;
};

void show_tensor(Analysis& analysis, const std::string& name, std::optional<Address> at,
                 Answers& answers) {
  const auto values = analysis.tensor(name, at, kValues);
  if (!values) return answers.text("the error of tensor", values.error().what);
  answers.text("tensor", tensor_text(*values, {}));
  answers.json("tensor", json_text(to_json(*values)));
}

Examined show_everything(Target& target, const std::vector<std::string>& tensors, Random& random,
                         Answers& answers) {
  Examined examined;
  examined.opened = true;
  AnalysisOptions options;
  options.scan = random() % 4 == 0;
  options.all_threads = random() % 4 == 0;
  options.inactive = random() % 8 == 0;
  Analysis analysis(target, options);
  Report report = analysis.report();
  examined.verdict = report.verdict.code;
  if (!report.threads.empty()) examined.frames = report.threads.front().frames.size();
  examined.has_owner = report.fault && report.fault->owner.has_value();

  TextStyle style;
  style.columns = random() % 2 == 0 ? 100 : TextStyle::kNarrowest;
  answers.text("inspect", inspect_text(report, style, options.all_threads));
  answers.text("fault", fault_text(report, style));
  answers.text("inputs", inputs_text(report, style));
  answers.json("inspect", json_text(to_json(report)));

  std::vector<ModelReport> models = analysis.models();
  examined.models = models.size();
  for (const ModelReport& model : models) {
    for (const ConstantReport& constant : model.constants) {
      if (!constant.handle || examined.constants == kMostConstants) continue;
      ++examined.constants;
      show_tensor(analysis, fmt::format("{:#x}", *constant.handle), constant.handle, answers);
    }
  }
  answers.text("models", models_text(models, style));
  answers.text("constants", constants_text(models, style, kMostConstants));
  answers.json("models", json_text(to_json(models)));
  const std::vector<KernelReport> kernels = analysis.kernels();
  answers.text("kernels", kernels_text(kernels, style));
  answers.json("kernels", json_text(to_json(kernels)));
  for (const std::string& name : tensors) show_tensor(analysis, name, std::nullopt, answers);
  return examined;
}

// Both ends of every region, and what the reader says of modules and of itself.
Examined show_target(Target& target, Answers& answers) {
  Examined examined;
  examined.opened = true;
  std::array<std::byte, 64> bytes;
  for (const Region& region : target.regions()) {
    for (const Address at : {region.start, region.end - bytes.size()}) {
      const auto done = target.read(at, bytes);
      // What the process named is made printable where commands answer, not here.
      if (!done && done.error().what.empty()) answers.broken("the error of a read", "is empty", "");
    }
  }
  for (const Error& gap : target.gaps()) {
    if (gap.what.empty()) answers.broken("a gap", "is empty", "");
  }
  for (const Module& module : target.modules()) {
    if (module.end <= module.start) answers.broken("a module", "has no size", module.path);
  }
  Analysis analysis(target, {});
  const Report report = analysis.report();
  examined.verdict = report.verdict.code;
  examined.models = report.models.size();
  if (!report.threads.empty()) examined.frames = report.threads.front().frames.size();
  answers.json("inspect", json_text(to_json(report)));
  return examined;
}

// What users type; one line a core, so that all of them meet all kinds of damage.
void run_a_command(Target& target, const std::vector<std::string>& tensors, Random& random,
                   Answers& answers) {
  const std::string& tensor = tensors[random() % tensors.size()];
  const std::vector<std::vector<std::string>> lines = {
      {"inspect", "--json", "--all-threads"},
      {"inspect", "--all-threads", "--columns", "40"},
      {"models", "--json"},
      {"constants", "*", "--values", "--all"},
      {"constants", "--inactive", "--values", "--json"},
      {"constants", tensor, "--values", "--model", "0"},
      {"inputs", "--json"},
      {"fault", "--json"},
      {"kernels", "*"},
      {"kernels", "cpp_fused_embedding_0", "--json"},
      {"tensor", tensor, "--values", "100"},
      {"tensor", tensor, "--json"},
      {"doctor"},
      {"doctor", "--json"}};
  const auto& line = lines[random() % lines.size()];
  HostContext host;
  host.host = "fuzz";
  host.prompt = "aotidbg";
  host.target = [&target]() -> Result<Target*> { return &target; };
  const CommandOutput output = run_command(host, line);
  const std::string what = fmt::format("`{}`", fmt::join(line, " "));
  for (const std::string_view sign : {"failed inside the tool", "not enough memory"}) {
    if (output.status == Status::failed && output.text.find(sign) != std::string::npos) {
      answers.broken(what, "failed", output.text);
    }
  }
  const bool is_json = std::find(line.begin(), line.end(), "--json") != line.end();
  if (is_json && output.status != Status::failed) {
    answers.json(what, output.text);
  } else {
    answers.text(what, output.text);
  }
}

}  // namespace

Result<Examined> examine_core(const std::string& path, const std::vector<std::string>& tensors,
                              Random& random, Depth depth) {
  Answers answers;
  Examined examined;
  try {
    auto target = open_core(path, {});
    if (target && depth == Depth::target) {
      examined = show_target(**target, answers);
    } else if (target) {
      examined = show_everything(**target, tensors, random, answers);
      run_a_command(**target, tensors, random, answers);
    } else {
      answers.text("the refusal", target.error().what);
    }
  } catch (const std::exception& error) {
    return fail(fmt::format("an exception: {}", error.what()));
  }
  if (answers.problem) return fail(*answers.problem);
  return examined;
}

}  // namespace aotidbg
