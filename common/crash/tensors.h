// SPDX-License-Identifier: BSD-3-Clause
//
// The tensors that a call works on, with the stretch of memory that each owns.
//
// Inputs: run_impl moves them into RAII handles on its stack, first to last at descending addresses
// (torch/_inductor/codegen/cpp_wrapper_cpu.py); such a handle is {delete_tensor_object, at::Tensor*}.
// The caller's std::vector<at::Tensor> on the stack above holds them too. Where both are found and
// disagree, neither is believed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/crash/call.h"

namespace aotidbg {

struct KnownTensor {
  enum class Kind { constant, input, buffer } kind = Kind::constant;
  std::string name;        // in the generated code
  std::string fqn;         // constants only; may be empty
  std::optional<std::size_t> position;  // of an input; index of a constant
  Address data = 0;        // element 0
  std::uint64_t bytes = 0; // what its sizes and strides reach from `data`
  std::uint64_t item_size = 0;
  std::string dtype;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::optional<Tensor> tensor;
  std::string found_by;

  Address end() const { return data + bytes; }
};

struct CallInput {
  std::string name;
  std::optional<Tensor> tensor;
  std::string found_by;
  std::string problem;      // why `tensor` is empty
};

struct CallTensors {
  std::vector<CallInput> inputs;
  std::vector<Tensor> buffers;   // further live handles of run_impl, in the order of the code
};

CallTensors find_call_tensors(Target& target, const Libtorch& libtorch, const Container& container,
                              const Call& call, const NamedStack& stack);

std::vector<KnownTensor> known_tensors(const std::vector<Constant>& constants,
                                       const CallTensors& tensors);

}  // namespace aotidbg
