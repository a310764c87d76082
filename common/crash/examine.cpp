// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/crash/kernel_name.h"
#include "common/crash/stack_words.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kScanBudget = 32ULL << 30;  // bytes of memory looked at in one search
constexpr std::uint64_t kQuickScan = 256ULL << 20;  // so little is always searched: some 50 ms

std::uint64_t writable_bytes(const Target& target) {
  std::uint64_t bytes = 0;
  for (const Region& region : target.regions()) {
    if (region.readable && region.writable) bytes += std::min(region.dumped, region.size());
  }
  return bytes;
}

const auto kEveryModule = [](const Module&) { return true; };

auto wrappers_and_libtorch(const Crash& crash) {
  return [&crash](const Module& module) {
    return &module == crash.libtorch.cpu || wrapper_at(crash.wrappers, module.start) != nullptr;
  };
}

// A worker's kernel is called from the thread that waits inside the same kernel of the same
// wrapper.
void join_waiting_thread(Target& target, StackNamer& namer, Crash& crash) {
  const Module* const kernel_module = crash.stack.frames[crash.kernel->frame].module;
  for (const Thread& thread : target.threads()) {
    if (thread.id == crash.stack.thread || target.interrupted()) continue;
    if (!may_be_inside(target, thread, crash.wrappers)) continue;
    NamedStack stack = namer.unwind(thread.id, thread.registers);
    namer.name(stack, wrappers_and_libtorch(crash));
    auto call = call_on(stack, crash.wrappers);
    if (!call || call->wrapper->module != kernel_module) continue;
    const auto kernel = find_kernel(stack, crash.wrappers);
    if (!kernel || kernel->name != crash.kernel->name) continue;
    call->joined = true;
    call->kernel = kernel->frame;
    crash.call = call;
    namer.name(stack, kEveryModule);
    crash.waiting = std::move(stack);
    return;
  }
  crash.unknowns.push_back({"the model call that this worker thread belongs to",
                            "no thread waits inside " + crash.kernel->name, ""});
}

void find_the_call(Target& target, StackNamer& namer, Crash& crash) {
  if (crash.stop.thread == nullptr) return;
  crash.stack = namer.unwind(crash.stop.thread->id, crash.stop.registers);
  namer.name(crash.stack, kEveryModule);
  crash.kernel = find_kernel(crash.stack, crash.wrappers);
  crash.call = call_on(crash.stack, crash.wrappers);
  if (!crash.call && crash.kernel) join_waiting_thread(target, namer, crash);
}

void read_the_model(Target& target, Crash& crash) {
  auto container = container_of(target, crash.wrappers, *crash.call, crash.call_stack());
  if (!container) {
    crash.container_problem = container.error().what;
    crash.unknowns.push_back(
        {"the model that was running", container.error().what, container.error().fix});
    return;
  }
  crash.container = std::move(*container);
  crash.model = model_of(target, *crash.container, *crash.call, crash.call_stack());
  auto constants =
      read_constants(target, crash.libtorch, *crash.container, crash.container->active_buffer);
  if (constants) {
    crash.constants = std::move(*constants);
  } else {
    crash.unknowns.push_back(
        {"the model's constants", constants.error().what, constants.error().fix});
  }
  crash.tensors =
      find_call_tensors(target, crash.libtorch, *crash.container, *crash.call, crash.call_stack());
  crash.known = known_tensors(crash.constants, crash.tensors);
}

// What the kernel holds: registers at the fault, and the stack from there up to the generated code
// that called it, on both threads of an OpenMP region.
void collect_kernel_words(Target& target, Crash& crash) {
  const auto collect = [&](const NamedStack& stack, std::size_t first, std::size_t last) {
    if (last >= stack.frames.size()) return;
    const auto start = stack.frames[first].frame.stack_pointer;
    const auto end = stack.frames[last].stack_end;
    if (!start || !end) return;
    visit_stack_words(target, *start, *end,
                      [&](Address, std::uint64_t word) { crash.kernel_words.insert(word); });
  };
  for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
    if (const auto value = crash.stop.registers.get(slot)) crash.kernel_words.insert(*value);
  }
  if (crash.kernel) collect(crash.stack, 0, crash.kernel->frame);
  if (crash.waiting && crash.call->kernel) {
    collect(*crash.waiting, *crash.call->kernel, *crash.call->kernel);
  }
}

// A null base has no owner that its address could tell. The constants without data are what it may
// be.
void find_null_owner(Crash& crash) {
  for (const KnownTensor& tensor : crash.known) {
    const bool is_missing = tensor.kind == KnownTensor::Kind::constant && tensor.position &&
                            crash.constants[*tensor.position].is_missing();
    if (is_missing) crash.null_constants.push_back(&tensor);
  }
  if (crash.null_constants.size() != 1) return;
  crash.owner = Owner{};
  crash.owner->tensor = crash.null_constants.front();
  crash.owner->relation = Owner::Relation::null;
  crash.owner->basis = Owner::Basis::argument;
  crash.owner->evidence = "it is the only constant without data";
}

void find_the_owner(Target& target, Crash& crash) {
  if (crash.has_null_base()) return find_null_owner(crash);
  collect_kernel_words(target, crash);
  crash.owner = find_owner(crash.fault, crash.known, crash.kernel_words);
  const auto address = crash.fault.operand && crash.fault.operand->address
                           ? crash.fault.operand->address
                           : crash.fault.address;
  if (!address) return;
  if (crash.owner && crash.owner->relation == Owner::Relation::inside) return;
  // The tensor that the base register points to is asked first, and alone when that is all there is
  // to know. Otherwise an index that leads exactly to the address decides which of the kernel's
  // tensors was left.
  const bool has_base = crash.owner && crash.owner->basis == Owner::Basis::base_register;
  if (has_base) {
    const KnownTensor* const owner = crash.owner->tensor;
    crash.index = search_index(target, std::span(&owner, 1), crash.known, *address);
  }
  if (!crash.index.match && !(crash.owner && crash.owner->is_exact())) {
    std::vector<const KnownTensor*> owners;
    for (const KnownTensor& tensor : crash.known) {
      if (crash.kernel_words.contains(tensor.data)) owners.push_back(&tensor);
    }
    crash.index = search_index(target, owners, crash.known, *address);
  }
  const auto& match = crash.index.match;
  if (!match) return;
  if (!crash.owner || crash.owner->tensor != match->owner) {
    crash.owner = place_in(*match->owner, *address);
    crash.owner->basis = Owner::Basis::argument;
    crash.owner->evidence = "an index of an input leads from this tensor exactly to the address";
  }
  crash.owner->index = match->element;
}

const std::vector<Runner>& runners_in_memory(Target& target, const AnalysisOptions& options,
                                             Crash& crash) {
  if (crash.runners) return *crash.runners;
  const ScanResult scan = scan_for_words(
      target, crash.libtorch.runner_vtables, kScanBudget,
      [&](std::uint64_t done, std::uint64_t of) {
        if (!options.progress) return;
        options.progress(fmt::format("searched {} of {} MiB of memory for AOTInductor models",
                                     done >> 20, of >> 20));
      });
  if (!scan.complete) {
    crash.unknowns.push_back(
        {"models in memory that was not searched",
         fmt::format("the search was interrupted or reached its limit after {} MiB",
                     scan.bytes >> 20),
         "run `aoti models` again and let it finish"});
  }
  auto& runners = crash.runners.emplace();
  for (const Address hit : scan.hits) {
    if (const auto runner = read_runner(target, crash.libtorch, hit)) runners.push_back(*runner);
  }
  return runners;
}

// A module that cannot be searched for symbols: neither its file nor its pages are at hand.
bool is_unreadable(const Target& target, const Module& module) {
  const bool is_file = module.path.starts_with('/');
  const ProcessInfo& process = target.process();
  const bool is_live = process.saved_from.value_or(process.kind) == TargetKind::live;
  return is_file && !module.has_file() && !is_live;
}

std::size_t count_unread_modules(const Target& target, const Crash& crash) {
  const auto modules = target.modules();
  return static_cast<std::size_t>(
      std::count_if(modules.begin(), modules.end(), [&](const Module& module) {
        return is_unreadable(target, module) && wrapper_at(crash.wrappers, module.start) == nullptr;
      }));
}

// libz.so.1.2.13: the compiler gives a wrapper no version, systems give their libraries one and
// replace them between a crash and the day that somebody looks.
bool has_version(const Module& module) { return module.name().find(".so.") != std::string::npos; }

// Wrappers whose file is gone are known by the runners that call into them alone.
void infer_wrappers(Target& target, const AnalysisOptions& options, Crash& crash) {
  const auto modules = target.modules();
  const bool any_unreadable = std::any_of(
      modules.begin(), modules.end(),
      [&](const Module& module) { return is_unreadable(target, module) && !has_version(module); });
  if (!any_unreadable) return;
  for (const Runner& runner : runners_in_memory(target, options, crash)) {
    const Module* module = target.module_at(runner.run);
    if (module == nullptr || !is_unreadable(target, *module)) continue;
    if (wrapper_at(crash.wrappers, runner.run) != nullptr) continue;
    crash.wrappers.push_back(infer_wrapper(*module, runner.run, crash.libtorch.layout));
  }
}

}  // namespace

void scan_for_models(Target& target, const AnalysisOptions& options, Crash& crash) {
  if (std::exchange(crash.was_scanned, true)) return;
  for (const Runner& runner : runners_in_memory(target, options, crash)) {
    if (wrapper_at(crash.wrappers, runner.run) == nullptr) continue;
    auto container = read_container(target, crash.wrappers, runner.container);
    if (!container) continue;
    container->runner = runner.at;
    const bool is_known =
        std::any_of(crash.others.begin(), crash.others.end(),
                    [&](const Container& other) { return other.at == container->at; });
    if (!is_known) crash.others.push_back(std::move(*container));
  }
}

Crash examine(Target& target, const AnalysisOptions& options, StackNamer& namer) {
  Crash crash;
  crash.libtorch = recognise_libtorch(target);
  crash.wrappers = find_wrappers(target, crash.libtorch.layout);
  infer_wrappers(target, options, crash);
  crash.unread_modules = count_unread_modules(target, crash);
  crash.stop = find_stop(target, options.thread);
  crash.fault = find_fault(target, crash.stop);
  find_the_call(target, namer, crash);
  if (crash.call) {
    read_the_model(target, crash);
    find_the_owner(target, crash);
  }
  const bool is_quick = writable_bytes(target) <= kQuickScan;
  if (options.scan || (!target.is_slow() && (!crash.container || is_quick))) {
    scan_for_models(target, options, crash);
  } else {
    crash.unknowns.push_back(
        {"other models in this process",
         target.is_slow() ? "only the stack was searched, for reading through a connection is slow"
                          : "only the stack was searched, for memory is large",
         "`aoti models` searches all of it"});
  }
  return crash;
}

}  // namespace aotidbg
