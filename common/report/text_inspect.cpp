// SPDX-License-Identifier: BSD-3-Clause
//
// `aoti inspect` and `aoti fault`: the crash on one screen.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/report/sections.h"
#include "common/report/text.h"
#include "common/report/words.h"

namespace aotidbg {
namespace {

// What one screen holds of each; the rest is counted.
constexpr std::size_t kEvidence = 6;
constexpr std::size_t kArguments = 6;
constexpr std::size_t kInputs = 6;
constexpr std::size_t kConstants = 6;
constexpr std::size_t kModels = 2;
constexpr std::size_t kFrames = 5;
constexpr std::size_t kThreads = 2;
constexpr std::size_t kUnknowns = 4;
constexpr std::size_t kNext = 4;

std::string_view meaning(Confidence confidence) {
  switch (confidence) {
    case Confidence::certain:
      return "certain: every link was read from the process or its files";
    case Confidence::likely:
      return "likely: one inference, the rest was read";
    case Confidence::possible:
      return "possible: it fits, and other causes do too";
  }
  return "";
}

Emphasis gravity(const Verdict& verdict) {
  return verdict.code == "no_fault" ? Emphasis::good : Emphasis::bad;
}

void add_verdict(Page& page, const Verdict& verdict) {
  page.section("Verdict");
  page.paragraph(verdict.text.empty() ? verdict.code : verdict.text, gravity(verdict));
  page.paragraph(fmt::format("{}, {}", verdict.code, meaning(verdict.confidence)));
  const std::size_t shown = std::min(kEvidence, verdict.evidence.size());
  for (std::size_t i = 0; i < shown; ++i) page.bullet(verdict.evidence[i]);
  if (verdict.evidence.size() > shown) {
    page.paragraph(fmt::format("and {} more: {}", verdict.evidence.size() - shown,
                               page.command("inspect --json")));
  }
}

void add_next(Page& page, const Verdict& verdict) {
  if (verdict.next.empty()) return;
  page.section("Next");
  for (std::size_t i = 0; i < std::min(kNext, verdict.next.size()); ++i) {
    page.bullet(verdict.next[i], fmt::format("{}.", i + 1));
  }
}

void add_models(Page& page, const Report& report, const std::optional<OwnerReport>& owner) {
  page.section("Model");
  if (report.models.empty()) page.paragraph("none found in this process");
  const std::size_t shown = std::min(kModels, report.models.size());
  for (std::size_t i = 0; i < shown; ++i) add_model(page, report.models[i]);
  if (report.models.size() > shown) {
    page.paragraph(
        fmt::format("and {} more: {}", report.models.size() - shown, page.command("models")));
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const std::vector<ConstantReport>& constants = report.models[i].constants;
    if (constants.empty()) continue;
    page.section("Constants", true);
    std::vector<std::size_t> rows;
    std::size_t left_out = 0;
    for (std::size_t c = 0; c < constants.size(); ++c) {
      const bool owns = is_owner(owner, "constant", constants[c].name);
      if (!owns && !needs_attention(constants[c])) continue;
      if (rows.size() < kConstants) {
        rows.push_back(c);
      } else if (owns) {
        rows.back() = c;
        ++left_out;
      } else {
        ++left_out;
      }
    }
    page.paragraph(
        fmt::format("{}; {} lists them", constants_summary(constants), page.command("constants")));
    if (!rows.empty()) add_constants(page, constants, rows, owner);
    if (left_out != 0) page.paragraph(fmt::format("and {} more that need attention", left_out));
  }
}

bool part_of_aoti(const FrameReport& frame, const std::set<std::string>& wrappers) {
  if (frame.module && wrappers.contains(*frame.module)) return true;
  if (!frame.function) return false;
  return frame.function->find("AOTI") != std::string::npos ||
         frame.function->find("aoti_torch") != std::string::npos ||
         frame.function->find("aot_inductor") != std::string::npos;
}

// Which frames to show: the innermost, those of AOTI, and who called them; cut in the middle.
std::vector<std::size_t> chosen_frames(const ThreadReport& thread,
                                       const std::set<std::string>& wrappers, bool all) {
  std::vector<std::size_t> chosen;
  bool after_aoti = false;
  for (std::size_t i = 0; i < thread.frames.size(); ++i) {
    // What the compiler inlined is named by the frame that it stands in, which follows it.
    if (!all && thread.frames[i].inlined) continue;
    const bool ours = part_of_aoti(thread.frames[i], wrappers);
    if (all || chosen.empty() || ours || after_aoti) chosen.push_back(i);
    after_aoti = ours;
  }
  if (chosen.empty() && !thread.frames.empty()) chosen.push_back(0);
  if (!all && chosen.size() > kFrames + 1) {  // a gap takes a line too
    chosen.erase(chosen.begin() + kFrames - 1, chosen.end() - 1);
  }
  return chosen;
}

void add_thread(Page& page, const ThreadReport& thread, const std::set<std::string>& wrappers,
                bool all) {
  page.paragraph(fmt::format("thread {} ({})", thread.id, thread.role));
  Table table({{.right = true},
               {.narrowest = 32},                 // function
               {.priority = 1, .narrowest = 16},  // where
               {.priority = 2}});                 // how the frame was found, when it was guessed
  const std::vector<std::size_t> chosen = chosen_frames(thread, wrappers, all);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const FrameReport& frame = thread.frames[chosen[i]];
    const std::size_t skipped = i == 0 ? 0 : chosen[i] - chosen[i - 1] - 1;
    if (skipped != 0) table.add({"", fmt::format("... {}", counted(skipped, "frame"))});
    std::string where = frame.module.value_or("");
    if (frame.file) where = short_location_text({*frame.file, frame.line.value_or(0)});
    std::string function = frame.function.value_or(hex(frame.pc));
    if (frame.inlined) function += " [inlined]";
    const bool guessed = frame.how == "frame_pointer" || frame.how == "scan";
    table.add({fmt::format("#{}", chosen[i]), std::move(function), std::move(where),
               guessed ? fmt::format("({})", frame.how) : ""});
  }
  page.table(table, false);
  if (thread.stopped && !thread.stopped->empty()) {
    page.paragraph(fmt::format("the stack ends here: {}", *thread.stopped));
  }
}

void add_stacks(Page& page, const Report& report, bool all_threads) {
  if (report.threads.empty()) return;
  page.section("Stack");
  std::set<std::string> wrappers;
  for (const ModelReport& model : report.models) {
    if (model.wrapper) wrappers.insert(*model.wrapper);
  }
  std::vector<const ThreadReport*> order;
  order.reserve(report.threads.size());
  for (const ThreadReport& thread : report.threads) order.push_back(&thread);
  const auto weight = [](const ThreadReport* thread) {
    return thread->role == "faulting" ? 0 : thread->role == "waiting" ? 1 : 2;
  };
  std::stable_sort(order.begin(), order.end(), [&](const ThreadReport* a, const ThreadReport* b) {
    return weight(a) < weight(b);
  });
  const std::size_t shown = all_threads ? order.size() : std::min(kThreads, order.size());
  for (std::size_t i = 0; i < shown; ++i) add_thread(page, *order[i], wrappers, all_threads);
  if (order.size() > shown) {
    page.paragraph(fmt::format("and {}: {}", counted(order.size() - shown, "more thread"),
                               page.command("inspect --all-threads")));
  }
}

void add_target(Page& page, const TargetReport& target) {
  page.section("Target", true);
  std::string text = target.kind == "core" ? "core file" : target.kind;
  for (const std::string& file : target.files) text += " " + file;
  if (target.executable) text += fmt::format(" of {}", *target.executable);
  if (target.pid) text += fmt::format(", process {}", *target.pid);
  const LibtorchReport& libtorch = target.libtorch;
  text += libtorch.version ? fmt::format("; libtorch {}", *libtorch.version)
                           : std::string("; libtorch's version is not known");
  if (libtorch.layout)
    text += fmt::format(", layout {} ({})", *libtorch.layout, word(libtorch.how));
  page.paragraph(text);
}

}  // namespace

std::string inspect_text(const Report& report, const TextStyle& style, bool all_threads) {
  Page page(style);
  const std::optional<OwnerReport> owner = report.fault ? report.fault->owner : std::nullopt;
  add_verdict(page, report.verdict);
  const bool stopped = report.verdict.code == "no_fault";
  if (report.fault) add_fault(page, *report.fault, stopped ? "Stop" : "Fault");
  if (report.kernel) add_kernel(page, *report.kernel, owner, kArguments);
  if (!report.inputs.empty()) add_inputs(page, report.inputs, owner, kInputs);
  add_models(page, report, owner);
  add_target(page, report.target);
  add_stacks(page, report, all_threads);
  if (!report.unknowns.empty()) add_unknowns(page, report.unknowns, kUnknowns);
  add_next(page, report.verdict);
  return page.take();
}

std::string fault_text(const Report& report, const TextStyle& style) {
  Page page(style);
  if (!report.fault) {
    page.section("Fault");
    page.paragraph("none: " +
                   (report.verdict.text.empty() ? report.verdict.code : report.verdict.text));
    return page.take();
  }
  add_fault(page, *report.fault);
  if (!report.fault->owner) page.paragraph("no tensor is known to own this address");
  if (report.kernel) add_kernel(page, *report.kernel, report.fault->owner, kArguments);
  add_verdict(page, report.verdict);
  return page.take();
}

}  // namespace aotidbg
