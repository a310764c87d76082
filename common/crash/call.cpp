// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "common/arch/x86_64.h"
#include "common/crash/kernel_name.h"
#include "common/crash/stack_words.h"
#include "common/target/answers.h"

namespace aotidbg {
namespace {

std::string_view symbol_of(const NamedFrame& frame) {
  return frame.symbol ? std::string_view(frame.symbol->name) : std::string_view{};
}

bool in_wrapper(const NamedFrame& frame, std::span<const Wrapper> wrappers) {
  return frame.module != nullptr && wrapper_at(wrappers, frame.frame.lookup_pc()) != nullptr;
}

// The name of an op from the shim that the generated code calls: aoti_torch_cpu_addmm_out
// (torch/csrc/inductor/aoti_torch/generated/c_shim_cpu.h, c/shim.h).
bool is_shim(std::string_view symbol) { return symbol.starts_with("aoti_torch_"); }

}  // namespace

std::optional<std::size_t> find_run_impl(const NamedStack& stack,
                                         std::span<const Wrapper> wrappers) {
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    if (in_wrapper(stack.frames[i], wrappers) && is_run_impl(symbol_of(stack.frames[i]))) return i;
  }
  return std::nullopt;
}

std::optional<RunningKernel> find_kernel(const NamedStack& stack,
                                         std::span<const Wrapper> wrappers) {
  const auto run_impl = find_run_impl(stack, wrappers);
  const std::size_t end = run_impl.value_or(stack.frames.size());
  // The outermost generated function below run_impl: a kernel that calls a helper is still it.
  for (std::size_t i = end; i-- > 0;) {
    const NamedFrame& frame = stack.frames[i];
    const std::string_view symbol = symbol_of(frame);
    if (symbol.empty() || !in_wrapper(frame, wrappers) || is_runtime_symbol(symbol)) continue;
    RunningKernel kernel;
    kernel.name = kernel_of_symbol(symbol);
    kernel.kind = RunningKernel::Kind::cpp;
    kernel.is_openmp_body = is_openmp_body(symbol);
    kernel.frame = i;
    return kernel;
  }
  if (!run_impl) return std::nullopt;
  for (std::size_t i = *run_impl; i-- > 0;) {
    const std::string_view symbol = symbol_of(stack.frames[i]);
    if (!is_shim(symbol)) continue;
    return RunningKernel{std::string(symbol), RunningKernel::Kind::extern_op, i, false};
  }
  return std::nullopt;
}

std::optional<Call> call_on(const NamedStack& stack, std::span<const Wrapper> wrappers) {
  Call call;
  call.thread = stack.thread;
  call.run_impl = find_run_impl(stack, wrappers);
  if (call.run_impl) {
    call.wrapper = wrapper_at(wrappers, stack.frames[*call.run_impl].frame.lookup_pc());
    for (std::size_t i = *call.run_impl; i < stack.frames.size(); ++i) {
      const Address pc = stack.frames[i].frame.lookup_pc();
      if (call.wrapper->run <= pc && pc < call.wrapper->run_end) call.entry = i;
    }
    return call;
  }
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    const Wrapper* wrapper = wrapper_at(wrappers, stack.frames[i].frame.lookup_pc());
    if (wrapper == nullptr || !wrapper->nameless) continue;
    call.wrapper = wrapper;
    call.entry = i;
  }
  return call.wrapper != nullptr ? std::optional(call) : std::nullopt;
}

bool may_be_inside(Target& target, const Thread& thread, std::span<const Wrapper> wrappers,
                   std::uint64_t limit) {
  const auto start = stack_pointer(thread.registers);
  if (!start) return false;
  return answered<bool>(
      target, fmt::format("a wrapper's address in {} bytes of stack from {:x}", limit, *start),
      [&] {
        bool found = false;
        visit_stack_words(target, *start, *start + limit, [&](Address, std::uint64_t word) {
          found = found || wrapper_at(wrappers, word) != nullptr;
        });
        return found;
      });
}

namespace {

// Distinct words that the frames of a call hold: registers first, then their stack, innermost
// first. The stretch ends with the caller of the container's entry point.
std::vector<std::uint64_t> words_of_call(Target& target, const Call& call,
                                         const NamedStack& stack) {
  std::vector<std::uint64_t> words;
  std::unordered_set<std::uint64_t> seen;
  const auto add = [&](std::uint64_t word) {
    if (word % alignof(void*) == 0 && seen.insert(word).second) words.push_back(word);
  };
  const std::size_t first = call.run_impl.value_or(0);
  const std::size_t last = std::min(call.entry.value_or(first) + 1, stack.frames.size() - 1);
  for (std::size_t i = first; i <= last; ++i) {
    for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
      if (const auto value = stack.frames[i].frame.registers.get(slot)) add(*value);
    }
  }
  const auto start = stack.frames[first > 0 ? first - 1 : first].frame.stack_pointer;
  const auto end = stack.frames[last].stack_end;
  if (start && end) {
    visit_stack_words(target, *start, *end, [&](Address, std::uint64_t word) { add(word); });
  }
  return words;
}

}  // namespace

Result<Container> container_of(Target& target, std::span<const Wrapper> wrappers, const Call& call,
                               const NamedStack& stack) {
  for (const std::uint64_t word : words_of_call(target, call, stack)) {
    const Region* region = target.region_at(word);
    if (region == nullptr || !region->writable) continue;
    auto container = read_container(target, wrappers, word);
    if (container && container->wrapper == call.wrapper) return container;
  }
  return fail("no container of this wrapper is on the stack of the call");
}

std::optional<std::size_t> model_of(Target& target, const Container& container, const Call& call,
                                    const NamedStack& stack) {
  std::vector<std::size_t> found;
  const auto words = words_of_call(target, call, stack);
  for (std::size_t i = 0; i < container.models.size(); ++i) {
    const Address at = container.models[i].at;
    if (std::find(words.begin(), words.end(), at) != words.end()) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  const auto is_running = [&](std::size_t i) {
    return container.models[i].use == Model::Use::running;
  };
  std::erase_if(found, [&](std::size_t i) { return !is_running(i); });
  if (found.size() == 1) return found.front();
  return std::nullopt;
}

}  // namespace aotidbg
