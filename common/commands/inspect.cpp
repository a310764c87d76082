// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/session.h"
#include "common/report/text.h"

namespace aotidbg {
namespace {

Result<Answer> inspect(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  Analysis analysis(*session.target, std::move(*options));
  Report report = full_report(session, analysis);
  Result<std::vector<ModelReport>> models = chosen_models(session, std::move(report.models));
  if (!models) return tl::unexpected(models.error());
  report.models = std::move(*models);
  if (session.options.json) return Answer{status_of(report), json_text(to_json(report))};
  return Answer{status_of(report),
                inspect_text(report, session.style, session.options.all_threads)};
}

}  // namespace

const Command kInspectCommand{
    .info = {"inspect",
             "the whole crash on one screen: what died, on which tensor, why, what next"},
    .options = {kModel, kThread, kAllThreads},
    .about =
        "Starts with the verdict and how sure it is; ends with what is not known and what to "
        "do next.",
    .example = "inspect",
    .example_answer =
        "Verdict    cpp_fused_add_embedding_0 read row 8589934592 of constant "
        "emb.weight, which has 1000 rows",
    .run = inspect};

}  // namespace aotidbg
