// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/tensor_summary.h"

#include <fmt/format.h>

#include "common/crash/tensor_values.h"
#include "common/report/terminal_text.h"
#include "common/report/text.h"
#include "common/torch/libtorch.h"

namespace aotidbg {

struct TensorSummaries::State {
  Target& target;
  Libtorch libtorch;
};

TensorSummaries::TensorSummaries(Target& target)
    : state_(std::make_unique<State>(target, recognise_libtorch(target))) {}
TensorSummaries::~TensorSummaries() = default;

std::string TensorSummaries::summary(Address at) {
  constexpr std::size_t kShown = 4;
  if (at == 0) return "no tensor: a null pointer";
  auto tensor = read_tensor_impl(state_->target, state_->libtorch, at);
  if (!tensor) tensor = read_tensor_handle(state_->target, state_->libtorch, at);
  if (!tensor) return printable(fmt::format("no tensor: {}", tensor.error().what));
  return tensor_line(read_values(state_->target, *tensor, kShown, kShown));
}

}  // namespace aotidbg
