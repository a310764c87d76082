// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/commands/fake_analysis.h"

namespace aotidbg {

FakeAnalysis& fake_analysis() {
  static FakeAnalysis fake;
  return fake;
}

struct Analysis::State {};

Analysis::Analysis(Target&, AnalysisOptions options) {
  fake_analysis().options = std::move(options);
}
Analysis::~Analysis() = default;

Report Analysis::report() {
  if (fake_analysis().thrown) std::rethrow_exception(fake_analysis().thrown);
  return fake_analysis().report;
}

std::vector<ModelReport> Analysis::models() { return fake_analysis().models; }
std::vector<KernelReport> Analysis::kernels() { return fake_analysis().kernels; }
ValueMemory Analysis::value_memory(std::size_t) { return fake_analysis().value_memory; }

Result<TensorValues> Analysis::tensor(const std::string& name_or_address,
                                      std::optional<Address> evaluated, std::size_t values) {
  fake_analysis().tensor_names.push_back(name_or_address);
  fake_analysis().evaluated = evaluated;
  fake_analysis().values = values;
  return fake_analysis().tensor;
}

}  // namespace aotidbg
