// SPDX-License-Identifier: BSD-3-Clause
//
// DWARF expressions as call frame information uses them (DWARF 5, sections 2.5 and 6.4.2): the CFA
// inside a PLT stub, the registers that a signal frame saved.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "common/target/target.h"

namespace aotidbg {

struct ExpressionContext {
  Memory* memory = nullptr;
  std::function<std::optional<std::uint64_t>(std::uint64_t dwarf_register)> register_value;
};

// The value on top of the stack after `expression` ran, with `initial` pushed first when there is
// one (rules of registers get the CFA). Work is bounded; operations that frames have no use for
// (DW_OP_call*, pieces) are an error.
Result<std::uint64_t> evaluate_expression(std::span<const std::byte> expression,
                                          const ExpressionContext& context,
                                          std::optional<std::uint64_t> initial);

}  // namespace aotidbg
