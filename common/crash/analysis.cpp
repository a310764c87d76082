// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "common/crash/examine.h"
#include "common/crash/kernel_name.h"
#include "common/crash/report_parts.h"
#include "common/crash/rules/rules.h"
#include "common/crash/tensor_values.h"
#include "common/crash/value_memory.h"

namespace aotidbg {

struct Analysis::State {
  Target& target;
  AnalysisOptions options;
  StackNamer namer;
  std::optional<Crash> examined;

  State(Target& process, AnalysisOptions wanted)
      : target(process), options(std::move(wanted)), namer(process) {}

  Crash& crash() {
    if (!examined) examined = examine(target, options, namer);
    return *examined;
  }

  std::vector<ModelReport> model_reports();
  ModelReport model_report(const Container& container);
  std::vector<ThreadReport> thread_reports();
};

ModelReport Analysis::State::model_report(const Container& container) {
  Crash& found = crash();
  ModelReport report = report_model(found.libtorch, container);
  const auto add = [&](const std::vector<Constant>& constants, int buffer) {
    for (const Constant& constant : constants) {
      report.constants.push_back(report_constant(target, container, constant, buffer));
    }
  };
  const auto read_and_add = [&](int buffer) {
    const auto constants = read_constants(target, found.libtorch, container, buffer);
    if (constants) return add(*constants, buffer);
    found.unknowns.push_back({"constants of " + container.wrapper->module->name(),
                              constants.error().what, constants.error().fix});
  };
  // Those of the running model were read when its call was.
  const bool is_running = found.container && container.at == found.container->at;
  if (is_running) {
    add(found.constants, container.active_buffer);
  } else {
    read_and_add(container.active_buffer);
  }
  if (options.inactive) read_and_add(1 - container.active_buffer);
  return report;
}

std::vector<ModelReport> Analysis::State::model_reports() {
  Crash& found = crash();
  std::vector<ModelReport> reports;
  if (found.container) {
    ModelReport& report = reports.emplace_back(model_report(*found.container));
    report.found_by = "stack";
    if (found.model) report.running_model = found.container->models[*found.model].at;
  }
  for (const Container& other : found.others) {
    if (found.container && other.at == found.container->at) {
      if (!reports.front().runner && other.runner != 0) reports.front().runner = other.runner;
      continue;
    }
    reports.emplace_back(model_report(other)).found_by = "scan";
  }
  return reports;
}

std::vector<ThreadReport> Analysis::State::thread_reports() {
  Crash& found = crash();
  std::vector<ThreadReport> reports;
  if (found.stop.thread == nullptr) return reports;
  reports.push_back(report_thread(found.stack, found.stop.is_fault() ? "faulting"
                                               : found.call          ? "runner"
                                                                     : "other"));
  if (found.waiting) reports.push_back(report_thread(*found.waiting, "waiting"));
  for (const Thread& thread : target.threads()) {
    const bool is_reported =
        thread.id == found.stack.thread || (found.waiting && thread.id == found.waiting->thread);
    if (is_reported || target.interrupted()) continue;
    const bool may_matter = may_be_inside(target, thread, found.wrappers);
    if (!may_matter && !options.all_threads) continue;
    NamedStack stack = namer.unwind(thread.id, thread.registers);
    namer.name(stack, [&](const Module& module) {
      return options.all_threads || wrapper_at(found.wrappers, module.start) != nullptr;
    });
    const bool runs = find_run_impl(stack, found.wrappers).has_value();
    const bool works = find_kernel(stack, found.wrappers).has_value();
    if (!runs && !works && !options.all_threads) continue;
    namer.name(stack, [](const Module&) { return true; });
    reports.push_back(report_thread(stack, runs ? "runner" : works ? "worker" : "other"));
  }
  return reports;
}

Analysis::Analysis(Target& target, AnalysisOptions options)
    : state_(std::make_unique<State>(target, std::move(options))) {}
Analysis::~Analysis() = default;

Report Analysis::report() {
  Crash& crash = state_->crash();
  Report report;
  report.target = report_target(state_->target, crash.libtorch);
  report.verdict = judge(state_->target, crash);
  if (crash.stop.thread != nullptr) report.fault = report_fault(crash);
  if (crash.kernel) report.kernel = report_kernel(crash);
  report.inputs = report_inputs(state_->target, crash);
  report.models = state_->model_reports();
  report.threads = state_->thread_reports();
  report.unknowns = report_unknowns(state_->target, crash);
  if (state_->target.interrupted()) {
    report.unknowns.push_back({"all that had not been read yet", "you interrupted the command",
                               "ask again, and let it finish"});
  }
  return report;
}

std::vector<ModelReport> Analysis::models() {
  Crash& crash = state_->crash();
  scan_for_models(state_->target, state_->options, crash);
  return state_->model_reports();
}

Result<TensorValues> Analysis::tensor(const std::string& name_or_address,
                                      std::optional<Address> evaluated, std::size_t values) {
  Crash& crash = state_->crash();
  for (const KnownTensor& known : crash.known) {
    if (known.name != name_or_address && (known.fqn.empty() || known.fqn != name_or_address)) {
      continue;
    }
    if (!known.tensor) {
      return fail(
          fmt::format("{} has no tensor: its handle is null or does not decode", name_or_address));
    }
    TensorValues result = read_values(state_->target, *known.tensor, values);
    result.name = report_name(known);
    return result;
  }
  if (!evaluated && name_or_address.starts_with("0x")) {
    Address at = 0;
    const char* const end = name_or_address.data() + name_or_address.size();
    const auto parsed = std::from_chars(name_or_address.data() + 2, end, at, 16);
    if (parsed.ec == std::errc() && parsed.ptr == end) evaluated = at;
  }
  if (!evaluated) {
    return fail(fmt::format("no constant, input or live buffer of the running model is called {}",
                            name_or_address),
                std::nullopt, "`aoti constants` and `aoti inputs` list the names");
  }
  // An address may be that of a TensorImpl, or of an at::Tensor, which a handle points to.
  auto tensor = read_tensor_impl(state_->target, crash.libtorch, *evaluated);
  if (!tensor) tensor = read_tensor_handle(state_->target, crash.libtorch, *evaluated);
  if (!tensor) {
    // Nor either: then it may point at the values of one of the tensors of the call.
    const auto holds = [&](const KnownTensor& known) {
      return known.tensor && known.data <= *evaluated && *evaluated < known.end();
    };
    const auto known = std::ranges::find_if(crash.known, holds);
    if (known != crash.known.end()) {
      TensorValues result = read_values(state_->target, *known->tensor, values);
      result.name = report_name(*known);
      return result;
    }
    return fail(
        "neither a TensorImpl nor an at::Tensor nor values of a known tensor are at this address",
        evaluated, "give the address of a tensor, an AtenTensorHandle, a TensorImpl or its data");
  }
  TensorValues result = read_values(state_->target, *tensor, values);
  for (const KnownTensor& known : crash.known) {
    if (known.tensor && known.tensor->impl == tensor->impl) result.name = report_name(known);
  }
  return result;
}

ValueMemory Analysis::value_memory(std::size_t first) {
  return find_value_memory(state_->target, state_->crash(), first);
}

std::vector<KernelReport> Analysis::kernels() {
  Crash& crash = state_->crash();
  std::vector<KernelReport> reports;
  std::set<std::string, std::less<>> seen;
  if (crash.kernel) {
    reports.push_back(report_kernel(crash));
    seen.insert(crash.kernel->name);
  }
  for (const Wrapper& wrapper : crash.wrappers) {
    const bool is_other = crash.call && crash.call->wrapper != &wrapper;
    if (is_other) continue;
    // torch/_inductor/codegen/cpp.py and triton.py: kernels are called cpp_... and triton_...
    for (const std::string_view prefix : {"cpp_", "triton_"}) {
      for (const Symbol& symbol : symbols_with_prefix(state_->target, *wrapper.module, prefix)) {
        const std::string_view name = kernel_of_symbol(symbol.name);
        if (!seen.emplace(name).second) continue;
        KernelReport report;
        report.name = name;
        report.kind = prefix == "cpp_" ? "cpp" : "triton";
        report.device = prefix == "cpp_" ? "cpu" : "cuda";
        report.address = symbol.address;
        report.size = symbol.size;
        reports.push_back(std::move(report));
      }
    }
  }
  return reports;
}

}  // namespace aotidbg
