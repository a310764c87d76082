// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/crash/stack_words.h"
#include "common/torch/object.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);

// Handles in run_impl's frame, in the order of the code: highest address first. A handle that was
// reset or released is null.
std::vector<Address> raii_handles(Target& target, const Wrapper& wrapper,
                                  const NamedFrame& run_impl) {
  std::vector<Address> handles;
  if (!wrapper.delete_tensor || !run_impl.frame.stack_pointer || !run_impl.stack_end) return handles;
  bool after_deleter = false;
  visit_stack_words(target, *run_impl.frame.stack_pointer, *run_impl.stack_end,
                    [&](Address, std::uint64_t word) {
                      if (after_deleter) handles.push_back(word);
                      after_deleter = word == *wrapper.delete_tensor;
                    });
  std::reverse(handles.begin(), handles.end());
  return handles;
}

// A std::vector<at::Tensor> with `count` elements that all decode, on the stack above run_impl.
// Nothing when two different ones are there.
std::optional<std::vector<Tensor>> callers_vector(Target& target, const Libtorch& libtorch,
                                                  std::size_t count, Address start, Address end) {
  if (count == 0) return std::nullopt;
  std::vector<std::vector<Tensor>> found;
  std::uint64_t before_last = 0;
  std::uint64_t last = 0;
  visit_stack_words(target, start, end, [&](Address, std::uint64_t word) {
    const std::uint64_t begin = before_last;
    const std::uint64_t finish = last;
    before_last = last;
    last = word;  // the end of the storage
    if (begin == 0 || begin % kWord != 0 || finish - begin != count * kWord || word < finish) return;
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < count; ++i) {
      auto tensor = read_tensor_handle(target, libtorch, begin + i * kWord);
      if (!tensor) return;
      tensors.push_back(std::move(*tensor));
    }
    found.push_back(std::move(tensors));
  });
  if (found.empty()) return std::nullopt;
  const auto same = [&](const std::vector<Tensor>& other) {
    return std::equal(other.begin(), other.end(), found.front().begin(), found.front().end(),
                      [](const Tensor& a, const Tensor& b) { return a.impl == b.impl; });
  };
  if (!std::all_of(found.begin(), found.end(), same)) return std::nullopt;
  return std::move(found.front());
}

CallInput join_sources(std::string name, const std::optional<Tensor>& handle,
                       const std::optional<Tensor>& callers, bool was_reset) {
  CallInput input;
  input.name = std::move(name);
  if (handle && callers && handle->impl != callers->impl &&
      handle->storage_data != callers->storage_data) {
    input.problem =
        "the handle in run_impl's frame and the caller's vector hold different tensors";
    return input;
  }
  if (handle) {
    input.tensor = handle;
    input.found_by = callers ? "run_impl's handle and the caller's vector" : "run_impl's handle";
  } else if (callers) {
    input.tensor = callers;
    input.found_by = "the caller's vector";
  } else {
    input.problem = was_reset ? "the generated code has released it already, and no caller holds it"
                              : "it is neither in run_impl's frame nor in a vector of the caller";
  }
  return input;
}

KnownTensor known(KnownTensor::Kind kind, std::string name, const Tensor& tensor) {
  KnownTensor result;
  result.kind = kind;
  result.name = std::move(name);
  result.data = tensor.data();
  result.bytes = tensor.extent();
  result.item_size = tensor.item_size;
  result.dtype = tensor.dtype;
  result.sizes = tensor.sizes;
  result.strides = tensor.strides;
  result.tensor = tensor;
  return result;
}

}  // namespace

CallTensors find_call_tensors(Target& target, const Libtorch& libtorch, const Container& container,
                              const Call& call, const NamedStack& stack) {
  CallTensors result;
  if (!call.run_impl || *call.run_impl >= stack.frames.size()) return result;
  const std::size_t count = container.input_names.size();
  const NamedFrame& run_impl = stack.frames[*call.run_impl];
  const auto handles = raii_handles(target, *call.wrapper, run_impl);
  const bool handles_cover_inputs = handles.size() >= count;

  std::optional<std::vector<Tensor>> callers;
  const auto outermost = stack.frames.back().frame.stack_pointer;
  if (run_impl.stack_end && outermost) {
    // main's own frame has no known end; a vector object in it lies within a page or two.
    constexpr std::uint64_t kOutermostFrame = 16U << 10;
    callers = callers_vector(target, libtorch, count, *run_impl.stack_end,
                             *outermost + kOutermostFrame);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Tensor> handle;
    const bool was_reset = handles_cover_inputs && handles[i] == 0;
    if (handles_cover_inputs && handles[i] != 0) {
      if (auto tensor = read_tensor_handle(target, libtorch, handles[i])) handle = *tensor;
    }
    result.inputs.push_back(join_sources(container.input_names[i], handle,
                                         callers ? std::optional((*callers)[i]) : std::nullopt,
                                         was_reset));
  }
  for (std::size_t i = count; i < handles.size(); ++i) {
    if (auto tensor = read_tensor_handle(target, libtorch, handles[i])) {
      result.buffers.push_back(std::move(*tensor));
    }
  }
  return result;
}

std::vector<KnownTensor> known_tensors(const std::vector<Constant>& constants,
                                       const CallTensors& tensors) {
  std::vector<KnownTensor> result;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const Constant& constant = constants[i];
    KnownTensor owner;
    if (constant.tensor) {
      owner = known(KnownTensor::Kind::constant, constant.name, *constant.tensor);
    } else {
      owner.kind = KnownTensor::Kind::constant;
      owner.name = constant.name;
      owner.data = constant.data;
      owner.bytes = constant.bytes;
      owner.dtype = constant.dtype;
      owner.sizes = constant.shape;
      owner.strides = constant.stride;
    }
    owner.fqn = constant.fqn;
    owner.position = i;
    result.push_back(std::move(owner));
  }
  for (std::size_t i = 0; i < tensors.inputs.size(); ++i) {
    const CallInput& input = tensors.inputs[i];
    if (!input.tensor) continue;
    KnownTensor owner = known(KnownTensor::Kind::input, input.name, *input.tensor);
    owner.position = i;
    owner.found_by = input.found_by;
    result.push_back(std::move(owner));
  }
  for (std::size_t i = 0; i < tensors.buffers.size(); ++i) {
    // The generated name is in the package's source alone, so the buffer is counted, not named.
    KnownTensor owner = known(KnownTensor::Kind::buffer, fmt::format("buffer #{}", i + 1),
                              tensors.buffers[i]);
    owner.found_by = "run_impl's handle";
    result.push_back(std::move(owner));
  }
  return result;
}

}  // namespace aotidbg
