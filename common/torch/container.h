// SPDX-License-Identifier: BSD-3-Clause
//
// AOTInductorModelContainer, its models and constants
// (torch/csrc/inductor/aoti_runtime/model_container.h, model_base.h).
//
// read_container answers only when the object graph holds together: the container's specs are
// those of its first model, every model's kernels object has its vtable inside the wrapper, names
// lie in the wrapper, the constants array is as long as the constants' descriptions, the pools hold
// models of this container. A freed or overwritten container fails one of these, and the error
// says which.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/torch/tensor.h"
#include "common/torch/wrapper.h"

namespace aotidbg {

struct Constant {
  std::string name;
  std::string fqn;  // empty when the wrapper has none
  std::int64_t scalar_type = 0;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;
  std::uint64_t bytes = 0;  // data_size
  std::int64_t device_type = 0;
  bool from_folded = false;
  std::int64_t type = 0;  // torch::aot_inductor::ConstantType
  std::string kind;       // parameter, buffer, ...; empty when not known
  Address handle = 0;     // AtenTensorHandle; 0: never loaded
  Address data = 0;
  std::optional<Tensor> tensor;  // decoded from the handle, when it decodes
  std::string problem;           // why `tensor` is empty though there is a handle

  // Never loaded. A constant of no bytes has no data and lacks nothing.
  bool is_missing() const { return bytes != 0 && (handle == 0 || data == 0); }
};

struct ConstantBuffer {
  Address blob = 0;
  std::optional<std::string> fold_state;  // none, initialized, folded, unknown
  Address map = 0;
  Address array = 0;  // the std::vector<ConstantHandle>
};

struct Model {
  Address at = 0;
  int device_type = 0;
  int device_index = -1;
  Address kernels = 0;
  bool finished = false;  // known for CPU models alone
  enum class Use { idle, running, pending } use = Use::idle;
};

struct Container {
  Address at = 0;
  Address runner = 0;  // the AOTIModelContainerRunner that holds it; 0: not known
  const Wrapper* wrapper = nullptr;
  std::string variant;  // the layout variant that held
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<Model> models;
  int active_buffer = 0;
  std::array<ConstantBuffer, 2> buffers;
  std::uint64_t blob_bytes = 0;
  std::vector<std::string> evidence;  // checks that held

  // A model that is in neither pool is executing (2.3 on; model_container.h).
  std::size_t count(Model::Use use) const;
};

// Fails with the first check that did not hold, and its address.
Result<Container> read_container(Memory& memory, std::span<const Wrapper> wrappers, Address at);

// The constants of one of its two buffers, with handles and tensors resolved.
Result<std::vector<Constant>> read_constants(Memory& memory, const Libtorch& libtorch,
                                             const Container& container, int buffer);

}  // namespace aotidbg
