// SPDX-License-Identifier: BSD-3-Clause
//
// at::Tensor and what it points to (c10/core/TensorImpl.h, StorageImpl.h). A tensor is decoded
// only when its parts agree: vtables, reference counts, sizes against the element count, device of
// tensor and storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/torch/libtorch.h"

namespace aotidbg {

struct Tensor {
  Address impl = 0;                // c10::TensorImpl
  std::optional<int> scalar_type;  // c10::ScalarType; empty: undefined
  std::string dtype;               // "float32"; empty when the type has no name here
  std::uint64_t item_size = 0;     // bytes; 0 when not known
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t storage_offset = 0;    // in elements
  std::int64_t elements = 0;
  int device_type = 0;  // c10::DeviceType
  int device_index = -1;
  std::string device;            // "cpu", "cuda:0"
  std::uint64_t references = 0;  // strong reference count
  Address storage = 0;           // c10::StorageImpl; 0 for a tensor without storage
  Address storage_data = 0;
  std::uint64_t storage_bytes = 0;

  // Address of element [0, 0, ...]; 0 for a null storage.
  Address data() const;
  // Bytes from data() to one past the last element that sizes and strides reach.
  std::uint64_t extent() const;
};

Result<Tensor> read_tensor_impl(Memory& memory, const Libtorch& libtorch, Address impl);

// An AtenTensorHandle is an at::Tensor* (torch/csrc/inductor/aoti_torch/utils.h).
Result<Tensor> read_tensor_handle(Memory& memory, const Libtorch& libtorch, Address handle);

// PyTorch's Python names: 6 is "float32" (torch/csrc/utils/tensor_dtypes.cpp), from the
// enumerator's name in the layout table; empty when the value has none.
std::string dtype_name(const Layout& layout, std::int64_t scalar_type);

// "cpu", "cuda:0" (c10/core/DeviceType.cpp); the index is left out when negative.
std::string device_name(const Layout& layout, std::int64_t device_type, std::int64_t index);

}  // namespace aotidbg
