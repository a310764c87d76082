// SPDX-License-Identifier: BSD-3-Clause
//
// Ways to look at a fixture: loaded into this process, which is then examined as any other, or laid
// out in a FakeTarget as the loader would, before it relocates anything.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "common/arch/x86_64.h"
#include "common/target/elf_image.h"
#include "common/target/live_process.h"
#include "tests/support/fake_target.h"

namespace aotidbg {

inline std::unique_ptr<Target> examine_this_process() {
  auto target = open_live_process(getpid(), {}, {});
  if (!target) {
    ADD_FAILURE() << target.error().what;
    return nullptr;
  }
  return std::move(*target);
}

inline const Module* module_named(const Target& target, std::string_view part) {
  for (const Module& module : target.modules()) {
    if (module.path.find(part) != std::string::npos) return &module;
  }
  return nullptr;
}

// Loads a fixture for the rest of the test program.
inline void* load(const char* path) {
  void* handle = dlopen(path, RTLD_NOW);
  if (handle == nullptr) ADD_FAILURE() << dlerror();
  return handle;
}

template <class Function>
Function* function_in(const char* path, const char* name) {
  return reinterpret_cast<Function*>(dlsym(load(path), name));
}

inline Registers registers_of(const ucontext_t& context) {
  const auto& general = context.uc_mcontext.gregs;
  Registers registers;
  const auto set = [&](const char* name, int index) {
    registers.set(*register_slot(name), static_cast<std::uint64_t>(general[index]));
  };
  set("rip", REG_RIP), set("rsp", REG_RSP), set("rbp", REG_RBP), set("rbx", REG_RBX);
  set("r12", REG_R12), set("r13", REG_R13), set("r14", REG_R14), set("r15", REG_R15);
  return registers;
}

// The PT_LOAD segments of a file at `bias`, each as one region that can be poked, without a file at
// hand: what a test changes is all that there is.
inline Module& map_file(FakeTarget& target, const std::string& path, Address bias) {
  auto file = ModuleFile::open(path);
  EXPECT_TRUE(file.has_value());
  auto image = read_elf_image(
      [&](std::uint64_t offset, std::span<std::byte> out) { return (*file)->read(offset, out); });
  EXPECT_TRUE(image.has_value());
  for (const ElfSegment& segment : image->segments) {
    if (segment.type != PT_LOAD) continue;
    std::vector<std::byte> bytes(segment.memory_size);
    EXPECT_TRUE((*file)->read(segment.offset, std::span(bytes).first(segment.file_size)));
    const std::string permissions = {'r', (segment.flags & PF_W) != 0 ? 'w' : '-',
                                     (segment.flags & PF_X) != 0 ? 'x' : '-'};
    target.map_bytes(bias + segment.address, bytes, permissions, path);
  }
  Module module;
  module.path = path;
  module.bias = bias;
  module.start = bias + image->lowest();
  module.end = bias + image->highest();
  return target.add_module(std::move(module));
}

// Where the dynamic section points with one of its tags, as an address in the target.
inline Address dynamic_pointer(FakeTarget& target, const Module& module, Elf64_Sxword tag) {
  auto image = read_elf_image([&](std::uint64_t offset, std::span<std::byte> out) {
    return target.read(module.start + offset, out);
  });
  for (const ElfSegment& segment : image->segments) {
    if (segment.type != PT_DYNAMIC) continue;
    for (Address at = module.bias + segment.address;; at += sizeof(Elf64_Dyn)) {
      const auto entry = target.read_value<Elf64_Dyn>(at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == tag) return module.bias + entry->d_un.d_ptr;
    }
  }
  ADD_FAILURE() << "no dynamic tag " << tag;
  return 0;
}

}  // namespace aotidbg
