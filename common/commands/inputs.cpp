// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/session.h"
#include "common/report/text.h"

namespace aotidbg {
namespace {

Result<Answer> inputs(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  Analysis analysis(*session.target, std::move(*options));
  const Report report = full_report(session, analysis);
  if (!session.options.json) return Answer{status_of(report), inputs_text(report, session.style)};
  Json document = answer_head(report);
  document["inputs"] = to_json(report.inputs);
  document["unknowns"] = to_json(report.unknowns);
  return Answer{status_of(report), json_text(document)};
}

}  // namespace

const Command kInputsCommand{
    .info = {"inputs", "the tensors of the call in flight, and what is wrong with them"},
    .options = {kThread},
    .about = "Each input as it was passed: dtype, shape, strides, device, and where its bytes are.",
    .example = "inputs",
    .example_answer = "Inputs       #  NAME    DTYPE    SHAPE    STRIDE   DEVICE  MEMORY",
    .run = inputs};

}  // namespace aotidbg
