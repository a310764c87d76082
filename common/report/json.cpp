// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/json.h"

#include <fmt/format.h>

#include "common/report/words.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kExact = 1ULL << 53;  // beyond it a double skips integers

Json exact(std::uint64_t value) {
  return value <= kExact ? Json(value) : Json(fmt::format("{}", value));
}

Json exact(std::int64_t value) {
  const std::uint64_t magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return magnitude <= kExact ? Json(value) : Json(fmt::format("{}", value));
}

Json exact(const std::optional<std::uint64_t>& value) { return value ? exact(*value) : Json(); }

Json address(const std::optional<std::uint64_t>& value) {
  return value ? Json(hex(*value)) : Json();
}

// An empty text says no more than null does, and null is what scripts test for.
Json text(const std::string& value) { return value.empty() ? Json() : Json(value); }

template <class T>
Json plain(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const SourceLocation& location) {
  return {{"file", location.file}, {"line", location.line > 0 ? Json(location.line) : Json()}};
}

Json to_json(const TensorName& name) {
  return {{"kind", text(name.kind)}, {"name", text(name.name)}, {"fqn", plain(name.fqn)}};
}

Json to_json(const OwnerReport& owner) {
  Json out = to_json(owner.tensor);
  out["relation"] = owner.relation;
  if (!owner.candidates.empty()) out["candidates"] = owner.candidates;
  out["bytes"] = exact(owner.bytes);
  out["index"] = nullptr;
  if (owner.index) {
    out["index"] = Json::array();
    for (const std::int64_t number : *owner.index) out["index"].push_back(exact(number));
  }
  return out;
}

Json to_json(const KernelArgument& argument) {
  return {{"parameter", argument.parameter},
          {"type", plain(argument.type)},
          {"value", plain(argument.value)},
          {"tensor", argument.tensor ? to_json(*argument.tensor) : Json()}};
}

// What the package promises: a dimension may be a range ("2..1024"), so all are strings.
Json expected_json(const TensorReport& tensor) {
  const auto strings = [](const std::optional<std::vector<std::int64_t>>& numbers) {
    if (!numbers) return Json();
    Json array = Json::array();
    for (const std::int64_t number : *numbers) array.push_back(fmt::format("{}", number));
    return array;
  };
  return {{"dtype", plain(tensor.dtype)},
          {"shape", strings(tensor.shape)},
          {"stride", strings(tensor.stride)},
          {"device", plain(tensor.device)}};
}

Json actual_json(const TensorReport& tensor) {
  return {{"dtype", plain(tensor.dtype)},
          {"shape", plain(tensor.shape)},
          {"stride", plain(tensor.stride)},
          {"device", plain(tensor.device)},
          {"data", address(tensor.data)},
          {"residency", word(tensor.residency)},
          {"where", plain(tensor.where)},
          {"storage_bytes", exact(tensor.storage_bytes)},
          {"storage_offset", plain(tensor.storage_offset)},
          {"address", address(tensor.address)}};
}

Json to_json(const ConstantReport& constant) {
  return {{"name", constant.name},
          {"fqn", plain(constant.fqn)},
          {"dtype", plain(constant.dtype)},
          {"shape", plain(constant.shape)},
          {"stride", plain(constant.stride)},
          {"bytes", exact(constant.bytes)},
          {"declared_device", plain(constant.declared_device)},
          {"residency", word(constant.residency)},
          {"where", plain(constant.where)},
          {"data", address(constant.data)},
          {"handle", address(constant.handle)},
          {"kind", plain(constant.kind)},
          {"state", plain(constant.state)},
          {"mismatches", constant.mismatches},
          {"values", constant.values}};
}

Json to_json(const PoolReport& pool) {
  return {{"size", pool.size},
          {"running", pool.running},
          {"idle", pool.idle},
          {"pending", pool.pending}};
}

Json to_json(const ConstantBufferReport& buffer) {
  return {{"active", plain(buffer.active)},
          {"fold_state", plain(buffer.fold_state)},
          {"bytes", exact(buffer.bytes)}};
}

Json to_json(const FrameReport& frame) {
  return {{"pc", hex(frame.pc)},
          {"function", plain(frame.function)},
          {"module", plain(frame.module)},
          {"file", plain(frame.file)},
          {"line", plain(frame.line)},
          {"inlined", frame.inlined},
          {"how", frame.how}};
}

template <class T>
Json array_of(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

}  // namespace

Json tool_json(const Report& report) {
  return {{"version", report.tool_version}, {"host", text(report.host)}};
}

Json to_json(const TargetReport& target) {
  return {{"kind", target.kind},
          {"executable", plain(target.executable)},
          {"pid", plain(target.pid)},
          {"files", target.files},
          {"libtorch",
           {{"version", plain(target.libtorch.version)},
            {"layout", plain(target.libtorch.layout)},
            {"how", word(target.libtorch.how)},
            {"evidence", target.libtorch.evidence}}}};
}

Json to_json(const Verdict& verdict) {
  return {{"code", verdict.code},
          {"confidence", word(verdict.confidence)},
          {"text", verdict.text},
          {"evidence", verdict.evidence},
          {"next", verdict.next}};
}

Json to_json(const FaultReport& fault) {
  return {{"signal", plain(fault.signal)},
          {"code", plain(fault.code)},
          {"address", address(fault.address)},
          {"access", plain(fault.access)},
          {"pc", address(fault.pc)},
          {"thread", plain(fault.thread)},
          {"instruction", plain(fault.instruction)},
          {"operand", plain(fault.operand)},
          {"owner", fault.owner ? to_json(*fault.owner) : Json()}};
}

Json to_json(const KernelReport& kernel) {
  return {{"name", kernel.name},
          {"kind", kernel.kind},
          {"device", text(kernel.device)},
          {"location", kernel.location ? to_json(*kernel.location) : Json()},
          {"call_site", kernel.call_site ? to_json(*kernel.call_site) : Json()},
          {"arguments", kernel.arguments ? array_of(*kernel.arguments) : Json()},
          {"source_nodes", plain(kernel.source_nodes)},
          {"aten", plain(kernel.aten)},
          {"faulting", kernel.faulting},
          {"address", address(kernel.address)},
          {"size", plain(kernel.size)}};
}

Json to_json(const InputReport& input) {
  return {{"name", input.name},
          {"position", input.position},
          {"expected", input.expected ? expected_json(*input.expected) : Json()},
          {"actual", input.actual ? actual_json(*input.actual) : Json()},
          {"found_by", plain(input.found_by)},
          {"mismatches", input.mismatches}};
}

Json to_json(const ModelReport& model) {
  return {{"container", address(model.container)},
          {"runner", address(model.runner)},
          {"running_model", address(model.running_model)},
          {"wrapper", plain(model.wrapper)},
          {"package", plain(model.package)},
          {"build_id", plain(model.build_id)},
          {"compiled_for", plain(model.compiled_for)},
          {"loaded_on", plain(model.loaded_on)},
          {"layout", plain(model.layout)},
          {"layout_how", word(model.layout_how)},
          {"evidence", model.evidence},
          {"found_by", plain(model.found_by)},
          {"pool", model.pool ? to_json(*model.pool) : Json()},
          {"constant_buffer", model.constant_buffer ? to_json(*model.constant_buffer) : Json()},
          {"inputs", model.inputs},
          {"outputs", model.outputs},
          {"constants", array_of(model.constants)}};
}

Json to_json(const ThreadReport& thread) {
  return {{"id", thread.id},
          {"role", thread.role},
          {"frames", array_of(thread.frames)},
          {"stopped", plain(thread.stopped)}};
}

Json to_json(const Unknown& unknown) {
  return {{"what", unknown.what}, {"why", unknown.why}, {"fix", text(unknown.fix)}};
}

Json to_json(const TensorValues& values) {
  Json out = actual_json(values.tensor);
  out["name"] = values.name ? to_json(*values.name) : Json();
  out["elements"] = values.elements;
  out["read"] = values.read;
  out["first"] = values.first;
  out["min"] = plain(values.min);
  out["max"] = plain(values.max);
  out["nan_count"] = plain(values.nan_count);
  out["inf_count"] = plain(values.inf_count);
  return out;
}

Json to_json(const FileReport& file) {
  return {{"path", file.path},
          {"state", file.state},
          {"build_id", plain(file.build_id)},
          {"problem", plain(file.problem)}};
}

Json to_json(const SnapshotReport& snapshot) {
  Json out = {{"saved_from", snapshot.saved_from},
              {"tool", snapshot.tool},
              {"with_values", snapshot.with_values},
              {"parts", Json::array()},
              {"quoted", Json::array()},
              {"command_line", snapshot.command_line},
              {"threads", snapshot.threads},
              {"modules", snapshot.modules},
              {"answers", snapshot.answers}};
  for (const SnapshotPart& part : snapshot.parts) {
    out["parts"].push_back(
        {{"purpose", part.purpose}, {"ranges", part.ranges}, {"bytes", part.bytes}});
  }
  for (const SnapshotReport::Quoted& quoted : snapshot.quoted) {
    out["quoted"].push_back({{"what", quoted.what}, {"value", quoted.value}});
  }
  return out;
}

Json to_json(const GapReport& gap) {
  return {{"what", gap.what}, {"at", address(gap.at)}, {"fix", text(gap.fix)}};
}

Json answer_head(const Report& report) {
  Json out;
  out["schema"] = "aotidbg.report/1";
  out["tool"] = tool_json(report);
  out["target"] = to_json(report.target);
  return out;
}

Json to_json(const Report& report) {
  Json out = answer_head(report);
  out["verdict"] = to_json(report.verdict);
  out["fault"] = to_json(report.fault);
  out["kernel"] = to_json(report.kernel);
  out["inputs"] = to_json(report.inputs);
  out["models"] = to_json(report.models);
  out["threads"] = to_json(report.threads);
  out["gpu"] = nullptr;
  out["unknowns"] = to_json(report.unknowns);
  return out;
}

std::string json_text(const Json& document) {
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace aotidbg
