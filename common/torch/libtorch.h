// SPDX-License-Identifier: BSD-3-Clause
//
// The libtorch that runs in the process: its version, how that is known, and the layout table for
// its objects (tensors, storages, runners, loaders). The torch that compiled a package is another
// question, answered in wrapper.h.
//
// Evidence, strongest first: aoti_torch_abi_version, a constant in libtorch_cpu's code
// (torch/csrc/inductor/aoti_torch/shim_common.cpp, 2.7 on: major<<56 | minor<<48 | patch<<40 |
// tag), and torch/version.py beside the mapped library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/target/target.h"
#include "common/torch/layout.h"

namespace aotidbg {

struct Libtorch {
  const Module* cpu = nullptr;  // libtorch_cpu.so; null when the process has none
  const Module* c10 = nullptr;  // libc10.so
  std::string version;          // "2.13.0"; empty when nothing tells
  const Layout* layout = nullptr;
  bool assumed = false;  // no table for this version: the nearest one is tried
  std::vector<std::string> evidence;

  // First words of objects: address points of vtables (symbol + two words, Itanium C++ ABI).
  std::vector<Address> tensor_vtables;   // c10::TensorImpl, in every module that defines it
  std::vector<Address> storage_vtables;  // c10::StorageImpl
  std::vector<Address> runner_vtables;   // torch::inductor::AOTIModelContainerRunner{Cpu,Cuda,...}
};

// Never fails: what is not there is absent, and `evidence` says what was looked for.
Libtorch recognise_libtorch(Target& target);

// The parsed table for exactly this version, or null. Parsed once for the life of this program.
const Layout* layout_for(std::string_view torch_version);

// The newest table that there is.
const Layout* newest_layout();

// The address point of a vtable, by the class's mangled name ("N3c1010TensorImplE").
std::optional<Address> vtable_of(Memory& memory, const Module& module, std::string_view mangled);

}  // namespace aotidbg
