// SPDX-License-Identifier: BSD-3-Clause
#include <Zydis/Zydis.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/commands/session.h"
#include "common/report/words.h"
#include "common/torch/layout.h"

namespace aotidbg {
namespace {

struct Library {
  const char* name;
  std::string version;
};

std::vector<Library> libraries() {
  const ZyanU64 zydis = ZydisGetVersion();
  return {{"elfutils", ::dwfl_version(nullptr)},
          {"Zydis", fmt::format("{}.{}.{}", ZYDIS_VERSION_MAJOR(zydis), ZYDIS_VERSION_MINOR(zydis),
                                ZYDIS_VERSION_PATCH(zydis))},
          {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                              FMT_VERSION % 100)},
          {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                        NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)}};
}

Result<Answer> version(const Session& session) {
  std::vector<std::string> layouts;
  for (const EmbeddedLayout& layout : embedded_layouts()) {
    layouts.emplace_back(layout.torch_version);
  }
  if (session.options.json) {
    Json document = head_without_target(session.host);
    document["layouts"] = layouts;
    for (const Library& library : libraries())
      document["libraries"][library.name] = library.version;
    return Answer{Status::report, json_text(document)};
  }
  std::vector<std::string> used;
  for (const Library& library : libraries()) {
    used.push_back(fmt::format("{} {}", library.name, library.version));
  }
  return Answer{
      Status::report,
      fmt::format("aotidbg {}, in {}\nlayouts of torch {}\n{}\n", AOTIDBG_VERSION,
                  session.host.host, layouts.empty() ? "(none)" : joined(layouts), joined(used))};
}

}  // namespace

const Command kVersionCommand{
    .info = {"version", "this tool, the torch versions that it knows, its libraries"},
    .reads_target = false,
    .about = "",
    .example = "version",
    .run = version};

}  // namespace aotidbg
