// SPDX-License-Identifier: BSD-3-Clause
//
// The commands that list one kind of thing: models, constants, inputs, kernels, one tensor, files.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/report/sections.h"
#include "common/report/text.h"
#include "common/report/words.h"

namespace aotidbg {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

std::string address_text(const std::optional<std::uint64_t>& address) {
  return address ? hex(*address) : "not known";
}

std::string model_title(const ModelReport& model) {
  if (model.package && !model.package->empty()) return *model.package;
  return model.wrapper.value_or("a model without a name");
}

}  // namespace

std::string models_text(const std::vector<ModelReport>& models, const TextStyle& style) {
  Page page(style);
  if (models.empty()) {
    page.section("Models");
    page.paragraph("none found in this process; " + page.command("doctor") +
                   " says what was tried");
    return page.take();
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    const ModelReport& model = models[i];
    page.section(fmt::format("Model {}", i));
    add_model(page, model);
    page.paragraph(constants_summary(model.constants));
    if (!model.inputs.empty()) page.paragraph("inputs " + joined(model.inputs));
    if (!model.outputs.empty()) page.paragraph("outputs " + joined(model.outputs));
    Table addresses({{.title = "CONTAINER", .fixed = kAddressWidth},
                     {.title = "RUNNER", .fixed = kAddressWidth},
                     {.title = "RUNNING MODEL", .fixed = kAddressWidth}});
    addresses.add({address_text(model.container), address_text(model.runner),
                   model.running_model ? hex(*model.running_model) : "none"});
    page.table(addresses);
    if (model.wrapper) page.paragraph("wrapper " + *model.wrapper);
    if (model.build_id) page.paragraph("build id " + *model.build_id);
    if (model.found_by) page.paragraph("found by " + *model.found_by);
    for (const std::string& line : model.evidence) page.bullet(line);
  }
  return page.take();
}

std::string constants_text(const std::vector<ModelReport>& models, const TextStyle& style,
                           std::size_t limit) {
  Page page(style);
  if (models.empty()) {
    page.section("Constants");
    page.paragraph("no model was found in this process");
  }
  for (const ModelReport& model : models) {
    page.section("Constants");
    page.paragraph(fmt::format("{}: {}", model_title(model), constants_summary(model.constants)));
    std::vector<std::size_t> rows(model.constants.size());
    std::iota(rows.begin(), rows.end(), 0);
    if (rows.size() > limit) {
      std::stable_partition(rows.begin(), rows.end(), [&model](std::size_t i) {
        return needs_attention(model.constants[i]);
      });
      rows.resize(limit);
      std::sort(rows.begin(), rows.end());
    }
    add_constants(page, model.constants, rows, std::nullopt);
    if (rows.size() < model.constants.size()) {
      page.paragraph(fmt::format("and {} more: {}", model.constants.size() - rows.size(),
                                 page.command("constants --all")));
    }
  }
  return page.take();
}

std::string inputs_text(const Report& report, const TextStyle& style) {
  Page page(style);
  if (report.inputs.empty()) {
    page.section("Inputs");
    page.paragraph(
        "none were found: no call into a model is in flight, or its inputs are not "
        "readable");
    if (!report.unknowns.empty()) add_unknowns(page, report.unknowns, kAll);
    return page.take();
  }
  const std::optional<OwnerReport> owner = report.fault ? report.fault->owner : std::nullopt;
  add_inputs(page, report.inputs, owner, kAll);
  for (const InputReport& input : report.inputs) {
    if (!input.expected) continue;
    const TensorReport& expected = *input.expected;
    page.paragraph(fmt::format("{} expects {} {} on {}", input.name,
                               expected.dtype.value_or("a dtype that is not known"),
                               expected.shape ? list(*expected.shape) : "of any shape",
                               expected.device.value_or("a device that is not known")));
  }
  return page.take();
}

std::string kernels_text(const std::vector<KernelReport>& kernels, const TextStyle& style) {
  Page page(style);
  page.section("Kernels");
  if (kernels.empty()) {
    page.paragraph("no generated kernels were found in the model's wrapper");
    return page.take();
  }
  Table table({{.title = ""},
               {.title = "NAME", .narrowest = 24},
               {.title = "KIND"},
               {.title = "DEVICE", .priority = 2},
               {.title = "LOCATION", .priority = 1, .narrowest = 16},
               {.title = "CODE AT", .priority = 3, .fixed = kAddressWidth}});
  for (const KernelReport& kernel : kernels) {
    table.add({Cell(kernel.faulting ? "!" : "", Emphasis::bad), kernel.name, kernel.kind,
               kernel.device, kernel.location ? location_text(*kernel.location) : "",
               kernel.address ? hex(*kernel.address) : ""});
  }
  page.table(table);
  for (const KernelReport& kernel : kernels) {
    if (kernel.faulting) page.bullet(fmt::format("{}: the fault is in it", kernel.name), "!");
  }
  return page.take();
}

std::string kernel_text(const KernelReport& kernel, const TextStyle& style) {
  Page page(style);
  page.section("Kernel");
  page.paragraph(kernel_title(kernel));
  if (kernel.location) page.paragraph("at " + location_text(*kernel.location));
  if (kernel.call_site) page.paragraph("called at " + location_text(*kernel.call_site));
  if (kernel.aten) page.paragraph("computes " + joined(*kernel.aten));
  if (kernel.source_nodes) page.paragraph("from the nodes " + joined(*kernel.source_nodes));
  add_kernel_arguments(page, kernel, std::nullopt, kAll);
  if (kernel.address) page.paragraph(fmt::format("its code is at {}", hex(*kernel.address)));
  if (kernel.faulting) page.paragraph("the fault is in it", Emphasis::bad);
  return page.take();
}

std::string tensor_text(const TensorValues& values, const TextStyle& style) {
  Page page(style);
  const TensorReport& tensor = values.tensor;
  page.section("Tensor");
  if (values.name) page.paragraph(tensor_text(*values.name), Emphasis::strong);
  page.paragraph(fmt::format("{} {}, strides {}, on {}", tensor.dtype.value_or("dtype not known"),
                             tensor.shape ? list(*tensor.shape) : "of unknown shape",
                             tensor.stride ? list(*tensor.stride) : "not known",
                             tensor.device.value_or("a device that is not known")));
  page.paragraph(fmt::format("data at {}: {}", address_text(tensor.data),
                             memory_text(tensor.residency, tensor.where)));
  if (tensor.storage_bytes) {
    page.paragraph(fmt::format("storage of {}, this tensor begins at its element {}",
                               bytes_text(*tensor.storage_bytes),
                               tensor.storage_offset.value_or(0)));
  }
  if (tensor.address) page.paragraph(fmt::format("TensorImpl at {}", hex(*tensor.address)));

  page.section("Values");
  if (values.first.empty() && values.read == 0) {
    page.paragraph(values.elements == 0 ? "none: it has no elements" : "none could be read");
    return page.take();
  }
  page.paragraph(joined(values.first) + (values.elements > values.first.size() ? ", ..." : ""));
  std::vector<std::string> facts;
  if (values.min) facts.push_back("min " + *values.min);
  if (values.max) facts.push_back("max " + *values.max);
  if (values.nan_count) facts.push_back(fmt::format("{} NaN", *values.nan_count));
  if (values.inf_count) facts.push_back(fmt::format("{} infinite", *values.inf_count));
  facts.push_back(fmt::format("{} of {} elements read", values.read, values.elements));
  page.paragraph(joined(facts));
  return page.take();
}

std::string tensor_line(const TensorValues& values) {
  const TensorReport& tensor = values.tensor;
  std::string line =
      fmt::format("{} {} on {}, {} {}", tensor.dtype.value_or("dtype not known"),
                  tensor.shape ? list(*tensor.shape) : "of unknown shape",
                  tensor.device.value_or("a device that is not known"),
                  memory_text(tensor.residency, tensor.where), address_text(tensor.data));
  if (!values.first.empty()) {
    line += fmt::format(": {}{}", joined(values.first),
                        values.elements > values.first.size() ? ", ..." : "");
  }
  return line;
}

std::string doctor_text(const Report& report, const std::vector<GapReport>& gaps,
                        const std::vector<FileReport>& files, const TextStyle& style) {
  Page page(style);
  page.section("Unknown");
  if (report.unknowns.empty()) page.paragraph("nothing: the answer is complete");
  for (const Unknown& unknown : report.unknowns) {
    page.bullet(fmt::format("{}: {}", unknown.what, unknown.why));
    if (!unknown.fix.empty()) page.bullet(unknown.fix, "  ->");
  }
  page.section("Target");
  if (gaps.empty()) page.paragraph("complete: it lacks nothing that it recorded");
  for (const GapReport& gap : gaps) {
    page.bullet(gap.at ? fmt::format("{} (at {})", gap.what, hex(*gap.at)) : gap.what);
    if (!gap.fix.empty()) page.bullet(gap.fix, "  ->");
  }
  add_libtorch(page, report.target.libtorch);
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    const ModelReport& model = report.models[i];
    page.section(fmt::format("Model {}", i));
    page.paragraph(fmt::format(
        "{}: {}", model_title(model),
        model.layout ? fmt::format("layout {} ({})", *model.layout, word(model.layout_how))
                     : "no layout fits"));
    for (const std::string& line : model.evidence) page.bullet(line);
  }
  page.section("Files");
  const auto count = [&files](std::string_view state) {
    return std::count_if(files.begin(), files.end(),
                         [state](const FileReport& file) { return file.state == state; });
  };
  page.paragraph(fmt::format("{} used, {} assumed to be the same, {} missing", count("used"),
                             count("assumed"), count("missing")));
  for (const FileReport& file : files) {
    if (file.state == "used") continue;
    page.bullet(fmt::format("{} {}: {}", file.state, file.path,
                            file.problem.value_or("no reason is known")));
  }
  return page.take();
}

}  // namespace aotidbg
