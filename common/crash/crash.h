// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that was read about one stop, before any rule judges it. Stages fill it in order and
// never go back: stop, stacks, call, decoded state, owner. Rules read it and change nothing.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "common/crash/call.h"
#include "common/crash/index_search.h"
#include "common/crash/owner.h"
#include "common/crash/stacks.h"
#include "common/crash/stop.h"
#include "common/crash/tensors.h"
#include "common/report/report.h"

namespace aotidbg {

struct Crash {
  Libtorch libtorch;
  std::vector<Wrapper> wrappers;

  Stop stop;
  Fault fault;
  NamedStack stack;                     // of the stopped thread, from the fault
  std::optional<RunningKernel> kernel;  // on `stack`

  std::optional<Call> call;           // the model call in flight that the stop belongs to
  std::optional<NamedStack> waiting;  // the stack that `call` is on when it is another thread's
  std::optional<Container> container;
  std::optional<std::size_t> model;  // index in container->models
  std::string container_problem;     // why `container` is empty though `call` is not

  std::vector<Constant> constants;  // of the active buffer
  CallTensors tensors;
  std::vector<KnownTensor> known;  // owners point into it
  std::unordered_set<std::uint64_t> kernel_words;

  std::optional<Owner> owner;
  // Constants without data, when the base is null: one is the owner, several are candidates.
  std::vector<const KnownTensor*> null_constants;
  IndexSearch index;

  // Runners in memory; empty until it was searched, which costs most of all and is done once.
  std::optional<std::vector<Runner>> runners;
  std::vector<Container> others;  // of `runners`, once `was_scanned`
  bool was_scanned = false;
  std::vector<Unknown> unknowns;

  // The stack that run_impl is on.
  const NamedStack& call_stack() const { return waiting ? *waiting : stack; }
  bool is_inside_aoti() const { return call.has_value() || kernel.has_value(); }

  // True when every frame from the fault to run_impl was found by call frame information.
  bool has_sure_stack() const;

  // Modules whose symbols cannot be looked up: a wrapper may be among them.
  std::size_t unread_modules = 0;

  // A frame of libtorch's runner or package loader: a model was being run, whatever else is known.
  bool has_runner_frame() const;

  // The operand's base is null, at whatever index: nothing was there to read from.
  bool has_null_base() const;
};

}  // namespace aotidbg
