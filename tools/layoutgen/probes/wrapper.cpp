// SPDX-License-Identifier: BSD-3-Clause
//
// The objects inside a compiled package (wrapper.so), named so that the compiler describes them in
// its debug information. Compiled once for each variant; never run. A member of LayoutProbe makes a
// type complete, and names one that the headers do not (class_list.cpp: "probe:NAME").
//
// Needs -fno-access-control: some of these types are private or protected.
#include <torch/csrc/inductor/aoti_runtime/model_container.h>
#if __has_include(<torch/csrc/inductor/aoti_runtime/constant_type.h>)
#include <torch/csrc/inductor/aoti_runtime/constant_type.h>
#define HAS_CONSTANT_TYPE
#endif

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace aotidbg_layoutgen {

using torch::aot_inductor::ConstantMap;

struct LayoutProbe {
  torch::aot_inductor::AOTInductorModelContainer container;
#ifdef HAS_CONSTANT_TYPE
  torch::aot_inductor::ConstantType constant_type;
#endif
  decltype(ConstantMap::_M_h)::__node_type constant_map_node;
  ConstantMap::value_type constant_map_value;

  std::string string;
  std::vector<void*> vector;
  std::shared_ptr<void> shared_ptr;
  std::_Sp_counted_ptr_inplace<std::string, std::allocator<std::string>, std::__default_lock_policy>
      shared_ptr_inplace;
  std::unique_ptr<std::string> unique_ptr;
  std::unique_ptr<void, void (*)(void*)> unique_ptr_function;
  std::unique_ptr<void, std::function<void(void*)>> unique_ptr_std_function;
  std::unordered_map<std::string, std::string> unordered_map;
  std::deque<void*> deque;
  std::deque<void*>::iterator deque_iterator;
  std::function<void(void*)> function;
  std::optional<std::string> optional_string;
  std::optional<void*> optional_pointer;
};

LayoutProbe* probe;

}  // namespace aotidbg_layoutgen
