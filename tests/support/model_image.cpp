// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/model_image.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace aotidbg {
namespace {

constexpr std::string_view kContainer = "torch::aot_inductor::AOTInductorModelContainer";
constexpr std::string_view kModel = "torch::aot_inductor::AOTInductorModel";
constexpr std::string_view kBufferSet = "torch::aot_inductor::ConstantBufferSet";
constexpr std::string_view kConstInfo = "torch::aot_inductor::AOTInductorModelBase::ConstInfo";
constexpr std::string_view kParamInfo = "torch::aot_inductor::AOTInductorModelBase::ParamInfo";
constexpr std::string_view kHandle = "torch::aot_inductor::ConstantHandle";
constexpr std::string_view kRunner = "torch::inductor::AOTIModelContainerRunner";

constexpr std::uint64_t kWrapperSize = 0x20000;
constexpr std::uint64_t kCode = 0x4000;
constexpr std::uint64_t kData = 0x8000;

// A test that asks for what the layout does not have is wrong.
[[noreturn]] void give_up(std::string_view class_name, std::string_view member) {
  std::fprintf(stderr, "ModelImage: no %.*s::%.*s\n", static_cast<int>(class_name.size()),
               class_name.data(), static_cast<int>(member.size()), member.data());
  std::abort();
}

std::vector<std::int64_t> contiguous(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  return stride;
}

std::uint64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<std::uint64_t>(size);
  return elements;
}

}  // namespace

ModelImage::ModelImage(FakeTarget& process, const Layout& table, ModelImageOptions wanted,
                       Address base)
    : target(process), layout(table), options(std::move(wanted)) {
  constexpr std::uint64_t kHeap = 4U << 20;
  heap_ = base + 0x10000000;
  heap_next_ = heap_ + 0x100;
  heap_end_ = heap_ + kHeap;
  target.map(heap_, kHeap, "rw-", "");
  make_modules(base);
  for (ImageTensor& input : options.inputs) input.handle = write_tensor(input);
  make_models();
  make_container();
  make_runner();
}

void ModelImage::make_modules(Address base) {
  wrapper = base;
  run = base + kCode + 0x100;
  run_impl = base + kCode + 0x500;
  kernels = base + kCode + 0x600;
  delete_tensor = base + kCode + 0x200;
  kernels_vtable = base + kData + 0x10;
  std::vector<std::pair<std::string, std::uint64_t>> symbols = {
      {"AOTInductorModelContainerRun", run - base},
      {"AOTInductorModelContainerDelete", kCode + 0x300},
      {"AOTInductorModelDelete", kCode + 0x400},
      {"_ZN5torch12aot_inductor20delete_tensor_objectEPv", delete_tensor - base},
      {"_ZN5torch12aot_inductor16AOTInductorModel8run_implEPP16AtenTensorOpaqueS4_"
       "PvP23AOTIProxyExec"
       "utorOpaque",
       run_impl - base}};
  for (std::size_t i = 0; i < options.kernels.size(); ++i) {
    symbols.emplace_back(options.kernels[i], kernels - base + i * kKernelSpacing);
  }
  map_library(target, "/tmp/package/" + options.wrapper_name, base, kWrapperSize, symbols);
  // mov $SIZEOF, %esi; ret: what a sized delete leaves in code
  const auto write_size = [&](std::uint64_t at, std::string_view class_name) {
    target.poke(base + at, std::uint8_t{0xbe});
    target.poke(base + at + 1, static_cast<std::uint32_t>(size_of(class_name)));
    target.poke(base + at + 5, std::uint8_t{0xc3});
  };
  write_size(kCode + 0x300, kContainer);
  write_size(kCode + 0x400, kModel);
  text_next_ = base + kData + 0x1000;
}

Member ModelImage::member(std::string_view class_name, std::string_view name) const {
  const ClassLayout* found = layout.find(class_name, options.variant);
  if (found == nullptr) give_up(class_name, name);
  const auto result = found->find(name);
  if (!result) give_up(class_name, name);
  return *result;
}

std::uint64_t ModelImage::size_of(std::string_view class_name) const {
  const ClassLayout* found = layout.find(class_name, options.variant);
  if (found == nullptr) give_up(class_name, "size");
  return found->size;
}

Address ModelImage::address_of(std::string_view class_name, Address object,
                               std::string_view name) const {
  return object + member(class_name, name).offset;
}

void ModelImage::set(std::string_view class_name, Address object, std::string_view name,
                     std::uint64_t value) {
  const Member found = member(class_name, name);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  target.poke_bytes(object + found.offset, bytes.first(std::min<std::size_t>(found.size, 8)));
}

Address ModelImage::allocate(std::uint64_t size) {
  const Address at = heap_next_;
  heap_next_ = (heap_next_ + size + 31) / 16 * 16;
  if (heap_next_ > heap_end_) give_up("heap", "space");
  return at;
}

Address ModelImage::write_text(std::string_view text) {
  const Address at = text_next_;
  target.poke_string(at, text);
  text_next_ += text.size() + 1;
  return at;
}

void ModelImage::write_string(Address at, std::string_view text) {
  const Address characters = allocate(text.size() + 1);
  target.poke_string(characters, text);
  set("std::string", at, "data", characters);
  set("std::string", at, "size", text.size());
}

void ModelImage::write_vector(Address at, Address begin, std::uint64_t bytes) {
  set("std::vector", at, "begin", begin);
  set("std::vector", at, "end", begin + bytes);
  set("std::vector", at, "end_of_storage", begin + bytes);
}

Address ModelImage::write_tensor(ImageTensor& tensor) {
  constexpr Address kAddressPoint = 16;
  constexpr Address kC10Data = 0x7e0010000000 + kData;  // as make_libtorch places it
  if (tensor.stride.empty()) tensor.stride = contiguous(tensor.shape);
  const std::int64_t type = layout.enum_value("c10::ScalarType", tensor.dtype).value_or(-1);
  const std::uint64_t item = layout.scalar_type_size(type).value_or(0);
  const std::uint64_t bytes = elements_of(tensor.shape) * item;
  tensor.data = allocate(std::max<std::uint64_t>(bytes, 1) + 64);
  if (!tensor.bytes.empty()) target.poke_bytes(tensor.data, tensor.bytes);

  tensor.storage = allocate(size_of("c10::StorageImpl"));
  set("c10::StorageImpl", tensor.storage, "vptr", kC10Data + 0x100 + kAddressPoint);
  set("c10::StorageImpl", tensor.storage, "combined_refcount_", 1);
  const Address pointer = address_of("c10::StorageImpl", tensor.storage, "data_ptr_");
  set("c10::detail::UniqueVoidPtr", address_of("c10::DataPtr", pointer, "ptr_"), "data_",
      tensor.data);
  set("c10::StorageImpl", tensor.storage, "size_bytes_", bytes);

  tensor.impl = allocate(size_of("c10::TensorImpl"));
  const auto put = [&](std::string_view name, std::uint64_t value) {
    set("c10::TensorImpl", tensor.impl, name, value);
  };
  put("vptr", kC10Data + kAddressPoint);
  put("combined_refcount_", 1);
  put("storage_", tensor.storage);
  put("numel_", elements_of(tensor.shape));
  put("data_type_", static_cast<std::uint64_t>(type));
  const Address device = address_of("c10::TensorImpl", tensor.impl, "device_opt_");
  set("c10::Device", address_of("std::optional<c10::Device>", device, "value"), "index_", 0xff);
  set("std::optional<c10::Device>", device, "engaged", 1);
  const Address shape = address_of("c10::TensorImpl", tensor.impl, "sizes_and_strides_");
  set("c10::impl::SizesAndStrides", shape, "size_", tensor.shape.size());
  const std::size_t inline_dimensions =
      member("c10::impl::SizesAndStrides", "inlineStorage_").size / 16;
  Address sizes = address_of("c10::impl::SizesAndStrides", shape, "inlineStorage_");
  Address strides = sizes + inline_dimensions * 8;
  if (tensor.shape.size() > inline_dimensions) {
    sizes = allocate(tensor.shape.size() * 16);
    strides = sizes + tensor.shape.size() * 8;
    set("c10::impl::SizesAndStrides", shape, "outOfLineStorage_", sizes);
  }
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    target.poke(sizes + i * 8, tensor.shape[i]);
    target.poke(strides + i * 8, tensor.stride[i]);
  }
  const Address handle = allocate(8);
  target.poke(handle, tensor.impl);
  return handle;
}

void ModelImage::make_models() {
  const std::uint64_t info_size = size_of(kConstInfo);
  const Address infos = allocate(info_size * std::max<std::size_t>(options.constants.size(), 1));
  for (std::size_t i = 0; i < options.constants.size(); ++i) {
    ImageTensor& constant = options.constants[i];
    constant.handle = write_tensor(constant);
    const Address info = infos + i * info_size;
    constant.info = info;
    set(kConstInfo, info, "name", write_text(constant.name));
    set(kConstInfo, info, "original_fqn", write_text(constant.fqn));
    const auto type = layout.enum_value("c10::ScalarType", constant.dtype).value_or(-1);
    set(kConstInfo, info, "dtype", static_cast<std::uint64_t>(type));
    set(kConstInfo, info, "data_size",
        elements_of(constant.shape) * layout.scalar_type_size(type).value_or(0));
    set(kConstInfo, info, "type", 1);
    for (const auto& [name, values] :
         {std::pair("shape", &constant.shape), std::pair("stride", &constant.stride)}) {
      const Address at = allocate(values->size() * 8 + 8);
      target.poke_bytes(at, std::as_bytes(std::span(*values)));
      write_vector(address_of(kConstInfo, info, name), at, values->size() * 8);
    }
  }
  const std::uint64_t param_size = size_of(kParamInfo);
  const Address params = allocate(param_size * std::max<std::size_t>(options.inputs.size(), 1));
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    set(kParamInfo, params + i * param_size, "name", write_text(options.inputs[i].name));
  }
  map_ = allocate(size_of("std::unordered_map"));
  for (std::size_t i = 0; i < options.models; ++i) {
    const Address at = allocate(size_of(kModel));
    models.push_back(at);
    write_vector(address_of(kModel, at, "inputs_info_"), params,
                 param_size * options.inputs.size());
    write_vector(address_of(kModel, at, "constants_info_"), infos,
                 info_size * options.constants.size());
    write_string(address_of(kModel, at, "in_spec_"), "[1, {}]");
    set("std::shared_ptr", address_of(kModel, at, "constants_map_"), "pointer", map_);
    const Address object = allocate(64);
    target.poke(object, kernels_vtable);
    set(kModel, at, "kernels_", object);
    set(kModel, at, "device_idx_", 0xffffffff);
  }
}

void ModelImage::make_container() {
  container = allocate(size_of(kContainer));
  const Address list = allocate(8 * models.size());
  target.poke_bytes(list, std::as_bytes(std::span(models)));
  write_vector(address_of(kContainer, container, "models_"), list, 8 * models.size());
  const std::size_t idle = models.size() - std::min(options.running, models.size());
  const Address available = allocate(8 * models.size());
  target.poke_bytes(available, std::as_bytes(std::span(models)));
  write_vector(address_of(kContainer, container, "available_models_"), available, 8 * idle);

  const Address deque = address_of(kContainer, container, "pending_models_");
  const Address nodes = allocate(64);
  const Address chunk = allocate(512);
  target.poke(nodes, chunk);
  set("std::deque", deque, "map", nodes);
  for (const std::string_view end : {"start", "finish"}) {
    const Address iterator = address_of("std::deque", deque, end);
    set("std::deque::iterator", iterator, "cur", chunk);
    set("std::deque::iterator", iterator, "first", chunk);
    set("std::deque::iterator", iterator, "last", chunk + 512);
    set("std::deque::iterator", iterator, "node", nodes);
  }
  const auto spec = target.read_pointer(
      address_of("std::string", address_of(kModel, models.front(), "in_spec_"), "data"));
  set(kContainer, container, "in_spec_", spec.value_or(0));

  const std::uint64_t names_size = size_of("std::string");
  const Address names = allocate(names_size * std::max<std::size_t>(options.inputs.size(), 1));
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    write_string(names + i * names_size, options.inputs[i].name);
  }
  write_vector(address_of(kContainer, container, "input_names_"), names,
               names_size * options.inputs.size());

  const std::uint64_t handle_size = size_of(kHandle);
  const Address handles =
      allocate(handle_size * std::max<std::size_t>(options.constants.size(), 1));
  for (std::size_t i = 0; i < options.constants.size(); ++i) {
    const ImageTensor& constant = options.constants[i];
    if (!constant.loaded) continue;
    set(kHandle, handles + i * handle_size, "handle_", constant.handle);
    set(kHandle, handles + i * handle_size, "data_", constant.data);
  }
  constants_array = allocate(size_of("std::vector"));
  write_vector(constants_array, handles, handle_size * options.constants.size());
  const Address set_0 = address_of(kContainer, container, "buffers_");
  set("std::shared_ptr", address_of(kBufferSet, set_0, "map"), "pointer", map_);
  set("std::shared_ptr", address_of(kBufferSet, set_0, "array"), "pointer", constants_array);
  set(kBufferSet, set_0, "fold_state", 2);
}

void ModelImage::make_runner() {
  constexpr Address kRunnerVtable = 0x7e0000000000 + kData + 16;  // as make_libtorch places it
  runner = allocate(size_of(kRunner));
  set(kRunner, runner, "vptr", kRunnerVtable);
  set(kRunner, runner, "run_func_", run);
  set(kRunner, runner, "container_handle_", container);
}

}  // namespace aotidbg
