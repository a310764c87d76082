// SPDX-License-Identifier: BSD-3-Clause
//
// Results as text for a terminal: the verdict first, then few tables, then what is not known and
// what to do next. Fits the columns that it is given (100 is comfortable, 80 is fine); strings from
// the process are made printable. The same input gives the same lines whatever its addresses are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/report/report.h"
#include "common/report/style.h"

namespace aotidbg {

// The whole crash on one screen. What does not fit is counted, with the command that lists it.
std::string inspect_text(const Report& report, const TextStyle& style, bool all_threads = false);

std::string fault_text(const Report& report, const TextStyle& style);
std::string inputs_text(const Report& report, const TextStyle& style);
std::string models_text(const std::vector<ModelReport>& models, const TextStyle& style);

// The constants of each model, at most `limit` of each; those that need attention are always shown.
std::string constants_text(const std::vector<ModelReport>& models, const TextStyle& style,
                           std::size_t limit);

std::string kernels_text(const std::vector<KernelReport>& kernels, const TextStyle& style);
std::string kernel_text(const KernelReport& kernel, const TextStyle& style);  // one, in full
std::string tensor_text(const TensorValues& values, const TextStyle& style);
std::string tensor_line(const TensorValues& values);  // of any width, with its first values
std::string doctor_text(const Report& report, const std::vector<GapReport>& gaps,
                        const std::vector<FileReport>& files, const TextStyle& style);

std::string snapshot_text(const SnapshotReport& snapshot, const TargetReport& target,
                          const TextStyle& style);

}  // namespace aotidbg
