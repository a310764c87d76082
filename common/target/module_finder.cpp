// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/module_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace aotidbg {

namespace {

constexpr std::size_t kMostSearched = 10'000;  // files in one folder

// The first page is what the loader made the image from; an ELF header holds the file's own sizes
// (e_shoff), so two builds seldom share it. Good enough to read by, never a proof.
bool same_first_page(const ModuleFile& file, std::span<const std::byte> page) {
  if (page.empty() || file.size() < page.size()) return false;
  std::vector<std::byte> other(page.size());
  return file.read(0, other).has_value() && std::equal(page.begin(), page.end(), other.begin());
}

}  // namespace

Result<FoundFile> ModuleFinder::judge(const std::string& path, const WantedFile& wanted) const {
  auto file = ModuleFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto id = (*file)->build_id();
  if (!id) return fail(fmt::format("{} is not the mapped file: {}", path, id.error().what));
  FoundFile found{*file, false, false, {}};
  if (!wanted.build_id.empty()) {
    if (*id != wanted.build_id) {
      return fail(fmt::format("{} is another file now: build id {}, the process had {}", path,
                              id->empty() ? "none" : *id, wanted.build_id));
    }
    found.fills = true;
    return found;
  }
  found.assumed = true;
  if (wanted.first_page.empty()) {
    found.problem = fmt::format(
        "the core does not hold the first page of {}, so nothing proves "
        "that the file is the same",
        path);
  } else if (same_first_page(**file, wanted.first_page)) {
    found.fills = true;
    found.problem =
        fmt::format("the core shows no build id of {}; only its first page is the same", path);
  } else {
    return fail(fmt::format("{} is another file now: its first page differs", path));
  }
  return found;
}

Result<FoundFile> ModuleFinder::find(const WantedFile& wanted) {
  std::vector<std::string> candidates;
  if (!options_.executable.empty() && !executable_.empty() && wanted.path == executable_) {
    candidates.push_back(options_.executable);
  } else {
    if (!options_.sysroot.empty()) candidates.push_back(options_.sysroot + wanted.path);
    candidates.push_back(wanted.path);
    if (!wanted.path.empty()) {
      const std::string name = file_name(wanted.path);
      for (const std::string& folder : options_.search)
        candidates.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  // The first proven file, else the first assumed one, else the most telling refusal: that of a
  // file which is there and differs.
  std::optional<FoundFile> assumed;
  std::optional<Error> refusal;
  bool refusal_tells = false;
  for (const std::string& candidate : candidates) {
    auto found = judge(candidate, wanted);
    if (found && !found->assumed) return found;
    if (found && !assumed) assumed = std::move(*found);
    if (!found) {
      std::error_code ignored;
      const bool exists = std::filesystem::exists(candidate, ignored);
      if (!refusal || (exists && !refusal_tells)) refusal = found.error();
      refusal_tells = refusal_tells || exists;
    }
  }
  if (!wanted.build_id.empty() && !options_.search.empty()) {
    if (const auto path = search(wanted.build_id)) {
      if (auto found = judge(*path, wanted)) return found;
    }
  }
  if (assumed) return *assumed;
  return tl::unexpected(*refusal);
}

std::optional<std::string> ModuleFinder::search(const std::string& build_id) {
  if (!by_build_id_) {
    by_build_id_.emplace();
    for (const std::string& folder : options_.search) {
      std::error_code error;
      std::size_t seen = 0;
      for (std::filesystem::directory_iterator entry(folder, error), end;
           !error && entry != end && seen < kMostSearched; entry.increment(error), ++seen) {
        const std::string path = entry->path().string();
        const auto file = ModuleFile::open(path);
        if (!file) continue;
        const auto id = (*file)->build_id();
        if (id && !id->empty()) by_build_id_->emplace(*id, path);
      }
    }
  }
  const auto found = by_build_id_->find(build_id);
  if (found == by_build_id_->end()) return std::nullopt;
  return found->second;
}

std::string how_to_bring(const Module& module) {
  const std::string which =
      module.build_id.empty() ? module.name()
                              : fmt::format("{} with build id {}", module.name(), module.build_id);
  return fmt::format("put the {} back at {}, or under a sysroot", which, module.path);
}

}  // namespace aotidbg
