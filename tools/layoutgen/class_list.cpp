// SPDX-License-Identifier: BSD-3-Clause
#include "class_list.h"

namespace aotidbg::layoutgen {
namespace {

// A class or enumeration that is listed as the headers name it.
ClassSpec own(const std::string& name, Probe probe) { return {name, probe, name}; }

std::vector<NestedName> hash_node(const std::string& value_type) {
  return {
      {"next", "_M_nxt"},
      {"key", "_M_storage", "", value_type, "first"},
      {"value", "_M_storage", "", value_type, "second"},
      {"hash", "_M_hash_code"},
  };
}

// What the compiled package holds. AOTInductorModel lists what it has from AOTInductorModelBase.
std::vector<ClassSpec> wrapper_classes() {
  const std::string scope = "torch::aot_inductor::";
  const std::string base = scope + "AOTInductorModelBase<torch::aot_inductor::AOTInductorModel>";
  return {
      own(scope + "AOTInductorModelContainer", Probe::wrapper),
      own(scope + "ConstantBufferSet", Probe::wrapper),
      own(scope + "AOTInductorModel", Probe::wrapper),
      {scope + "AOTInductorModelBase", Probe::wrapper, base},
      {scope + "AOTInductorModelBase::ConstInfo", Probe::wrapper, base + "::ConstInfo"},
      {scope + "AOTInductorModelBase::ParamInfo", Probe::wrapper, base + "::ParamInfo"},
      own(scope + "AOTInductorModelKernelsBase", Probe::wrapper),
      own(scope + "RAIIAtenTensorHandle", Probe::wrapper),
      own(scope + "MaybeOwningAtenTensorHandle", Probe::wrapper),
      own(scope + "ConstantHandle", Probe::wrapper),
      {scope + "ConstantMap::node", Probe::wrapper, "probe:constant_map_node",
       hash_node("probe:constant_map_value")},
  };
}

// What libtorch holds.
std::vector<ClassSpec> libtorch_classes() {
  const std::string inductor = "torch::inductor::";
  const std::string executor = "torch::aot_inductor::";
  return {
      {"at::Tensor", Probe::libtorch, "probe:tensor"},
      own("at::DynamicLibrary", Probe::libtorch),
      own("c10::DataPtr", Probe::libtorch),
      own("c10::DispatchKeySet", Probe::libtorch),
      own("c10::Device", Probe::libtorch),
      own("c10::Storage", Probe::libtorch),
      own("c10::StorageImpl", Probe::libtorch),
      own("c10::SymInt", Probe::libtorch),
      own("c10::TensorImpl", Probe::libtorch),
      own("c10::detail::UniqueVoidPtr", Probe::libtorch),
      own("c10::impl::PyObjectSlot", Probe::libtorch),
      own("c10::impl::SizesAndStrides", Probe::libtorch),
      own("caffe2::TypeMeta", Probe::libtorch),
      {"c10::intrusive_ptr", Probe::libtorch, "probe:intrusive_ptr"},
      {"std::optional<c10::Device>",
       Probe::libtorch,
       "probe:optional_device",
       {{"value", "_M_value"}, {"engaged", "_M_engaged"}}},
      {"std::unordered_map<std::string, std::string>::node", Probe::libtorch, "probe:metadata_node",
       hash_node("probe:metadata_value")},
      own(inductor + "AOTIModelContainerRunner", Probe::libtorch),
      own(inductor + "AOTIModelContainerRunnerCpu", Probe::libtorch),
      own(inductor + "AOTIModelPackageLoader", Probe::libtorch),
      own(executor + "OSSDynamicArg", Probe::proxy_executor),
      own(executor + "OSSOpKernel", Probe::proxy_executor),
      own(executor + "OSSOpKernelOperator", Probe::proxy_executor),
      own(executor + "OSSProxyExecutor", Probe::proxy_executor),
  };
}

// The C++ library's containers. Names on the right are libstdc++'s (bits/stl_vector.h,
// bits/shared_ptr_base.h, bits/unique_ptr.h with tuple, bits/hashtable.h, bits/stl_deque.h,
// bits/std_function.h, optional, bits/basic_string.h).
std::vector<ClassSpec> library_classes() {
  const Probe probe = Probe::wrapper;
  // unique_ptr is a tuple of pointer and deleter: elements 0 and 1.
  const NestedName pointer = {"pointer", "_M_head_impl", "std::_Head_base<0"};
  const NestedName deleter = {"deleter", "_M_head_impl", "std::_Head_base<1"};
  return {
      {"std::string",
       probe,
       "probe:string",
       {{"data", "_M_p"},
        {"size", "_M_string_length"},
        {"local_buffer", "_M_local_buf"},
        {"capacity", "_M_allocated_capacity"}}},
      {"std::vector",
       probe,
       "probe:vector",
       {{"begin", "_M_start"}, {"end", "_M_finish"}, {"end_of_storage", "_M_end_of_storage"}}},
      {"std::shared_ptr", probe, "probe:shared_ptr", {{"pointer", "_M_ptr"}, {"control", "_M_pi"}}},
      // What make_shared allocates: the counts, then the object.
      {"std::shared_ptr::inplace_control",
       probe,
       "probe:shared_ptr_inplace",
       {{"vptr", "vptr"},
        {"use_count", "_M_use_count"},
        {"weak_count", "_M_weak_count"},
        {"object", "_M_storage"}}},
      {"std::unique_ptr", probe, "probe:unique_ptr", {pointer}},
      {"std::unique_ptr<T, void (*)(void*)>",
       probe,
       "probe:unique_ptr_function",
       {pointer, deleter}},
      {"std::unique_ptr<T, std::function>",
       probe,
       "probe:unique_ptr_std_function",
       {pointer, deleter}},
      {"std::unordered_map",
       probe,
       "probe:unordered_map",
       {{"buckets", "_M_buckets"},
        {"bucket_count", "_M_bucket_count"},
        {"first_node", "_M_nxt"},
        {"element_count", "_M_element_count"},
        {"single_bucket", "_M_single_bucket"}}},
      {"std::deque",
       probe,
       "probe:deque",
       {{"map", "_M_map"},
        {"map_size", "_M_map_size"},
        {"start", "_M_start"},
        {"finish", "_M_finish"}}},
      {"std::deque::iterator",
       probe,
       "probe:deque_iterator",
       {{"cur", "_M_cur"}, {"first", "_M_first"}, {"last", "_M_last"}, {"node", "_M_node"}}},
      {"std::function",
       probe,
       "probe:function",
       {{"storage", "_M_functor"}, {"manager", "_M_manager"}, {"invoker", "_M_invoker"}}},
      {"std::optional<std::string>",
       probe,
       "probe:optional_string",
       {{"value", "_M_value"}, {"engaged", "_M_engaged"}}},
      {"std::optional<void*>",
       probe,
       "probe:optional_pointer",
       {{"value", "_M_value"}, {"engaged", "_M_engaged"}}},
  };
}

}  // namespace

const std::vector<ClassSpec>& class_specs() {
  static const std::vector<ClassSpec> kSpecs = [] {
    std::vector<ClassSpec> all = wrapper_classes();
    for (auto* more : {&libtorch_classes, &library_classes}) {
      for (ClassSpec& spec : more()) all.push_back(std::move(spec));
    }
    return all;
  }();
  return kSpecs;
}

const std::vector<EnumSpec>& enum_specs() {
  static const std::vector<EnumSpec> kSpecs = {
      {"c10::DeviceType", Probe::libtorch, "probe:device_type"},
      {"c10::Layout", Probe::libtorch, "probe:layout"},
      {"c10::ScalarType", Probe::libtorch, "probe:scalar_type"},
      {"torch::aot_inductor::ConstantState", Probe::wrapper, "torch::aot_inductor::ConstantState"},
      {"torch::aot_inductor::ConstantType", Probe::wrapper, "probe:constant_type"},
      {"torch::aot_inductor::DynamicArgType", Probe::proxy_executor,
       "torch::aot_inductor::DynamicArgType"},
  };
  return kSpecs;
}

}  // namespace aotidbg::layoutgen
