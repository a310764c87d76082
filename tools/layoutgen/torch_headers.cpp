// SPDX-License-Identifier: BSD-3-Clause
#include "torch_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

namespace aotidbg::layoutgen {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What follows `before` in `text`, up to one of `stops`.
std::optional<std::string> text_after(std::string_view text, std::string_view before,
                                      std::string_view stops) {
  const auto found = text.find(before);
  if (found == std::string_view::npos) return std::nullopt;
  const auto rest = text.substr(found + before.size());
  return std::string(rest.substr(0, rest.find_first_of(stops)));
}

}  // namespace

Result<std::string> torch_version(const fs::path& torch_include) {
  const std::string python = text_of(torch_include.parent_path() / "version.py");
  if (const auto version = text_after(python, "__version__ = '", "'+\n")) return *version;
  for (const char* header :
       {"torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"}) {
    const std::string text = text_of(torch_include / header);
    const auto part = [&](const char* name) {
      return text_after(text, fmt::format("#define TORCH_VERSION_{} ", name), " \n");
    };
    const auto major = part("MAJOR"), minor = part("MINOR"), patch = part("PATCH");
    if (major && minor && patch) return fmt::format("{}.{}.{}", *major, *minor, *patch);
  }
  return fail(fmt::format("{} does not say which torch version it is", torch_include.string()),
              std::nullopt, "pass --torch-version");
}

std::vector<Variant> variants(const fs::path& torch_include) {
  std::string runtime;
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(torch_include / "torch/csrc/inductor/aoti_runtime", error)) {
    runtime += text_of(entry.path());
  }
  const std::vector<Variant> known = {
      {"cpu", {}},
      {"cpu_mmap_self", {"USE_MMAP_SELF"}},
      {"cpu_mmap_external", {"USE_MMAP_EXTERNAL"}},
      {"cuda", {"USE_CUDA"}},
      {"cuda_mmap_self", {"USE_CUDA", "USE_MMAP_SELF"}},
      {"cuda_mmap_external", {"USE_CUDA", "USE_MMAP_EXTERNAL"}},
  };
  std::vector<Variant> present;
  std::copy_if(
      known.begin(), known.end(), std::back_inserter(present), [&](const Variant& variant) {
        return std::all_of(
            variant.macros.begin(), variant.macros.end(),
            [&](const std::string& macro) { return runtime.find(macro) != std::string::npos; });
      });
  return present;
}

}  // namespace aotidbg::layoutgen
