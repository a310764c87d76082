// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/session.h"
#include "common/report/text.h"

namespace aotidbg {
namespace {

Result<Answer> fault(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  Analysis analysis(*session.target, std::move(*options));
  const Report report = full_report(session, analysis);
  if (!session.options.json) return Answer{status_of(report), fault_text(report, session.style)};
  Json document = answer_head(report);
  document["verdict"] = to_json(report.verdict);
  document["fault"] = to_json(report.fault);
  document["kernel"] = to_json(report.kernel);
  document["unknowns"] = to_json(report.unknowns);
  return Answer{status_of(report), json_text(document)};
}

}  // namespace

const Command kFaultCommand{
    .info = {"fault", "address, access, instruction, operand, and whose memory it was"},
    .options = {kThread},
    .about = "The owner is the tensor that the operand is based on, with the distance from it.",
    .example = "fault",
    .example_answer = "Fault      SIGSEGV (SEGV_MAPERR), read of 0x582640000000, thread 3863",
    .run = fault};

}  // namespace aotidbg
