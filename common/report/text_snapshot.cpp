// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <string_view>

#include "common/report/page.h"
#include "common/report/text.h"
#include "common/report/words.h"

namespace aotidbg {
namespace {

std::string_view meaning(std::string_view purpose) {
  if (purpose == "objects") return "PyTorch's and the runtime's: pointers, shapes, names";
  if (purpose == "modules") return "headers, code and names of mapped files";
  if (purpose == "loader") return "the loader's list of libraries";
  if (purpose == "quoted") return "values that the verdict quotes";
  if (purpose == "values") return "first values of tensors (--with-values)";
  if (purpose == "stacks") return "addresses alone; every other word is blank";
  return "";
}

}  // namespace

std::string snapshot_text(const SnapshotReport& snapshot, const TargetReport& target,
                          const TextStyle& style) {
  Page page(style);
  page.section("Snapshot");
  page.paragraph(fmt::format(
      "of {}{}{}, saved by aotidbg {}", snapshot.saved_from == "live" ? "a live process" : "a core",
      target.executable ? " of " + *target.executable : "",
      target.pid ? fmt::format(", process {}", *target.pid) : "", snapshot.tool));
  page.section("Bytes");
  Table table({{.title = "OF"},
               {.title = "RANGES", .priority = 1, .right = true},
               {.title = "BYTES", .right = true},
               {.title = "WHAT THEY ARE"}});
  for (const SnapshotPart& part : snapshot.parts) {
    table.add({part.purpose, std::to_string(part.ranges), std::to_string(part.bytes),
               meaning(part.purpose)});
  }
  page.table(table);

  page.section("Values");
  if (snapshot.quoted.empty()) page.paragraph("the verdict quotes none");
  for (const SnapshotReport::Quoted& quoted : snapshot.quoted) {
    page.bullet(fmt::format("{} = {}", quoted.what, quoted.value));
  }
  page.bullet(fmt::format("general registers of {}: what they held at the stop",
                          counted(snapshot.threads, "thread")));
  if (snapshot.with_values) page.bullet("the first values of constants, inputs and buffers");

  page.section("Texts");
  std::string line;
  for (const std::string& argument : snapshot.command_line) line += " " + argument;
  page.bullet(line.empty() ? "no command line" : "command line, as every core has it:" + line);
  page.bullet(
      fmt::format("paths of the files that were mapped, {} of them modules", snapshot.modules));
  page.bullet(
      fmt::format("{}: names of functions, source files and lines, frames, and what "
                  "searches found",
                  counted(snapshot.answers, "answer")));

  page.section("Not in it");
  page.paragraph(
      "environment variables, weights, other input values, vector registers, and what stacks hold "
      "besides addresses");
  return page.take();
}

}  // namespace aotidbg
