// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/session.h"
#include "common/report/text.h"

namespace aotidbg {
namespace {

Result<Answer> models(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  options->scan = true;
  Analysis analysis(*session.target, std::move(*options));
  Report report = full_report(session, analysis);
  report.models = analysis.models();
  const Status status = status_of(report);
  Result<std::vector<ModelReport>> chosen = chosen_models(session, std::move(report.models));
  if (!chosen) return tl::unexpected(chosen.error());
  if (!session.options.json) return Answer{status, models_text(*chosen, session.style)};
  Json document = answer_head(report);
  document["models"] = to_json(*chosen);
  document["unknowns"] = to_json(report.unknowns);
  return Answer{status, json_text(document)};
}

}  // namespace

const Command kModelsCommand{
    .info = {"models", "every AOTInductor model in the process: package, device, pool, constants"},
    .options = {kModel},
    .about = "Searches the process's memory, so that models are found that no stack leads to.",
    .example = "models",
    .example_answer =
        "Model 0    emb.pt2, cb3i...z3ljz.wrapper.so, compiled for cpu, loaded on "
        "cpu",
    .run = models};

}  // namespace aotidbg
