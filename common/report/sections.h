// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a page that several commands show.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/report/page.h"
#include "common/report/report.h"

namespace aotidbg {

void add_fault(Page& page, const FaultReport& fault, std::string_view label = "Fault");

// Name, kind and places of a kernel, files by short names; then its parameters, at most `limit`,
// with a mark beside the one that `owner` is.
void add_kernel(Page& page, const KernelReport& kernel, const std::optional<OwnerReport>& owner,
                std::size_t limit);
void add_kernel_arguments(Page& page, const KernelReport& kernel,
                          const std::optional<OwnerReport>& owner, std::size_t limit);
std::string kernel_title(const KernelReport& kernel);  // "cpp_fused_add_0 (cpp, cpu)"

// At most `limit` inputs: those with mismatches and the fault's owner come first.
void add_inputs(Page& page, const std::vector<InputReport>& inputs,
                const std::optional<OwnerReport>& owner, std::size_t limit);

// Name, package and devices; pool and constant buffer.
void add_model(Page& page, const ModelReport& model);
std::string constants_summary(const std::vector<ConstantReport>& constants);

// Those of `constants` that `rows` names, in that order, with their mismatches and values.
void add_constants(Page& page, const std::vector<ConstantReport>& constants,
                   const std::vector<std::size_t>& rows, const std::optional<OwnerReport>& owner);

// True when a reader should look at it: no data, a wrong device, or a state that is not healthy.
bool needs_attention(const ConstantReport& constant);

bool is_owner(const std::optional<OwnerReport>& owner, std::string_view kind,
              std::string_view name);

void add_unknowns(Page& page, const std::vector<Unknown>& unknowns, std::size_t limit);
void add_libtorch(Page& page, const LibtorchReport& libtorch);

}  // namespace aotidbg
