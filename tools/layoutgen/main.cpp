// SPDX-License-Identifier: BSD-3-Clause
//
// layoutgen: writes where the members of PyTorch's objects lie, for one torch version.
//
//   layoutgen --torch-include DIR --output layouts/torch-2.13.0.json
//
// It compiles probes/*.cpp against DIR with debug information and reads that; no offset is written
// by hand. A class or member that the version does not have is left out and named on stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "compiler.h"
#include "debug_info.h"
#include "layout_table.h"
#include "torch_headers.h"

namespace aotidbg::layoutgen {
namespace {

struct Options {
  Compiler compiler;
  std::string torch_version;
  std::string output;
};

// Paths as a reader knows them: relative to torch's include folder, or to the C++ library's.
std::string short_header(const std::string& path, const std::string& torch_include) {
  const std::string prefix = torch_include + "/";
  if (path.starts_with(prefix)) return path.substr(prefix.size());
  constexpr std::string_view kLibrary = "/c++/";
  const auto library = path.find(kLibrary);
  if (library == std::string::npos) return path;
  const auto version_end = path.find('/', library + kLibrary.size());
  return version_end == std::string::npos ? path : path.substr(version_end + 1);
}

void shorten_headers(LayoutTable& table, const std::string& torch_include) {
  const auto shorten = [&](auto& entries) {
    for (auto& [name, info] : entries) info.header = short_header(info.header, torch_include);
  };
  shorten(table.classes);
  shorten(table.enums);
  for (auto& [name, classes] : table.variants) shorten(classes);
}

Result<DebugInfo> probe(const Options& options, const ScratchFolder& scratch,
                        const std::string& name, const std::vector<std::string>& macros) {
  const auto object = options.compiler.compile(name, macros, scratch);
  if (!object) return tl::unexpected(object.error());
  return DebugInfo::open(object->string());
}

Result<LayoutTable> collect(const Options& options) {
  const auto scratch = ScratchFolder::create();
  if (!scratch) return tl::unexpected(scratch.error());
  LayoutTable table;
  const auto version = options.torch_version.empty() ? torch_version(options.compiler.torch_include)
                                                     : Result<std::string>(options.torch_version);
  if (!version) return tl::unexpected(version.error());
  table.torch_version = *version;
  const auto compiler = options.compiler.version(*scratch);
  if (!compiler) return tl::unexpected(compiler.error());
  table.compiler = *compiler;
  table.string_abi = options.compiler.cxx11_string ? "cxx11" : "pre-cxx11";

  std::vector<std::string> absent;
  std::map<std::string, ClassTable> by_variant;
  for (const Variant& variant : variants(options.compiler.torch_include)) {
    const auto info = probe(options, *scratch, "wrapper", variant.macros);
    if (!info) return tl::unexpected(info.error());
    by_variant[variant.name] = read_classes(*info, Probe::wrapper, absent);
    table.variant_macros[variant.name] = variant.macros;
    table.enums.merge(read_enums(*info, Probe::wrapper, absent));
  }
  split_variants(std::move(by_variant), table);

  const auto libtorch = probe(options, *scratch, "libtorch", {});
  if (!libtorch) return tl::unexpected(libtorch.error());
  table.classes.merge(read_classes(*libtorch, Probe::libtorch, absent));
  table.enums.merge(read_enums(*libtorch, Probe::libtorch, absent));
  if (const auto sizes = libtorch->find(kScalarTypeSizes)) {
    table.scalar_type_sizes = libtorch->enumerators(*sizes).values;
  }

  if (const auto executor = probe(options, *scratch, "proxy_executor", {})) {
    table.classes.merge(read_classes(*executor, Probe::proxy_executor, absent));
    table.enums.merge(read_enums(*executor, Probe::proxy_executor, absent));
  } else {
    absent.push_back(executor.error().what);
  }

  for (const std::string& what : std::set<std::string>(absent.begin(), absent.end())) {
    fmt::print(stderr, "absent in {}: {}\n", table.torch_version, what);
  }
  shorten_headers(table, options.compiler.torch_include.string());
  return table;
}

int run(const Options& options) {
  const auto table = collect(options);
  if (!table) {
    const Error& error = table.error();
    fmt::print(stderr, "layoutgen: {}{}{}\n", error.what, error.fix.empty() ? "" : "; ", error.fix);
    return 1;
  }
  std::ofstream file(options.output, std::ios::trunc);
  file << to_json(*table);
  file.close();
  if (!file) {
    fmt::print(stderr, "layoutgen: cannot write {}\n", options.output);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace aotidbg::layoutgen

int main(int argc, char** argv) {
  aotidbg::layoutgen::Options options;
  options.compiler.sources = AOTIDBG_LAYOUTGEN_SOURCES;
  bool old_string_abi = false;

  CLI::App app("Writes where the members of PyTorch's objects lie, for one torch version");
  app.add_option("--torch-include", options.compiler.torch_include, "torch/include of that version")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--output", options.output, "The file to write")->required();
  app.add_option("--torch-version", options.torch_version, "Default: what the headers say");
  app.add_option("--compiler", options.compiler.program, "A g++ or compatible compiler")
      ->capture_default_str();
  app.add_option("--std", options.compiler.standard, "C++ standard for the headers")
      ->capture_default_str();
  app.add_option("--sources", options.compiler.sources, "Folder with probes/ and stubs/")
      ->capture_default_str();
  app.add_flag("--pre-cxx11-abi", old_string_abi, "As torch was built: _GLIBCXX_USE_CXX11_ABI=0");
  CLI11_PARSE(app, argc, argv);
  options.compiler.cxx11_string = !old_string_abi;
  options.compiler.torch_include =
      std::filesystem::weakly_canonical(options.compiler.torch_include);
  return aotidbg::layoutgen::run(options);
}
