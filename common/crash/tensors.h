// SPDX-License-Identifier: BSD-3-Clause
//
// The tensors that a call works on, with the stretch of memory that each owns.
//
// Inputs: the caller's std::vector<at::Tensor> is on the stack above run_impl, in input order, and
// run_impl holds the same tensors in RAII handles of its own frame, {delete_tensor_object,
// at::Tensor*} (torch/_inductor/codegen/cpp_wrapper_cpu.py). A vector counts when the handles hold
// its tensors too, or when it is the only one of its length. Without one, the handles give the
// inputs by their order, highest address first, which compilers mostly keep: then the names are
// assumed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/crash/call.h"

namespace aotidbg {

struct KnownTensor {
  enum class Kind { constant, input, buffer } kind = Kind::constant;
  std::string name;                     // in the generated code
  std::string fqn;                      // constants only; may be empty
  std::optional<std::size_t> position;  // of an input; index of a constant
  Address data = 0;                     // element 0
  std::uint64_t bytes = 0;              // what its sizes and strides reach from `data`
  std::uint64_t item_size = 0;
  std::string dtype;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::optional<Tensor> tensor;
  std::string found_by;
  bool name_assumed = false;  // the tensor is one of the call's, and which one is inferred

  Address end() const { return data + bytes; }
};

struct CallInput {
  std::string name;
  std::optional<Tensor> tensor;
  std::string found_by;
  bool name_assumed = false;
  std::string problem;  // why `tensor` is empty
};

struct CallTensors {
  std::vector<CallInput> inputs;
  std::vector<Tensor> buffers;  // live handles of run_impl that hold no input
};

CallTensors find_call_tensors(Target& target, const Libtorch& libtorch, const Container& container,
                              const Call& call, const NamedStack& stack);

std::vector<KnownTensor> known_tensors(const std::vector<Constant>& constants,
                                       const CallTensors& tensors);

}  // namespace aotidbg
