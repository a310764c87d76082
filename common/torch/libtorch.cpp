// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/libtorch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "common/arch/code_constants.h"
#include "common/elf/symbols.h"
#include "common/target/answers.h"

namespace aotidbg {
namespace {

constexpr std::string_view kRunnerVtables[] = {
    "N5torch8inductor27AOTIModelContainerRunnerCpuE",
    "N5torch8inductor28AOTIModelContainerRunnerCudaE",
    "N5torch8inductor27AOTIModelContainerRunnerXpuE",
    "N5torch8inductor27AOTIModelContainerRunnerMpsE",
    "N5torch8inductor24AOTIModelContainerRunnerE",
};

const Module* module_named(const Target& target, std::string_view name) {
  for (const Module& module : target.modules()) {
    if (module.name() == name) return &module;
  }
  return nullptr;
}

// aoti_torch_abi_version(): "2.13.0" out of major<<56 | minor<<48 | patch<<40 | tag.
std::optional<std::string> version_from_code(Memory& memory, const Module& libtorch_cpu) {
  const auto symbol = find_dynamic_symbol(memory, libtorch_cpu, "aoti_torch_abi_version");
  if (!symbol || !*symbol) return std::nullopt;
  const auto value = returned_constant(memory, (*symbol)->address);
  if (!value) return std::nullopt;
  const auto byte = [&](unsigned shift) { return (*value >> shift) & 0xff; };
  return fmt::format("{}.{}.{}", byte(56), byte(48), byte(40));
}

// The value of `__version__ = '2.13.0+cpu'` in torch/version.py, two folders above the library.
std::optional<std::string> version_from_file(const Module& libtorch_cpu) {
  if (!libtorch_cpu.file) return std::nullopt;
  std::string folder = libtorch_cpu.file->path();
  for (int up = 0; up < 2; ++up) {
    const auto slash = folder.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    folder.resize(slash);
  }
  const auto file = ModuleFile::open(folder + "/version.py");
  if (!file) return std::nullopt;
  std::string text(std::min<std::uint64_t>((*file)->size(), 4096), '\0');
  if (!(*file)->read(0, std::as_writable_bytes(std::span(text)))) return std::nullopt;
  constexpr std::string_view kMarker = "__version__ = '";
  const auto start = text.find(kMarker);
  if (start == std::string::npos) return std::nullopt;
  const auto end = text.find('\'', start + kMarker.size());
  if (end == std::string::npos) return std::nullopt;
  return text.substr(start + kMarker.size(), end - start - kMarker.size());
}

void add_vtables(Memory& memory, const Module* module, std::string_view mangled,
                 std::vector<Address>& to) {
  if (module == nullptr) return;
  if (const auto found = vtable_of(memory, *module, mangled)) to.push_back(*found);
}

void recognise_version(Target& target, Libtorch& libtorch) {
  if (libtorch.cpu == nullptr) {
    libtorch.evidence.emplace_back("no libtorch_cpu.so is mapped");
  } else {
    if (auto of_code = version_from_code(target, *libtorch.cpu)) {
      libtorch.evidence.push_back("aoti_torch_abi_version() returns " + *of_code);
      libtorch.version = std::move(*of_code);
    }
    auto version = answered<std::optional<std::string>>(
        target, "version of torch/version.py", [&] { return version_from_file(*libtorch.cpu); });
    if (version) {
      libtorch.evidence.push_back("torch/version.py says " + *version);
      const std::string release = version->substr(0, version->find('+'));
      if (libtorch.version.empty()) libtorch.version = release;
      if (libtorch.version != release) {
        libtorch.evidence.emplace_back("these two disagree; the code in memory is believed");
      }
    }
    if (libtorch.version.empty()) {
      libtorch.evidence.emplace_back("libtorch_cpu.so tells no version");
    }
  }
  libtorch.layout = layout_for(libtorch.version);
  if (libtorch.layout == nullptr) {
    libtorch.layout = newest_layout();
    libtorch.assumed = true;
    if (libtorch.layout != nullptr) {
      libtorch.evidence.push_back(fmt::format("no layout table for it: that of {} is tried",
                                              libtorch.layout->torch_version()));
    }
  }
}

}  // namespace

const Layout* layout_for(std::string_view torch_version) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<Layout>, std::less<>> parsed;
  const EmbeddedLayout* text = find_embedded_layout(torch_version);
  if (text == nullptr) return nullptr;
  const std::scoped_lock lock(mutex);
  auto& slot = parsed[std::string(text->torch_version)];
  if (!slot) {
    auto layout = Layout::parse(text->json);
    if (!layout) return nullptr;  // the embedded texts are checked by a test
    slot = std::move(*layout);
  }
  return &*slot;
}

const Layout* newest_layout() {
  const auto all = embedded_layouts();
  return all.empty() ? nullptr : layout_for(all.back().torch_version);
}

std::optional<Address> vtable_of(Memory& memory, const Module& module, std::string_view mangled) {
  // Itanium C++ ABI 2.5.2: offset to top and typeinfo come before the address point.
  constexpr Address kAddressPoint = 2 * sizeof(Address);
  const auto symbol = find_dynamic_symbol(memory, module, fmt::format("_ZTV{}", mangled));
  if (!symbol || !*symbol) return std::nullopt;
  return (*symbol)->address + kAddressPoint;
}

Libtorch recognise_libtorch(Target& target) {
  Libtorch libtorch;
  libtorch.cpu = module_named(target, "libtorch_cpu.so");
  libtorch.c10 = module_named(target, "libc10.so");
  recognise_version(target, libtorch);
  // These classes' destructors are inline in parts, so other libraries may carry a copy.
  const Module* const python = module_named(target, "libtorch_python.so");
  const Module* const cuda = module_named(target, "libtorch_cuda.so");
  const Module* const xpu = module_named(target, "libtorch_xpu.so");
  for (const Module* module : {libtorch.c10, libtorch.cpu, python, cuda}) {
    add_vtables(target, module, "N3c1010TensorImplE", libtorch.tensor_vtables);
    add_vtables(target, module, "N3c1011StorageImplE", libtorch.storage_vtables);
  }
  for (const std::string_view runner : kRunnerVtables) {
    for (const Module* module : {libtorch.cpu, cuda, xpu}) {
      add_vtables(target, module, runner, libtorch.runner_vtables);
    }
  }
  return libtorch;
}

}  // namespace aotidbg
