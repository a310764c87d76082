// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/value_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/crash/tensor_values.h"

namespace aotidbg {
namespace {

class Collector {
 public:
  Collector(Target& target, std::size_t first) : target_(target), first_(first) {}

  void add_tensor(const Tensor& tensor) {
    add(tensor.storage_data, tensor.storage_bytes);
    add(tensor.data(), tensor.extent());
    if (tensor.data() == 0) return;
    const auto elements = static_cast<std::uint64_t>(std::max<std::int64_t>(tensor.elements, 0));
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(first_, elements); ++i) {
      const Address at = element_address(tensor, i);
      if (tensor.item_size <= ~at) found_.first.push_back({at, at + tensor.item_size});
    }
  }

  void add_container(const Libtorch& libtorch, const Container& container) {
    for (const ConstantBuffer& buffer : container.buffers) {
      add(buffer.blob, container.blob_bytes);
    }
    for (const int buffer : {0, 1}) {
      const auto constants = read_constants(target_, libtorch, container, buffer);
      if (!constants) continue;
      for (const Constant& constant : *constants) {
        add(constant.data, constant.bytes);
        if (constant.tensor) add_tensor(*constant.tensor);
      }
    }
  }

  void add_quoted(const IndexMatch& match) {
    const KnownTensor& input = *match.input;
    Address at = input.data;
    std::string position;
    for (std::size_t d = 0; d < match.position.size(); ++d) {
      position += fmt::format("[{}]", match.position[d]);
      const std::int64_t stride = d < input.strides.size() ? input.strides[d] : 1;
      at += static_cast<std::uint64_t>(match.position[d]) * static_cast<std::uint64_t>(stride) *
            input.item_size;
    }
    if (input.item_size > ~at) return;
    found_.quoted.push_back({fmt::format("input {}{}", input.name, position),
                             fmt::format("{}", match.value),
                             {at, at + input.item_size}});
  }

  ValueMemory take() { return std::move(found_); }

 private:
  // Sizes are read from memory and may be anything.
  void add(Address start, std::uint64_t bytes) {
    if (start == 0 || bytes == 0) return;
    const Region* const region = target_.region_at(start);
    const std::uint64_t most = region == nullptr ? ~start : region->end - start;
    found_.tensors.push_back({start, start + std::min(bytes, most)});
  }

  Target& target_;
  std::size_t first_;
  ValueMemory found_;
};

}  // namespace

ValueMemory find_value_memory(Target& target, const Crash& crash, std::size_t first) {
  Collector collector(target, first);
  for (const KnownTensor& known : crash.known) {
    if (known.tensor) collector.add_tensor(*known.tensor);
  }
  if (crash.container) collector.add_container(crash.libtorch, *crash.container);
  for (const Container& other : crash.others) collector.add_container(crash.libtorch, other);
  if (crash.index.match) collector.add_quoted(*crash.index.match);
  return collector.take();
}

}  // namespace aotidbg
