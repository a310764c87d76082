// SPDX-License-Identifier: BSD-3-Clause
//
// The model call in flight: which thread is inside a model, in which kernel, of which container.
//
// An OpenMP worker's stack ends in its own start routine; the call is then on the thread that waits
// for it, inside the same kernel of the same wrapper.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/crash/stacks.h"
#include "common/torch/container.h"
#include "common/torch/runner.h"

namespace aotidbg {

// The generated kernel, or the op called from the generated code, that a stack is in.
struct RunningKernel {
  std::string name;
  enum class Kind { cpp, extern_op, unknown } kind = Kind::unknown;
  std::size_t frame = 0;  // its frame in the faulting thread's stack
  bool is_openmp_body = false;
};

struct Call {
  const Wrapper* wrapper = nullptr;
  ThreadId thread = 0;                  // the thread that is inside run_impl
  std::optional<std::size_t> run_impl;  // its frame there; empty when the wrapper has no names
  std::optional<std::size_t> entry;     // AOTInductorModelContainerRun's frame there
  std::optional<std::size_t> kernel;    // the kernel's frame there, of a thread that waits for it
  bool joined = false;                  // not the faulting thread itself
};

std::optional<std::size_t> find_run_impl(const NamedStack& stack,
                                         std::span<const Wrapper> wrappers);

// The kernel or op that `stack` is in: below run_impl, or an OpenMP body on a worker.
std::optional<RunningKernel> find_kernel(const NamedStack& stack,
                                         std::span<const Wrapper> wrappers);

// The call on this stack itself; empty when it shows no run_impl. In a wrapper whose symbols are
// not at hand every frame may be one: then only the wrapper and its outermost frame are known.
std::optional<Call> call_on(const NamedStack& stack, std::span<const Wrapper> wrappers);

// True when a word of the thread's stack, near its top, points into a wrapper's code: worth
// unwinding. Reads at most `limit` bytes.
bool may_be_inside(Target& target, const Thread& thread, std::span<const Wrapper> wrappers,
                   std::uint64_t limit = 256U << 10);

// The container that a call works on: a word in its frames' registers or on their stack that
// decodes as a container of this wrapper.
Result<Container> container_of(Target& target, std::span<const Wrapper> wrappers, const Call& call,
                               const NamedStack& stack);

// The model that executes the call: the one model of the container that these frames refer to.
std::optional<std::size_t> model_of(Target& target, const Container& container, const Call& call,
                                    const NamedStack& stack);

}  // namespace aotidbg
