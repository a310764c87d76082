// SPDX-License-Identifier: BSD-3-Clause
//
// The objects inside the running libtorch: tensors, storages, and the C++ loader's runner. See
// wrapper.cpp.
#include <ATen/DynamicLibrary.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>
#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#define HAS_PACKAGE_LOADER
#endif

#include <optional>
#include <string>
#include <unordered_map>

namespace aotidbg_layoutgen {

// Bytes of an element, as c10::elementSize computes them.
enum class ScalarTypeSize : int {
#define ITEM_SIZE(type, name) name = sizeof(type),
  AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(ITEM_SIZE)
#undef ITEM_SIZE
};

struct LayoutProbe {
  at::Tensor tensor;
  c10::TensorImpl tensor_impl;
  c10::StorageImpl storage_impl;
  c10::intrusive_ptr<c10::StorageImpl> intrusive_ptr;
  torch::inductor::AOTIModelContainerRunnerCpu runner_cpu;
#ifdef HAS_PACKAGE_LOADER
  torch::inductor::AOTIModelPackageLoader package_loader;
#endif
  at::DynamicLibrary dynamic_library;

  c10::ScalarType scalar_type;
  ScalarTypeSize scalar_type_size;
  c10::DeviceType device_type;
  c10::Layout layout;

  decltype(c10::TensorImpl::device_opt_) optional_device;
  decltype(std::unordered_map<std::string, std::string>::_M_h)::__node_type metadata_node;
  std::unordered_map<std::string, std::string>::value_type metadata_value;
};

LayoutProbe* probe;

}  // namespace aotidbg_layoutgen
