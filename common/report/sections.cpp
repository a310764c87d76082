// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "common/report/words.h"

namespace aotidbg {
namespace {

std::string or_unknown(const std::optional<std::string>& text) {
  return text && !text->empty() ? *text : "?";
}

std::string or_unknown(const std::optional<std::vector<std::int64_t>>& numbers) {
  return numbers ? list(*numbers) : "?";
}

std::string or_unknown(const std::optional<std::uint64_t>& address) {
  return address ? hex(*address) : "?";
}

// "!" beside what is wrong, ">" beside what the fault is about.
Cell mark(bool wrong, bool owner) {
  if (wrong) return {"!", Emphasis::bad};
  return {owner ? ">" : "", Emphasis::strong};
}

std::string fault_headline(const FaultReport& fault) {
  std::string text = fault.signal.value_or("No signal");
  if (fault.code) text += fmt::format(" ({})", *fault.code);
  if (fault.access || fault.address) {
    text += fmt::format(", {} of {}", fault.access.value_or("access"),
                        fault.address ? hex(*fault.address) : "an address that is not known");
  }
  if (fault.thread) text += fmt::format(", thread {}", *fault.thread);
  return text;
}

}  // namespace

bool is_owner(const std::optional<OwnerReport>& owner, std::string_view kind,
              std::string_view name) {
  return owner && !name.empty() && owner->tensor.kind == kind && owner->tensor.name == name;
}

bool needs_attention(const ConstantReport& constant) {
  if (!constant.mismatches.empty()) return true;
  const std::string state = constant.state.value_or("ready");
  return state != "ready" && state != "folded" && state != "inactive";
}

void add_fault(Page& page, const FaultReport& fault, std::string_view label) {
  page.section(label);
  page.paragraph(fault_headline(fault));
  if (fault.pc) {
    page.paragraph(fmt::format("at {}: {}", hex(*fault.pc),
                               fault.instruction.value_or("instruction not readable")));
  }
  if (fault.operand) page.paragraph(*fault.operand);
  if (fault.owner) page.paragraph(owner_text(*fault.owner), Emphasis::strong);
}

std::string kernel_title(const KernelReport& kernel) {
  if (kernel.device.empty()) return fmt::format("{} ({})", kernel.name, kernel.kind);
  return fmt::format("{} ({}, {})", kernel.name, kernel.kind, kernel.device);
}

void add_kernel(Page& page, const KernelReport& kernel, const std::optional<OwnerReport>& owner,
                std::size_t limit) {
  page.section("Kernel");
  page.paragraph(kernel_title(kernel));
  std::vector<std::string> places;
  if (kernel.location) places.push_back("at " + short_location_text(*kernel.location));
  if (kernel.call_site) places.push_back("called at " + short_location_text(*kernel.call_site));
  if (!places.empty()) page.paragraph(joined(places));
  std::vector<std::string> origins;
  if (kernel.aten && !kernel.aten->empty()) origins.push_back("computes " + joined(*kernel.aten));
  if (kernel.source_nodes && !kernel.source_nodes->empty()) {
    origins.push_back("from the nodes " + joined(*kernel.source_nodes));
  }
  if (!origins.empty()) page.paragraph(fmt::format("{}", fmt::join(origins, "; ")));
  add_kernel_arguments(page, kernel, owner, limit);
}

void add_kernel_arguments(Page& page, const KernelReport& kernel,
                          const std::optional<OwnerReport>& owner, std::size_t limit) {
  if (!kernel.arguments || kernel.arguments->empty()) return;

  Table table({{.title = ""},
               {.title = "PARAMETER", .narrowest = 12},
               {.title = "TENSOR", .narrowest = 36},
               {.title = "TYPE", .priority = 2, .narrowest = 14},
               {.title = "VALUE", .priority = 1, .fixed = kAddressWidth}});
  const std::vector<KernelArgument>& arguments = *kernel.arguments;
  for (const KernelArgument& argument : arguments) {
    if (table.size() == limit) break;
    const bool owns =
        argument.tensor && is_owner(owner, argument.tensor->kind, argument.tensor->name);
    table.add({mark(false, owns), argument.parameter,
               argument.tensor ? tensor_text(*argument.tensor) : "", argument.type.value_or(""),
               argument.value.value_or("")});
  }
  page.table(table);
  if (arguments.size() > limit) {
    page.paragraph(fmt::format("and {} more: {}", arguments.size() - limit,
                               page.command("kernels " + kernel.name)));
  }
}

void add_inputs(Page& page, const std::vector<InputReport>& inputs,
                const std::optional<OwnerReport>& owner, std::size_t limit) {
  std::vector<std::size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), 0);
  const auto matters = [&](std::size_t i) {
    return !inputs[i].mismatches.empty() || is_owner(owner, "input", inputs[i].name);
  };
  std::stable_partition(order.begin(), order.end(), matters);
  if (order.size() > limit) order.resize(limit);
  std::sort(order.begin(), order.end());

  Table table({{.title = ""},
               {.title = "#", .right = true},
               {.title = "NAME", .narrowest = 20},
               {.title = "DTYPE"},
               {.title = "SHAPE", .narrowest = 16},
               {.title = "STRIDE", .priority = 2, .narrowest = 16},
               {.title = "DEVICE", .priority = 3},
               {.title = "MEMORY", .priority = 1},
               {.title = "WHERE", .priority = 5, .narrowest = 12},
               {.title = "DATA", .priority = 4, .fixed = kAddressWidth}});
  for (const std::size_t i : order) {
    const InputReport& input = inputs[i];
    const bool wrong = !input.mismatches.empty();
    const Cell marked = mark(wrong, is_owner(owner, "input", input.name));
    if (!input.actual) {
      table.add({marked, std::to_string(input.position), input.name, "not known"});
      continue;
    }
    const TensorReport& tensor = *input.actual;
    table.add({marked, std::to_string(input.position), input.name, or_unknown(tensor.dtype),
               or_unknown(tensor.shape), or_unknown(tensor.stride), or_unknown(tensor.device),
               word(tensor.residency), tensor.where.value_or(""), or_unknown(tensor.data)});
  }
  page.section("Inputs");
  page.table(table);
  for (const std::size_t i : order) {
    for (const std::string& mismatch : inputs[i].mismatches) {
      page.bullet(fmt::format("{}: {}", inputs[i].name, mismatch), "!");
    }
  }
  if (inputs.size() > limit) {
    page.paragraph(fmt::format("and {} more: {}", inputs.size() - limit, page.command("inputs")));
  }
}

void add_model(Page& page, const ModelReport& model) {
  const std::string wrapper = model.wrapper ? short_name(*model.wrapper) : "?";
  std::vector<std::string> names;
  if (model.package && !model.package->empty()) names.push_back(*model.package);
  names.push_back(wrapper);
  if (model.compiled_for) names.push_back("compiled for " + *model.compiled_for);
  if (model.loaded_on) names.push_back("loaded on " + *model.loaded_on);
  if (model.layout) {
    names.push_back(model.layout_how == How::found
                        ? "layout " + *model.layout
                        : fmt::format("layout {} ({})", *model.layout, word(model.layout_how)));
  }
  page.paragraph(joined(names));

  std::vector<std::string> facts;
  if (model.pool) {
    facts.push_back(fmt::format("pool of {}: {} running, {} idle, {} pending", model.pool->size,
                                model.pool->running, model.pool->idle, model.pool->pending));
  }
  if (model.constant_buffer) {
    const ConstantBufferReport& buffer = *model.constant_buffer;
    std::string text = "constant buffer";
    if (buffer.active) text += fmt::format(" {}", *buffer.active);
    if (buffer.fold_state && *buffer.fold_state != "unknown") text += " " + *buffer.fold_state;
    if (buffer.bytes) text += fmt::format(", {}", bytes_text(*buffer.bytes));
    facts.push_back(std::move(text));
  }
  if (!facts.empty()) page.paragraph(fmt::format("{}", fmt::join(facts, "; ")));
}

std::string constants_summary(const std::vector<ConstantReport>& constants) {
  std::map<std::string, std::size_t> states;
  for (const ConstantReport& constant : constants) {
    ++states[constant.state.value_or("state not known")];
  }
  std::string text = counted(constants.size(), "constant");
  if (states.size() == 1)
    return fmt::format("{}, {}{}", text, constants.size() > 1 ? "all " : "", states.begin()->first);
  const char* separator = ": ";
  for (const auto& [state, count] : states) {
    text += fmt::format("{}{} {}", separator, count, state);
    separator = ", ";
  }
  return text;
}

void add_constants(Page& page, const std::vector<ConstantReport>& constants,
                   const std::vector<std::size_t>& rows, const std::optional<OwnerReport>& owner) {
  Table table({{.title = ""},
               {.title = "NAME", .narrowest = 32},
               {.title = "DTYPE"},
               {.title = "SHAPE", .narrowest = 16},
               {.title = "BYTES", .priority = 4, .right = true},
               {.title = "DECLARED", .priority = 3},
               {.title = "MEMORY", .priority = 1},
               {.title = "WHERE", .priority = 5, .narrowest = 12},
               {.title = "STATE"},
               {.title = "KIND", .priority = 7},
               {.title = "IN THE CODE", .priority = 6, .narrowest = 16},
               {.title = "DATA", .priority = 2, .fixed = kAddressWidth}});
  for (const std::size_t i : rows) {
    const ConstantReport& constant = constants[i];
    const bool has_fqn = constant.fqn && !constant.fqn->empty();
    table.add({mark(needs_attention(constant), is_owner(owner, "constant", constant.name)),
               has_fqn ? *constant.fqn : constant.name, or_unknown(constant.dtype),
               or_unknown(constant.shape), constant.bytes ? std::to_string(*constant.bytes) : "?",
               or_unknown(constant.declared_device), word(constant.residency),
               constant.where.value_or(""), or_unknown(constant.state), constant.kind.value_or(""),
               has_fqn ? constant.name : "", or_unknown(constant.data)});
  }
  page.table(table);
  for (const std::size_t i : rows) {
    const ConstantReport& constant = constants[i];
    const std::string& name =
        constant.fqn && !constant.fqn->empty() ? *constant.fqn : constant.name;
    for (const std::string& mismatch : constant.mismatches) {
      page.bullet(fmt::format("{}: {}", name, mismatch), "!");
    }
    if (!constant.values.empty()) {
      page.paragraph(fmt::format("{} = {}, ...", name, joined(constant.values)));
    }
  }
}

void add_unknowns(Page& page, const std::vector<Unknown>& unknowns, std::size_t limit) {
  page.section("Unknown");
  if (unknowns.empty()) page.paragraph("nothing that this tool looks for");
  for (std::size_t i = 0; i < std::min(limit, unknowns.size()); ++i) {
    std::string text = unknowns[i].what;
    if (!unknowns[i].why.empty()) text += fmt::format(": {}", unknowns[i].why);
    if (!unknowns[i].fix.empty()) text += fmt::format(" -> {}", unknowns[i].fix);
    page.bullet(text);
  }
  if (unknowns.size() > limit) {
    page.paragraph(fmt::format("and {} more: {}", unknowns.size() - limit, page.command("doctor")));
  }
}

void add_libtorch(Page& page, const LibtorchReport& libtorch) {
  page.section("Libtorch");
  page.paragraph(fmt::format(
      "{}; {}", libtorch.version ? "version " + *libtorch.version : "version not known",
      libtorch.layout ? fmt::format("layout {} ({})", *libtorch.layout, word(libtorch.how))
                      : "no layout in use"));
  for (const std::string& line : libtorch.evidence) page.bullet(line);
}

}  // namespace aotidbg
