// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/tensor_summary.h"

#include <fmt/format.h>

#include <optional>

#include "common/crash/tensor_values.h"
#include "common/report/terminal_text.h"
#include "common/report/text.h"
#include "common/torch/libtorch.h"

namespace aotidbg {

struct TensorSummaries::State {
  explicit State(Target& of) : target(of), libtorch(recognise_libtorch(of)) {
    if (const Module* c10 = libtorch.c10) {
      undefined_vtable = vtable_of(target, *c10, "N3c1019UndefinedTensorImplE");
    }
  }

  Target& target;
  Libtorch libtorch;
  std::optional<Address> undefined_vtable;  // c10/core/UndefinedTensorImpl.h

  // An at::Tensor that was never given one, or its impl: all of them share one object.
  bool is_undefined(Address at) const {
    const auto first = target.read_pointer(at);
    if (!first || !undefined_vtable) return false;
    return *first == *undefined_vtable || target.read_pointer(*first) == *undefined_vtable;
  }
};

TensorSummaries::TensorSummaries(Target& target) : state_(std::make_unique<State>(target)) {}
TensorSummaries::~TensorSummaries() = default;

std::string TensorSummaries::summary(Address at) {
  constexpr std::size_t kShown = 4;
  if (at == 0) return "null pointer";
  auto tensor = read_tensor_impl(state_->target, state_->libtorch, at);
  if (!tensor) tensor = read_tensor_handle(state_->target, state_->libtorch, at);
  if (!tensor && state_->is_undefined(at)) return "undefined tensor";
  if (!tensor) return printable(fmt::format("not shown as a tensor: {}", tensor.error().what));
  return tensor_line(read_values(state_->target, *tensor, kShown, kShown));
}

}  // namespace aotidbg
