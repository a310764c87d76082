// SPDX-License-Identifier: BSD-3-Clause
//
// wrapper.so: the native module of one compiled package. It is known by its exported entry points
// (torch/csrc/inductor/aoti_runtime/interface.h), never by its name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/target/target.h"
#include "common/torch/layout.h"
#include "common/torch/object.h"

namespace aotidbg {

struct Wrapper {
  const Module* module = nullptr;
  Address run = 0;  // AOTInductorModelContainerRun
  Address run_end = 0;
  std::string compiled_for;           // cpu, cuda, xpu; empty when nothing tells
  std::vector<std::string> variants;  // of the layout, those that may hold, likeliest first
  const Layout* layout = nullptr;     // of the torch that compiled it
  bool assumed = false;
  bool nameless = false;  // its symbols are not at hand: see infer_wrapper
  std::vector<std::string> evidence;
  std::optional<Address> delete_tensor;  // delete_tensor_object: the deleter in RAII handles
};

// Every wrapper in the process. `libtorch_layout` is tried for a wrapper that tells nothing itself.
std::vector<Wrapper> find_wrappers(Target& target, const Layout* libtorch_layout);

// A wrapper whose file is gone and whose pages were not dumped: known only by a runner that would
// call into it. Its layout is assumed to be that of the running libtorch.
Wrapper infer_wrapper(const Module& module, Address run, const Layout* libtorch_layout);

const Wrapper* wrapper_at(std::span<const Wrapper> wrappers, Address at);

}  // namespace aotidbg
