// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/crash/stack_words.h"
#include "common/torch/object.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);

// What the RAII handles of a frame hold, highest address first. A handle that was reset or released
// is empty, and so is one whose tensor does not decode.
std::vector<std::optional<Tensor>> raii_handles(Target& target, const Libtorch& libtorch,
                                                const Wrapper& wrapper, const NamedFrame& frame) {
  std::vector<std::optional<Tensor>> handles;
  if (!wrapper.delete_tensor || !frame.frame.stack_pointer || !frame.stack_end) return handles;
  bool after_deleter = false;
  visit_stack_words(
      target, *frame.frame.stack_pointer, *frame.stack_end, [&](Address, std::uint64_t word) {
        if (after_deleter) {
          auto tensor = read_tensor_handle(target, libtorch, word);
          handles.push_back(tensor ? std::optional(std::move(*tensor)) : std::nullopt);
        }
        after_deleter = word == *wrapper.delete_tensor;
      });
  std::reverse(handles.begin(), handles.end());
  return handles;
}

using Tensors = std::vector<Tensor>;

// Every std::vector<at::Tensor> object with `count` elements, all of which decode, in [start, end).
std::vector<Tensors> vectors_of_tensors(Target& target, const Libtorch& libtorch, std::size_t count,
                                        Address start, Address end) {
  std::vector<Tensors> found;
  if (count == 0) return found;
  std::uint64_t before_last = 0;
  std::uint64_t last = 0;
  visit_stack_words(target, start, end, [&](Address, std::uint64_t word) {
    const std::uint64_t begin = before_last;
    const std::uint64_t finish = last;
    before_last = last;
    last = word;  // the end of the storage, if this is a vector
    const bool is_vector =
        begin != 0 && begin % kWord == 0 && finish - begin == count * kWord && word >= finish;
    if (!is_vector) return;
    Tensors tensors;
    for (std::size_t i = 0; i < count; ++i) {
      auto tensor = read_tensor_handle(target, libtorch, begin + i * kWord);
      if (!tensor) return;
      tensors.push_back(std::move(*tensor));
    }
    const auto same = [&](const Tensors& other) {
      return std::equal(other.begin(), other.end(), tensors.begin(),
                        [](const Tensor& a, const Tensor& b) { return a.impl == b.impl; });
    };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(tensors));
  });
  return found;
}

bool holds(const std::vector<std::optional<Tensor>>& handles, const Tensor& tensor) {
  return std::any_of(handles.begin(), handles.end(), [&](const std::optional<Tensor>& handle) {
    return handle && handle->impl == tensor.impl;
  });
}

// The one vector whose tensors run_impl's handles hold too; else the only one there is.
const Tensors* callers_vector(const std::vector<Tensors>& vectors,
                              const std::vector<std::optional<Tensor>>& handles) {
  const Tensors* best = nullptr;
  std::ptrdiff_t most = 0;
  bool tied = false;
  for (const Tensors& tensors : vectors) {
    const auto shared = std::count_if(tensors.begin(), tensors.end(),
                                      [&](const Tensor& tensor) { return holds(handles, tensor); });
    tied = shared == most && best != nullptr;
    if (shared <= most) continue;
    best = &tensors;
    most = shared;
    tied = false;
  }
  if (best != nullptr) return tied ? nullptr : best;
  return vectors.size() == 1 ? &vectors.front() : nullptr;
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
  const auto innermost = call.run_impl ? call.run_impl : call.entry;
  if (!innermost || *innermost >= stack.frames.size()) return result;
  const NamedFrame& run_impl = stack.frames[*innermost];
  const auto handles = raii_handles(target, libtorch, *call.wrapper, run_impl);
  std::vector<Tensors> vectors;
  const auto outermost = stack.frames.back().frame.stack_pointer;
  if (run_impl.stack_end && outermost) {
    // The outermost frame has no known end; a vector object in it lies within a page or two.
    constexpr std::uint64_t kOutermostFrame = 16U << 10;
    vectors = vectors_of_tensors(target, libtorch, container.input_names.size(),
                                 *run_impl.stack_end, *outermost + kOutermostFrame);
  }
  const Tensors* const callers = callers_vector(vectors, handles);
  for (std::size_t i = 0; i < container.input_names.size(); ++i) {
    CallInput& input = result.inputs.emplace_back();
    input.name = container.input_names[i];
    if (callers != nullptr) {
      input.tensor = (*callers)[i];
      input.found_by = holds(handles, *input.tensor) ? "the caller's vector and run_impl's handle"
                                                     : "the caller's vector";
    } else if (i < handles.size() && handles[i]) {
      input.tensor = handles[i];
      input.name_assumed = true;
      input.found_by = "run_impl's handles, by their order on the stack";
    } else {
      input.problem = vectors.empty() ? "no vector of the caller holds it, nor a handle of run_impl"
                                      : "several vectors of the caller may be the inputs";
    }
  }
  for (const auto& handle : handles) {
    const bool is_input =
        handle && std::any_of(result.inputs.begin(), result.inputs.end(), [&](const auto& input) {
          return input.tensor && input.tensor->impl == handle->impl;
        });
    if (handle && !is_input) result.buffers.push_back(*handle);
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
    owner.name_assumed = input.name_assumed;
    result.push_back(std::move(owner));
  }
  for (std::size_t i = 0; i < tensors.buffers.size(); ++i) {
    // The generated name is in the package's source alone, so the buffer is counted, not named.
    KnownTensor owner =
        known(KnownTensor::Kind::buffer, fmt::format("#{}", i + 1), tensors.buffers[i]);
    owner.found_by = "run_impl's handle";
    result.push_back(std::move(owner));
  }
  return result;
}

}  // namespace aotidbg
