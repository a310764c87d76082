// SPDX-License-Identifier: BSD-3-Clause
//
// An Analysis that answers what a test put here, in place of the real one: it is linked instead of
// common/crash. It keeps what it was asked.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "common/crash/analysis.h"

namespace aotidbg {

struct FakeAnalysis {
  Report report;
  std::vector<ModelReport> models;
  std::vector<KernelReport> kernels;
  ValueMemory value_memory;
  Result<TensorValues> tensor = fail("no such tensor");
  std::exception_ptr thrown;  // by report()

  std::optional<AnalysisOptions> options;  // of the last Analysis
  std::vector<std::string> tensor_names;   // every one that was asked for
  std::optional<Address> evaluated;        // with the last of them
  std::size_t values = 0;
};

FakeAnalysis& fake_analysis();

}  // namespace aotidbg
