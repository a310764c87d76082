// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/target/record.h"
#include "common/torch/object.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kMaxDimensions = 64;  // at::kDimVectorStaticSize is 5; real tensors: < 26

// c10::SizesAndStrides (c10/core/impl/SizesAndStrides.h): up to five dimensions are kept inline,
// more in one allocation of sizes and then strides.
Result<void> read_shape(const ObjectReader& reader, const Object& impl, Tensor& tensor) {
  const auto both = reader.part(impl, "sizes_and_strides_", "c10::impl::SizesAndStrides");
  if (!both) return tl::unexpected(both.error());
  const auto dimensions = both->number("size_");
  const auto inline_at = both->address_of("inlineStorage_");
  const auto outline = both->number("outOfLineStorage_");
  if (!dimensions || !inline_at || !outline) {
    return fail("this layout table cannot read SizesAndStrides", impl.address());
  }
  if (*dimensions > kMaxDimensions) {
    return fail(fmt::format("no tensor is here: {} dimensions", *dimensions), impl.address());
  }
  const auto inline_member = both->layout().find("inlineStorage_");
  const std::uint64_t inline_dimensions = inline_member->size / sizeof(std::int64_t) / 2;
  const bool is_inline = *dimensions <= inline_dimensions;
  const Address sizes_at = is_inline ? *inline_at : *outline;
  const Address strides_at =
      sizes_at + sizeof(std::int64_t) * (is_inline ? inline_dimensions : *dimensions);
  tensor.sizes.resize(*dimensions);
  tensor.strides.resize(*dimensions);
  if (*dimensions == 0) return {};
  Memory& memory = reader.memory();
  if (auto done = memory.read(sizes_at, std::as_writable_bytes(std::span(tensor.sizes))); !done) {
    return done;
  }
  return memory.read(strides_at, std::as_writable_bytes(std::span(tensor.strides)));
}

Result<void> check_sizes(const Tensor& tensor) {
  std::int64_t product = 1;
  for (const std::int64_t size : tensor.sizes) {
    if (size < 0 || __builtin_mul_overflow(product, size, &product)) {
      return fail("no tensor is here: its sizes are impossible", tensor.impl);
    }
  }
  if (product != tensor.elements) {
    return fail(fmt::format("no tensor is here: its sizes make {} elements and it counts {}",
                            product, tensor.elements),
                tensor.impl);
  }
  return {};
}

// device_opt_ is an optional<Device>: type and index, one byte each (c10/core/Device.h).
Result<void> read_device(const ObjectReader& reader, const Object& impl, int& type, int& index) {
  const auto optional = reader.part(impl, "device_opt_", "std::optional<c10::Device>");
  if (!optional) return tl::unexpected(optional.error());
  if (optional->number("engaged").value_or(0) != 1) {
    return fail("no tensor is here: it has no device", impl.address());
  }
  const auto device = reader.part(*optional, "value", "c10::Device");
  if (!device) return tl::unexpected(device.error());
  const auto type_number = device->signed_number("type_");
  const auto index_number = device->signed_number("index_");
  if (!type_number || !index_number) {
    return fail("this layout table cannot read Device", impl.address());
  }
  type = static_cast<int>(*type_number);
  index = static_cast<int>(*index_number);
  return {};
}

Result<void> read_storage(const ObjectReader& reader, const Libtorch& libtorch, Tensor& tensor) {
  if (tensor.storage == 0) return {};
  const auto storage = reader.read("c10::StorageImpl", tensor.storage);
  if (!storage) return tl::unexpected(storage.error());
  const auto vtable = storage->number("vptr");
  if (!libtorch.storage_vtables.empty() && vtable &&
      std::find(libtorch.storage_vtables.begin(), libtorch.storage_vtables.end(), *vtable) ==
          libtorch.storage_vtables.end()) {
    return fail("no tensor is here: its storage is no StorageImpl", tensor.storage);
  }
  const auto pointer = reader.part(*storage, "data_ptr_", "c10::DataPtr");
  const auto bytes = storage->number("size_bytes_");
  if (!pointer || !bytes) return fail("this layout table cannot read StorageImpl", tensor.storage);
  const auto data =
      reader.part(*pointer, "ptr_", "c10::detail::UniqueVoidPtr").and_then([](const Object& held) {
        return held.number("data_");
      });
  if (!data) return tl::unexpected(data.error());
  tensor.storage_data = *data;
  tensor.storage_bytes = *bytes;
  return {};
}

Result<Tensor> decode_tensor_impl(Memory& memory, const Libtorch& libtorch, Address impl);

}  // namespace

Address Tensor::data() const {
  if (storage_data == 0) return 0;
  return storage_data + static_cast<std::uint64_t>(storage_offset) * item_size;
}

std::uint64_t Tensor::extent() const {
  if (elements == 0) return 0;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] > 0) {
      last += static_cast<std::uint64_t>(sizes[i] - 1) * static_cast<std::uint64_t>(strides[i]);
    }
  }
  return (last + 1) * item_size;
}

Result<Tensor> read_tensor_impl(Memory& memory, const Libtorch& libtorch, Address impl) {
  return tentatively(memory, [&] { return decode_tensor_impl(memory, libtorch, impl); });
}

namespace {

Result<Tensor> decode_tensor_impl(Memory& memory, const Libtorch& libtorch, Address impl) {
  if (libtorch.layout == nullptr) return fail("no layout table can be used for tensors", impl);
  if (impl == 0 || impl % alignof(void*) != 0) return fail("no tensor is here", impl);
  const ObjectReader reader(memory, *libtorch.layout);
  const auto object = reader.read("c10::TensorImpl", impl);
  if (!object) return tl::unexpected(object.error());
  const auto vtable = object->number("vptr");
  if (!libtorch.tensor_vtables.empty() && vtable &&
      std::find(libtorch.tensor_vtables.begin(), libtorch.tensor_vtables.end(), *vtable) ==
          libtorch.tensor_vtables.end()) {
    return fail("no tensor is here: its first word is not the vtable of c10::TensorImpl", impl);
  }
  Tensor tensor;
  tensor.impl = impl;
  // One word since 2.11 (strong count in the lower half), two before: the lower half serves both.
  const auto references =
      object->number(object->has("combined_refcount_") ? "combined_refcount_" : "refcount_");
  if (!references) return tl::unexpected(references.error());
  tensor.references = *references & 0xffffffffU;
  if (tensor.references == 0) return fail("no tensor is here: nobody refers to it", impl);

  const auto elements = object->signed_number("numel_");
  const auto offset = object->signed_number("storage_offset_");
  const auto type = object->number("data_type_");
  const auto storage = object->number("storage_");
  if (!elements || !offset || !type || !storage) {
    return fail("this layout table cannot read TensorImpl", impl);
  }
  tensor.elements = *elements;
  tensor.storage_offset = *offset;
  tensor.storage = *storage;
  tensor.scalar_type = static_cast<int>(*type);
  tensor.dtype = dtype_name(*libtorch.layout, *tensor.scalar_type);
  const auto item_size = libtorch.layout->scalar_type_size(*tensor.scalar_type);
  if (!item_size || tensor.storage_offset < 0) {
    return fail("no tensor is here: its element type is unknown", impl);
  }
  tensor.item_size = *item_size;
  if (auto done = read_shape(reader, *object, tensor); !done) return tl::unexpected(done.error());
  if (auto done = check_sizes(tensor); !done) return tl::unexpected(done.error());
  if (auto done = read_device(reader, *object, tensor.device_type, tensor.device_index); !done) {
    return tl::unexpected(done.error());
  }
  tensor.device = device_name(*libtorch.layout, tensor.device_type, tensor.device_index);
  if (auto done = read_storage(reader, libtorch, tensor); !done) {
    return tl::unexpected(done.error());
  }
  return tensor;
}

}  // namespace

Result<Tensor> read_tensor_handle(Memory& memory, const Libtorch& libtorch, Address handle) {
  if (handle == 0) return fail("the handle is null");
  return tentatively(memory, [&] {
    return memory.read_pointer(handle).and_then(
        [&](Address impl) { return decode_tensor_impl(memory, libtorch, impl); });
  });
}

std::string dtype_name(const Layout& layout, std::int64_t scalar_type) {
  struct Name {
    std::string_view enumerator;
    std::string_view python;
  };
  // c10/core/ScalarType.h and torch/csrc/utils/tensor_dtypes.cpp.
  static constexpr std::array kNames = {
      Name{"Byte", "uint8"},
      Name{"Char", "int8"},
      Name{"Short", "int16"},
      Name{"Int", "int32"},
      Name{"Long", "int64"},
      Name{"Half", "float16"},
      Name{"Float", "float32"},
      Name{"Double", "float64"},
      Name{"ComplexHalf", "complex32"},
      Name{"ComplexFloat", "complex64"},
      Name{"ComplexDouble", "complex128"},
      Name{"Bool", "bool"},
      Name{"BFloat16", "bfloat16"},
      Name{"UInt16", "uint16"},
      Name{"UInt32", "uint32"},
      Name{"UInt64", "uint64"},
      Name{"QInt8", "qint8"},
      Name{"QUInt8", "quint8"},
      Name{"QInt32", "qint32"},
  };
  const auto enumerator = layout.enum_name("c10::ScalarType", scalar_type);
  if (!enumerator || *enumerator == "Undefined") return {};
  for (const Name& name : kNames) {
    if (name.enumerator == *enumerator) return std::string(name.python);
  }
  std::string lower(*enumerator);  // Float8_e4m3fn and the like differ by case alone
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string device_name(const Layout& layout, std::int64_t device_type, std::int64_t index) {
  const auto enumerator = layout.enum_name("c10::DeviceType", device_type);
  if (!enumerator) return fmt::format("device type {}", device_type);
  std::string name(*enumerator);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return index < 0 ? name : fmt::format("{}:{}", name, index);
}

}  // namespace aotidbg
