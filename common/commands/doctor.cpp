// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/session.h"
#include "common/report/text.h"

namespace aotidbg {
namespace {

std::vector<GapReport> gaps_of(const Target& target) {
  std::vector<GapReport> gaps;
  for (const Error& gap : target.gaps()) gaps.push_back({gap.what, gap.at, gap.fix});
  return gaps;
}

std::vector<FileReport> files_of(const Target& target) {
  std::vector<FileReport> files;
  for (const Module& module : target.modules()) {
    if (module.path.starts_with('[')) continue;  // [vdso]: the kernel's, there is no file
    FileReport file;
    file.path = module.path;
    file.state = !module.has_file() ? "missing" : module.file_assumed ? "assumed" : "used";
    if (!module.build_id.empty()) file.build_id = module.build_id;
    if (!module.file_problem.empty()) file.problem = module.file_problem;
    files.push_back(std::move(file));
  }
  return files;
}

Result<Answer> doctor(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  Analysis analysis(*session.target, std::move(*options));
  Report report = full_report(session, analysis);
  Result<std::vector<ModelReport>> models = chosen_models(session, std::move(report.models));
  if (!models) return tl::unexpected(models.error());
  report.models = std::move(*models);
  const std::vector<GapReport> gaps = gaps_of(*session.target);
  const std::vector<FileReport> files = files_of(*session.target);
  if (!session.options.json) {
    return Answer{status_of(report), doctor_text(report, gaps, files, session.style)};
  }
  Json document = answer_head(report);
  document["models"] = to_json(report.models);
  document["unknowns"] = to_json(report.unknowns);
  document["gaps"] = to_json(gaps);
  document["files"] = to_json(files);
  return Answer{status_of(report), json_text(document)};
}

}  // namespace

const Command kDoctorCommand{
    .info = {"doctor", "what is missing for a full answer, and what brings it"},
    .options = {kModel, kThread},
    .about =
        "What is not known and the setting, file or flag that would bring it; which libtorch "
        "and layout were recognised, by what evidence; which files of the process were used.",
    .example = "doctor",
    .example_answer = "Libtorch   version 2.13.0; layout 2.13.0 (found)",
    .run = doctor};

}  // namespace aotidbg
