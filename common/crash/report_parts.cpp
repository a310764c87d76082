// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/report_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/crash/kernel_name.h"
#include "common/torch/residency.h"

namespace aotidbg {
namespace {

template <class T>
std::optional<T> unless_empty(T value) {
  return value.empty() ? std::nullopt : std::optional<T>(std::move(value));
}

std::optional<std::uint64_t> unless_zero(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

constexpr std::int64_t kCpu = 0;  // c10::DeviceType::CPU

Residency residency_of(const Place& place) {
  switch (place.kind) {
    case Place::Kind::host:
      return Residency::host;
    case Place::Kind::file:
      return Residency::file;
    case Place::Kind::null:
      return Residency::null;
    case Place::Kind::unmapped:
      return Residency::unmapped;
    case Place::Kind::guard:
      // Without access: a guard, freed memory, or a device's own; nothing here tells which.
      return Residency::unknown;
  }
  return Residency::unknown;
}

// What a tensor on the CPU can only mean: memory without access is memory that is gone.
Residency residency_of(const Place& place, std::int64_t device_type) {
  if (place.kind == Place::Kind::guard && device_type == kCpu) return Residency::unmapped;
  return residency_of(place);
}

std::string access_word(const Fault& fault) {
  if (fault.executes) return "execute";
  switch (fault.operand->access) {
    case Access::read:
      return "read";
    case Access::write:
      return "write";
    case Access::read_write:
      return "read_write";
    case Access::execute:
      return "execute";
    case Access::unknown:
      break;
  }
  return {};
}

std::string operand_words(const MemoryOperand& operand) {
  std::string words;
  const auto add = [&](const std::string& name, const std::optional<std::uint64_t>& value) {
    if (name.empty()) return;
    if (!words.empty()) words += ", ";
    words += value ? fmt::format("{} = {:#x}", name, *value) : fmt::format("{} unknown", name);
  };
  add(operand.base_register, operand.base);
  add(operand.index_register, operand.index);
  return words;
}

std::string relation_word(Owner::Relation relation) {
  switch (relation) {
    case Owner::Relation::inside:
      return "inside";
    case Owner::Relation::past_end:
      return "past_end";
    case Owner::Relation::before_start:
      return "before_start";
    case Owner::Relation::null:
      return "null";
  }
  return {};
}

std::string how_word(FrameHow how) {
  switch (how) {
    case FrameHow::registers:
      return "registers";
    case FrameHow::cfi:
      return "cfi";
    case FrameHow::frame_pointer:
      return "frame_pointer";
    case FrameHow::scan:
      return "scan";
  }
  return {};
}

std::optional<SourceLocation> location_in(const NamedFrame& frame) {
  // The last source is the function itself; those before it are inlined into it.
  if (frame.sources.empty() || frame.sources.back().line == 0) return std::nullopt;
  return SourceLocation{file_name(frame.sources.back().file), frame.sources.back().line};
}

std::string state_of(const Target& target, const Constant& constant, bool inactive) {
  if (constant.is_missing()) return inactive ? "inactive" : "missing";
  const bool on_cpu = !constant.tensor || constant.tensor->device_type == kCpu;
  const bool handle_is_gone = !constant.tensor && !constant.problem.empty();
  const bool data_is_gone =
      constant.bytes != 0 && on_cpu && !is_readable(target, constant.data, constant.bytes);
  if (handle_is_gone || data_is_gone) return "dangling";
  if (inactive) return "inactive";
  return constant.from_folded ? "folded" : "ready";
}

const char* kernel_kind(RunningKernel::Kind kind) {
  switch (kind) {
    case RunningKernel::Kind::cpp:
      return "cpp";
    case RunningKernel::Kind::extern_op:
      return "extern";
    case RunningKernel::Kind::unknown:
      break;
  }
  return "unknown";
}

}  // namespace

TargetReport report_target(const Target& target, const Libtorch& libtorch) {
  TargetReport report;
  const ProcessInfo& process = target.process();
  report.kind = process.kind == TargetKind::live   ? "live"
                : process.kind == TargetKind::core ? "core"
                                                   : "snapshot";
  report.executable = unless_empty(file_name(process.executable));
  if (process.pid != 0) report.pid = process.pid;
  for (const std::string& file : process.files) report.files.push_back(file_name(file));
  report.libtorch.version = unless_empty(libtorch.version);
  if (libtorch.layout != nullptr) report.libtorch.layout = libtorch.layout->torch_version();
  report.libtorch.how = libtorch.layout == nullptr ? How::absent
                        : libtorch.assumed         ? How::assumed
                                                   : How::found;
  report.libtorch.evidence = libtorch.evidence;
  return report;
}

TensorName report_name(const KnownTensor& tensor) {
  TensorName name;
  name.kind = tensor.kind == KnownTensor::Kind::constant ? "constant"
              : tensor.kind == KnownTensor::Kind::input  ? "input"
                                                         : "buffer";
  name.name = tensor.name;
  name.fqn = unless_empty(tensor.fqn);
  return name;
}

FaultReport report_fault(const Crash& crash) {
  FaultReport report;
  if (crash.stop.signal) {
    report.signal = signal_name(crash.stop.signal->number);
    if (crash.stop.signal->code) {
      report.code = signal_code_name(crash.stop.signal->number, crash.stop.signal->code);
    }
  }
  report.address = crash.fault.address;
  report.pc = program_counter(crash.stop.registers);
  if (crash.stop.thread != nullptr) report.thread = crash.stop.thread->id;
  if (crash.fault.instruction) report.instruction = crash.fault.instruction->text;
  if (crash.fault.operand) {
    report.operand = unless_empty(operand_words(*crash.fault.operand));
    report.access = unless_empty(access_word(crash.fault));
  } else if (crash.fault.executes) {
    report.access = "execute";
  }
  if (crash.owner) {
    OwnerReport owner;
    owner.tensor = report_name(*crash.owner->tensor);
    owner.relation = relation_word(crash.owner->relation);
    if (crash.owner->relation != Owner::Relation::null) owner.bytes = crash.owner->bytes;
    owner.index = crash.owner->index;
    report.owner = std::move(owner);
  } else if (!crash.null_constants.empty()) {
    OwnerReport owner;
    owner.tensor.kind = "constant";
    owner.relation = relation_word(Owner::Relation::null);
    for (const KnownTensor* tensor : crash.null_constants) {
      owner.candidates.push_back(tensor->fqn.empty() ? tensor->name : tensor->fqn);
    }
    report.owner = std::move(owner);
  }
  return report;
}

KernelReport report_kernel(const Crash& crash) {
  KernelReport report;
  report.name = crash.kernel->name;
  report.kind = kernel_kind(crash.kernel->kind);
  report.device = "cpu";  // code that a host's thread was in
  report.faulting = crash.stop.is_fault();
  if (crash.kernel->kind == RunningKernel::Kind::cpp) {
    // The innermost frame of the kernel's own code: an OpenMP body runs below the kernel itself.
    for (std::size_t i = 0; i <= crash.kernel->frame; ++i) {
      const NamedFrame& frame = crash.stack.frames[i];
      if (!frame.symbol || kernel_of_symbol(frame.symbol->name) != crash.kernel->name) continue;
      report.location = location_in(frame);
      report.address = frame.symbol->address;
      report.size = frame.symbol->size;
      break;
    }
  }
  if (crash.call && crash.call->run_impl) {
    report.call_site = location_in(crash.call_stack().frames[*crash.call->run_impl]);
  }
  return report;
}

TensorReport report_tensor(const Target& target, const Tensor& tensor) {
  TensorReport report;
  report.dtype = unless_empty(tensor.dtype);
  report.shape = tensor.sizes;
  report.stride = tensor.strides;
  report.storage_bytes = tensor.storage_bytes;
  report.storage_offset = tensor.storage_offset;
  report.device = tensor.device;
  report.data = tensor.data();
  report.address = tensor.impl;
  const Place place = place_of(target, tensor.data());
  report.residency = residency_of(place, tensor.device_type);
  report.where = place.where;
  return report;
}

std::vector<InputReport> report_inputs(const Target& target, const Crash& crash) {
  std::vector<InputReport> inputs;
  for (std::size_t i = 0; i < crash.tensors.inputs.size(); ++i) {
    const CallInput& input = crash.tensors.inputs[i];
    InputReport report;
    report.name = input.name;
    report.position = static_cast<int>(i);
    if (input.tensor) {
      report.actual = report_tensor(target, *input.tensor);
      report.found_by = input.found_by;
    }
    inputs.push_back(std::move(report));
  }
  return inputs;
}

ConstantReport report_constant(const Target& target, const Container& container,
                               const Constant& constant, int buffer) {
  const Layout& layout = *container.wrapper->layout;
  ConstantReport report;
  report.name = constant.name;
  report.fqn = unless_empty(constant.fqn);
  report.dtype = unless_empty(constant.dtype);
  report.shape = constant.shape;
  report.stride = constant.stride;
  report.bytes = constant.bytes;
  if (constant.device_type >= 0) {
    report.declared_device = device_name(layout, constant.device_type, -1);
  }
  report.handle = unless_zero(constant.handle);
  report.data = unless_zero(constant.data);
  report.kind = unless_empty(constant.kind);
  const Place place = place_of(target, constant.data);
  report.residency =
      residency_of(place, constant.tensor ? constant.tensor->device_type : constant.device_type);
  report.where = place.where;
  report.state = state_of(target, constant, buffer != container.active_buffer);
  if (!constant.tensor) {
    if (!constant.problem.empty()) report.mismatches.push_back(constant.problem);
    return report;
  }
  const Tensor& tensor = *constant.tensor;
  const auto differs = [&](std::string_view what, const auto& declared, const auto& actual) {
    report.mismatches.push_back(
        fmt::format("{}: declared {}, the tensor has {}", what, declared, actual));
  };
  if (tensor.dtype != constant.dtype) differs("dtype", constant.dtype, tensor.dtype);
  if (tensor.sizes != constant.shape) {
    differs("shape", fmt::format("[{}]", fmt::join(constant.shape, ", ")),
            fmt::format("[{}]", fmt::join(tensor.sizes, ", ")));
  }
  if (tensor.strides != constant.stride) {
    differs("stride", fmt::format("[{}]", fmt::join(constant.stride, ", ")),
            fmt::format("[{}]", fmt::join(tensor.strides, ", ")));
  }
  return report;
}

ModelReport report_model(const Libtorch& libtorch, const Container& container) {
  ModelReport report;
  const Layout& layout = *container.wrapper->layout;
  report.container = container.at;
  report.runner = unless_zero(container.runner);
  report.wrapper = container.wrapper->module->name();
  report.build_id = unless_empty(container.wrapper->module->build_id);
  report.compiled_for = unless_empty(container.wrapper->compiled_for);
  const Model& first = container.models.front();
  report.loaded_on = device_name(libtorch.layout != nullptr ? *libtorch.layout : layout,
                                 first.device_type, first.device_index);
  report.layout = layout.torch_version();
  report.layout_how = container.wrapper->assumed ? How::assumed : How::found;
  report.evidence = container.wrapper->evidence;
  report.evidence.insert(report.evidence.end(), container.evidence.begin(),
                         container.evidence.end());
  report.pool = PoolReport{container.models.size(), container.count(Model::Use::running),
                           container.count(Model::Use::idle), container.count(Model::Use::pending)};
  const auto active = static_cast<std::size_t>(container.active_buffer);
  report.constant_buffer = ConstantBufferReport{
      container.active_buffer, container.buffers[active].fold_state, container.blob_bytes};
  report.inputs = container.input_names;
  report.outputs = container.output_names;
  return report;
}

ThreadReport report_thread(const NamedStack& stack, std::string role) {
  ThreadReport report;
  report.id = stack.thread;
  report.role = std::move(role);
  report.stopped = unless_empty(stack.stopped);
  for (const NamedFrame& named : stack.frames) {
    FrameReport frame;
    frame.pc = named.frame.pc;
    frame.how = how_word(named.frame.how);
    if (named.module != nullptr) frame.module = named.module->name();
    if (named.symbol) frame.function = demangle(named.symbol->name, true);
    if (named.sources.empty()) report.frames.push_back(frame);
    for (const SourceFrame& source : named.sources) {
      FrameReport part = frame;
      if (!source.function.empty()) part.function = source.function;
      part.file = unless_empty(file_name(source.file));
      if (source.line != 0) part.line = source.line;
      part.inlined = source.inlined;
      report.frames.push_back(std::move(part));
    }
  }
  return report;
}

std::vector<Unknown> report_unknowns(const Target& target, const Crash& crash) {
  std::vector<Unknown> unknowns = crash.unknowns;
  for (const Error& gap : target.gaps()) {
    unknowns.push_back({"part of the target", gap.what, gap.fix});
  }
  const auto is_on_stack = [&](const Module& module) {
    return std::any_of(crash.stack.frames.begin(), crash.stack.frames.end(),
                       [&](const NamedFrame& frame) { return frame.module == &module; });
  };
  for (const Module& module : target.modules()) {
    const bool matters = is_on_stack(module) || &module == crash.libtorch.cpu ||
                         wrapper_at(crash.wrappers, module.start) != nullptr;
    if (!matters || module.file_problem.empty()) continue;
    unknowns.push_back({fmt::format("the file of {}", module.name()), module.file_problem,
                        module.build_id.empty()
                            ? std::string()
                            : fmt::format("put the file with build id {} back at {}",
                                          module.build_id, module.path)});
  }
  if (!crash.fault.problem.empty()) {
    unknowns.push_back({"the faulting instruction", crash.fault.problem, ""});
  }
  for (const CallInput& input : crash.tensors.inputs) {
    if (!input.tensor) unknowns.push_back({"input " + input.name, input.problem, ""});
  }
  if (crash.index.partial) {
    unknowns.push_back({"whether another input holds the index",
                        "an input was too long to search, or its values are not in the target",
                        ""});
  }
  if (crash.kernel) {
    unknowns.push_back({"kernel arguments, source nodes and expected inputs",
                        "they are in the package's generated source, which is not read yet",
                        "open the line named as call site in the package's wrapper.cpp"});
  }
  return unknowns;
}

}  // namespace aotidbg
