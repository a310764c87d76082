// SPDX-License-Identifier: BSD-3-Clause
//
// Reports made by hand, for tests of renderers and commands.
#pragma once

#include "common/report/report.h"

namespace aotidbg::sample {

OwnerReport owner(TensorName tensor, const char* relation, std::optional<std::uint64_t> bytes,
                  std::optional<std::vector<std::int64_t>> index = std::nullopt);

// An embedding that read far past its weight: 4 constants, 2 inputs, one model. Addresses are
// `base` plus small numbers.
Report embedding_crash(std::uint64_t base = 0x562640000000);

// Nothing known but the verdict.
Report not_aoti();

// Every string of the report is hostile: escapes, line feeds, bytes that are no UTF-8.
Report hostile();

// 300 constants of which 9 are missing; 40 inputs, 20 unknowns, 100 frames.
Report large();

TensorValues tensor();

}  // namespace aotidbg::sample
