// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "common/commands/nearest.h"
#include "common/commands/session.h"
#include "common/report/text.h"
#include "common/report/words.h"

namespace aotidbg {
namespace {

bool covers(const KernelReport& kernel, Address pc) {
  return kernel.address && pc >= *kernel.address &&
         pc - *kernel.address < std::max<std::uint64_t>(kernel.size.value_or(1), 1);
}

Result<std::vector<KernelReport>> wanted(const std::vector<KernelReport>& kernels,
                                         const std::string& what) {
  std::vector<KernelReport> found;
  const std::optional<Address> pc = address_of(what);
  for (const KernelReport& kernel : kernels) {
    if (pc ? covers(kernel, *pc) : fits(what, kernel.name)) found.push_back(kernel);
  }
  if (!found.empty()) return found;
  if (pc) return fail(fmt::format("no generated kernel has code at {}", hex(*pc)));
  std::vector<std::string_view> names;
  names.reserve(kernels.size());
  for (const KernelReport& kernel : kernels) names.push_back(kernel.name);
  const auto meant = nearest(what, names);
  return fail(fmt::format("no generated kernel is named '{}'{}", what,
                          meant ? fmt::format(": did you mean '{}'?", *meant) : ""));
}

// The fault's own kernel is known better than the others: its arguments were bound.
void add_what_is_known(std::vector<KernelReport>& kernels, const Report& report) {
  if (!report.kernel) return;
  for (KernelReport& kernel : kernels) {
    if (kernel.name != report.kernel->name || !kernel.faulting) continue;
    const std::optional<std::uint64_t> address = kernel.address;
    const std::optional<std::uint64_t> size = kernel.size;
    kernel = *report.kernel;
    kernel.faulting = true;
    if (!kernel.address) kernel.address = address;
    if (!kernel.size) kernel.size = size;
  }
}

Result<Answer> kernels(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  Analysis analysis(*session.target, std::move(*options));
  const Report report = full_report(session, analysis);
  std::vector<KernelReport> shown = analysis.kernels();
  add_what_is_known(shown, report);
  const bool named = !session.options.arguments.empty();
  if (named) {
    Result<std::vector<KernelReport>> found = wanted(shown, session.options.arguments.front());
    if (!found) return tl::unexpected(found.error());
    shown = std::move(*found);
  }
  if (session.options.json) {
    Json document = answer_head(report);
    document["kernels"] = to_json(shown);
    document["unknowns"] = to_json(report.unknowns);
    return Answer{status_of(report), json_text(document)};
  }
  return Answer{status_of(report), named && shown.size() == 1
                                       ? kernel_text(shown.front(), session.style)
                                       : kernels_text(shown, session.style)};
}

}  // namespace

const Command kKernelsCommand{
    .info = {"kernels", "the generated kernels of the model, the faulting one marked"},
    .argument = "NAME|PC",
    .options = {kThread},
    .about =
        "With a name (or a pattern with * ? [ ]) or an address in its code, one kernel: where "
        "it is, where it is called, its parameters and the tensors that they hold.",
    .example = "kernels cpp_fused_add_embedding_0",
    .example_answer = "Kernel     cpp_fused_add_embedding_0 (cpp, cpu)",
    .run = kernels};

}  // namespace aotidbg
