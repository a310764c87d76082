// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/commands/nearest.h"
#include "common/commands/session.h"
#include "common/report/text.h"
#include "common/report/words.h"

namespace aotidbg {
namespace {

constexpr std::size_t kRows = 100;      // of each model, without --all
constexpr std::size_t kValuesEach = 4;  // with --values

bool fits_either_name(const std::string& pattern, const ConstantReport& constant) {
  return fits(pattern, constant.name) || (constant.fqn && fits(pattern, *constant.fqn));
}

tl::unexpected<Error> nothing_fits(const std::string& pattern,
                                   const std::vector<ModelReport>& models) {
  std::vector<std::string_view> names;
  for (const ModelReport& model : models) {
    for (const ConstantReport& constant : model.constants) {
      if (constant.fqn) names.push_back(*constant.fqn);
      names.push_back(constant.name);
    }
  }
  const auto meant = nearest(pattern, names);
  return fail(fmt::format("no constant is named '{}'{}", pattern,
                          meant ? fmt::format(": did you mean '{}'?", *meant) : ""));
}

void add_values(Analysis& analysis, std::vector<ModelReport>& models, std::size_t limit) {
  for (ModelReport& model : models) {
    std::size_t read = 0;
    for (ConstantReport& constant : model.constants) {
      if (!constant.handle || !constant.data || read == limit) continue;
      ++read;
      // By its handle, for two models may have constants of one name.
      Result<TensorValues> values =
          analysis.tensor(hex(*constant.handle), constant.handle, kValuesEach);
      if (values) constant.values = std::move(values->first);
    }
  }
}

Result<Answer> constants(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  Analysis analysis(*session.target, std::move(*options));
  Report report = full_report(session, analysis);
  if (report.models.empty()) report.models = analysis.models();
  const Status status = status_of(report);
  Result<std::vector<ModelReport>> models = chosen_models(session, std::move(report.models));
  if (!models) return tl::unexpected(models.error());

  if (!session.options.arguments.empty() && !models->empty()) {
    const std::string& pattern = session.options.arguments.front();
    const auto is_other = [&pattern](const ConstantReport& constant) {
      return !fits_either_name(pattern, constant);
    };
    std::vector<ModelReport> fitting;
    for (ModelReport model : *models) {
      std::erase_if(model.constants, is_other);
      if (!model.constants.empty()) fitting.push_back(std::move(model));
    }
    if (fitting.empty()) return nothing_fits(pattern, *models);
    *models = std::move(fitting);
  }
  const bool everything = session.options.all || session.options.json;
  const std::size_t limit = everything ? std::numeric_limits<std::size_t>::max() : kRows;
  if (session.options.with_values) add_values(analysis, *models, limit);

  if (!session.options.json) return Answer{status, constants_text(*models, session.style, limit)};
  Json document = answer_head(report);
  document["models"] = to_json(*models);
  document["unknowns"] = to_json(report.unknowns);
  return Answer{status, json_text(document)};
}

}  // namespace

const Command kConstantsCommand{
    .info = {"constants", "a model's weights and buffers: shape, declared device, where they are"},
    .argument = "GLOB",
    .options = {kInactive, kAll, kWithValues, kModel, kThread},
    .about =
        "GLOB is a name, or a pattern with * ? [ ], of the user's model (emb.weight) or of the "
        "generated code (emb_weight). In JSON, the constants are under `models`.",
    .example = "constants 'layers.0.*'",
    .example_answer = "  layers.0.weight  float32  [64, 64]  16384  cpu  host  heap  ready",
    .run = constants};

}  // namespace aotidbg
