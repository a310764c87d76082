// SPDX-License-Identifier: BSD-3-Clause
//
// From what was decoded to what is reported, one function a part. Nothing is read from the target's
// memory here: only its list of mappings is asked, for where addresses lie.
#pragma once

#include <string>
#include <vector>

#include "common/crash/crash.h"

namespace aotidbg {

TargetReport report_target(const Target& target, const Libtorch& libtorch);
FaultReport report_fault(const Crash& crash);
KernelReport report_kernel(const Crash& crash);
std::vector<InputReport> report_inputs(const Target& target, const Crash& crash);
ModelReport report_model(const Libtorch& libtorch, const Container& container);  // no constants
ConstantReport report_constant(const Target& target, const Container& container,
                               const Constant& constant, int buffer);
TensorReport report_tensor(const Target& target, const Tensor& tensor);
ThreadReport report_thread(const NamedStack& stack, std::string role);
TensorName report_name(const KnownTensor& tensor);

// What the target, its files and the package do not give.
std::vector<Unknown> report_unknowns(const Target& target, const Crash& crash);

}  // namespace aotidbg
