// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/module_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

namespace aotidbg {

namespace {

// The first page is what the loader made the image from; an ELF header holds the file's own sizes
// (e_shoff), so two builds seldom share it. Good enough to read by, never a proof.
bool same_first_page(const ModuleFile& file, std::span<const std::byte> page) {
  if (page.empty() || file.size() < page.size()) return false;
  std::vector<std::byte> other(page.size());
  return file.read(0, other).has_value() && std::equal(page.begin(), page.end(), other.begin());
}

}  // namespace

Result<FoundFile> ModuleFinder::judge(const std::string& path, const WantedFile& wanted) {
  auto file = ModuleFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto id = (*file)->build_id();
  if (!id) return fail(fmt::format("{} is not the mapped file: {}", path, id.error().what));
  FoundFile found{*file, false, false, {}};
  if (!wanted.build_id.empty()) {
    if (*id != wanted.build_id) {
      return fail(fmt::format("{} is another file{}: build id {}, the process had {}", path,
                              path == wanted.path ? " now" : "", id->empty() ? "none" : *id,
                              wanted.build_id));
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
    return fail(fmt::format("{} is another file{}: its first page differs", path,
                            path == wanted.path ? " now" : ""));
  }
  return found;
}

Result<FoundFile> ModuleFinder::find(const WantedFile& wanted) {
  if (!options_.executable.empty() && !executable_.empty() && wanted.path == executable_) {
    auto found = judge(options_.executable, wanted);
    executable_served_ = executable_served_ || found.has_value();
    if (!found && !executable_refusal_) executable_refusal_ = found.error();
    return found;
  }
  std::vector<std::string> candidates;
  const std::string in_sysroot = options_.sysroot + wanted.path;
  if (!options_.sysroot.empty()) candidates.push_back(in_sysroot);
  candidates.push_back(wanted.path);
  if (!wanted.path.empty()) {
    const std::string name = file_name(wanted.path);
    for (const std::string& folder : options_.search) {
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
    const bool is_sysroots = !options_.sysroot.empty() && &candidate == &candidates.front();
    if (is_sysroots) sysroot_served_ = sysroot_served_ || found.has_value();
    if (found && !found->assumed) return found;
    if (found && !assumed) assumed = std::move(*found);
    if (!found) {
      std::error_code ignored;
      const bool exists = std::filesystem::exists(candidate, ignored);
      if (is_sysroots && !sysroot_refusal_) sysroot_refusal_ = found.error();
      if (!refusal || (exists && !refusal_tells)) refusal = found.error();
      refusal_tells = refusal_tells || exists;
    }
  }
  if (!wanted.build_id.empty()) {
    for (BuildIdSearch* folders : {&packages_, &search_}) {
      const auto path = folders->find(wanted.build_id);
      if (!path) continue;
      if (auto found = judge(*path, wanted)) return found;
    }
  }
  if (assumed) return *assumed;
  return tl::unexpected(*refusal);
}

std::vector<std::string> ModuleFinder::folders_of(const std::vector<PackageFiles>& packages) {
  std::vector<std::string> folders;
  folders.reserve(packages.size());
  for (const PackageFiles& package : packages) folders.push_back(package.folder);
  return folders;
}

std::optional<Error> ModuleFinder::useless_option(std::span<const Module> modules) {
  if (!options_.executable.empty() && !executable_served_) {
    if (!executable_refusal_) {
      return Error{fmt::format("--exe {} is of no use: the core does not show where its program "
                               "was mapped",
                               options_.executable),
                   std::nullopt, "leave --exe out"};
    }
    return Error{"--exe is not the program that died: " + executable_refusal_->what, std::nullopt,
                 fmt::format("it was {}", executable_)};
  }
  if (!options_.sysroot.empty() && !sysroot_served_ && sysroot_refusal_) {
    return Error{fmt::format("--sysroot {} has none of this process's files: {}", options_.sysroot,
                             sysroot_refusal_->what),
                 std::nullopt, "give the folder that was / for the process"};
  }
  return useless_package(modules);
}

std::optional<Error> ModuleFinder::useless_package(std::span<const Module> modules) {
  if (options_.packages.empty()) return std::nullopt;
  const std::map<std::string, std::string>& files = packages_.files();
  std::string names;
  for (const PackageFiles& package : options_.packages) {
    names += (names.empty() ? "" : ", ") + package.name;
  }
  if (files.empty()) {
    return Error{fmt::format("--package {} holds no compiled library", names), std::nullopt,
                 "give the .pt2 file, or the folder that it was extracted to"};
  }
  // One that shows no build id may be any file of its name.
  const auto may_be_of = [&files](const Module& module) {
    if (!module.build_id.empty()) return files.contains(module.build_id);
    return std::any_of(files.begin(), files.end(), [&module](const auto& file) {
      return file_name(file.second) == module.name();
    });
  };
  if (std::any_of(modules.begin(), modules.end(), may_be_of)) return std::nullopt;
  return Error{fmt::format("--package {} is not of this process: {} (build id {}) was not loaded",
                           names, file_name(files.begin()->second), files.begin()->first),
               std::nullopt, "give the package that the process had loaded"};
}

Result<void> check_folders(const CoreOptions& options) {
  const auto check = [](std::string_view option, const std::string& folder) -> Result<void> {
    std::error_code error;
    if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
    const bool exists = std::filesystem::exists(folder, error);
    return fail(
        fmt::format("{} {} {}", option, folder, exists ? "is no folder" : "does not exist"));
  };
  if (auto fine = check("--sysroot", options.sysroot); !fine) return fine;
  for (const std::string& folder : options.search) {
    if (auto fine = check("--search", folder); !fine) return fine;
  }
  for (const PackageFiles& package : options.packages) {
    if (auto fine = check("--package", package.folder); !fine) return fine;
  }
  return {};
}

std::string how_to_bring(const Module& module) {
  const std::string which =
      module.build_id.empty() ? module.name()
                              : fmt::format("{} with build id {}", module.name(), module.build_id);
  return fmt::format("put the {} back at {}, or name its folder to `aotidbg` with --search", which,
                     module.path);
}

}  // namespace aotidbg
