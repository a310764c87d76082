// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/wrapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "common/arch/code_constants.h"
#include "common/elf/symbols.h"
#include "common/torch/libtorch.h"

namespace aotidbg {
namespace {

// The class may carry a suffix (compile_standalone, 2.9 on), so its length is not spelled here.
constexpr std::string_view kRunImplPrefix = "_ZN5torch12aot_inductor16AOTInductorModel8run_implE";
constexpr std::string_view kDeleteTensor = "_ZN5torch12aot_inductor20delete_tensor_objectEPv";

// The stream type in run_impl's mangled name tells what the package was compiled for
// (torch/csrc/inductor/aoti_runtime/device_utils.h, DeviceStreamType).
std::string device_of_stream(std::string_view mangled) {
  if (mangled.find("P11CUstream_st") != std::string_view::npos) return "cuda";
  if (mangled.find("P12ihipStream_t") != std::string_view::npos) return "cuda";  // ROCm
  if (mangled.find("sycl") != std::string_view::npos) return "xpu";
  if (mangled.find("PvP") != std::string_view::npos) return "cpu";
  return {};
}

std::optional<Symbol> exported(Memory& memory, const Module& module, std::string_view name) {
  auto symbol = find_dynamic_symbol(memory, module, name);
  // A core that lost the module's dynamic section may still have its file.
  if (!symbol) return find_file_symbol(memory, module, name);
  if (!symbol || !*symbol) return std::nullopt;
  return *symbol;
}

// The numbers that a function moves into registers; among them the size of the object that it
// creates with operator new or hands to the sized operator delete.
std::vector<std::uint64_t> sizes_in(Memory& memory, const Module& module, std::string_view name) {
  const auto symbol = exported(memory, module, name);
  if (!symbol) return {};
  return moved_immediates(memory, symbol->address, symbol->size);
}

bool contains(const std::vector<std::uint64_t>& values, std::uint64_t value) {
  return value != 0 && std::find(values.begin(), values.end(), value) != values.end();
}

// Variants of a layout that fit the device, plain ones first: weights mapped from a file are the
// exception (constants over 2 GB).
std::vector<std::string> variants_for(const Layout& layout, const std::string& device) {
  const std::string family = device == "cpu" || device == "mps" ? "cpu" : "cuda";
  std::vector<std::string> fitting;
  for (const std::string_view variant : layout.variants()) {
    if (device.empty() || variant == family || variant.starts_with(family + "_")) {
      fitting.emplace_back(variant);
    }
  }
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return fitting;
}

void recognise_layout(Memory& memory, const Layout* libtorch_layout, Wrapper& wrapper) {
  const auto container_sizes = sizes_in(memory, *wrapper.module, "AOTInductorModelContainerDelete");
  const auto model_sizes = sizes_in(memory, *wrapper.module, "AOTInductorModelDelete");
  for (const EmbeddedLayout& text : std::views::reverse(embedded_layouts())) {
    const Layout* layout = layout_for(text.torch_version);
    if (layout == nullptr) continue;
    const std::size_t size = layout->at("torch::aot_inductor::AOTInductorModelContainer").size;
    if (!contains(container_sizes, size)) continue;
    wrapper.layout = layout;
    wrapper.evidence.push_back(fmt::format(
        "AOTInductorModelContainerDelete frees {} bytes, sizeof(AOTInductorModelContainer) of {}",
        size, layout->torch_version()));
    break;
  }
  if (wrapper.layout == nullptr) {
    wrapper.layout = libtorch_layout;
    wrapper.assumed = true;
    if (libtorch_layout != nullptr) {
      wrapper.evidence.push_back(
          fmt::format("no size in its code fits a layout table: that of {} is tried",
                      libtorch_layout->torch_version()));
    }
  }
  if (wrapper.layout == nullptr) return;
  wrapper.variants = variants_for(*wrapper.layout, wrapper.compiled_for);
  std::stable_partition(
      wrapper.variants.begin(), wrapper.variants.end(), [&](const std::string& variant) {
        return contains(model_sizes,
                        wrapper.layout->at("torch::aot_inductor::AOTInductorModel", variant).size);
      });
}

Wrapper recognise_wrapper(Memory& memory, const Module& module, const Symbol& run,
                          const Layout* libtorch_layout) {
  Wrapper wrapper;
  wrapper.module = &module;
  wrapper.run = run.address;
  wrapper.run_end = run.address + run.size;
  for (const Symbol& symbol : symbols_with_prefix(memory, module, kRunImplPrefix)) {
    wrapper.compiled_for = device_of_stream(symbol.name);
    if (wrapper.compiled_for.empty()) continue;
    wrapper.evidence.push_back("run_impl's stream type is that of " + wrapper.compiled_for);
    break;
  }
  if (const auto symbol = exported(memory, module, kDeleteTensor)) {
    wrapper.delete_tensor = symbol->address;
  }
  recognise_layout(memory, libtorch_layout, wrapper);
  return wrapper;
}

}  // namespace

std::vector<Wrapper> find_wrappers(Target& target, const Layout* libtorch_layout) {
  std::vector<Wrapper> wrappers;
  for (const Module& module : target.modules()) {
    const auto run = exported(target, module, "AOTInductorModelContainerRun");
    if (run) wrappers.push_back(recognise_wrapper(target, module, *run, libtorch_layout));
  }
  return wrappers;
}

Wrapper infer_wrapper(const Module& module, Address run, const Layout* libtorch_layout) {
  Wrapper wrapper;
  wrapper.module = &module;
  wrapper.run = run;
  wrapper.run_end = run;
  wrapper.layout = libtorch_layout;
  wrapper.assumed = true;
  wrapper.nameless = true;
  wrapper.evidence.emplace_back(
      "its symbols are not at hand; a runner in memory calls into it, and its layout is assumed to "
      "be "
      "that of the running libtorch");
  if (libtorch_layout != nullptr) wrapper.variants = variants_for(*libtorch_layout, {});
  return wrapper;
}

const Wrapper* wrapper_at(std::span<const Wrapper> wrappers, Address at) {
  for (const Wrapper& wrapper : wrappers) {
    if (wrapper.module->contains(at)) return &wrapper;
  }
  return nullptr;
}

}  // namespace aotidbg
