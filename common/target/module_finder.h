// SPDX-License-Identifier: BSD-3-Clause
//
// The files of a dead process on this machine: under the sysroot, at their own path, or anywhere in
// the folders that the user named; believed only by build id.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/target/build_id_search.h"
#include "common/target/elf_core.h"
#include "common/target/modules.h"

namespace aotidbg {

class ModuleFinder {
 public:
  // `executable`: path of the main program as recorded, for which options.executable stands in.
  ModuleFinder(const CoreOptions& options, std::string executable)
      : options_(options),
        executable_(std::move(executable)),
        search_(options.search),
        packages_(folders_of(options.packages)) {}

  // A file with another build id is refused, by an error that names both.
  Result<FoundFile> find(const WantedFile& wanted);

  // After all files were looked for: one sentence about an option that names another process's
  // files. `modules` are those of the core.
  std::optional<Error> useless_option(std::span<const Module> modules);

 private:
  static std::vector<std::string> folders_of(const std::vector<PackageFiles>& packages);
  Result<FoundFile> judge(const std::string& path, const WantedFile& wanted);
  std::optional<Error> useless_package(std::span<const Module> modules);

  const CoreOptions& options_;
  std::string executable_;
  BuildIdSearch search_;
  BuildIdSearch packages_;
  // What became of the options. An option that served has no refusal that matters.
  bool executable_served_ = false;
  bool sysroot_served_ = false;
  std::optional<Error> executable_refusal_;
  std::optional<Error> sysroot_refusal_;
};

// The folders that options name are there, or one sentence about the first that is not.
Result<void> check_folders(const CoreOptions& options);

// What a user can do about a module whose file is not at hand or not the same.
std::string how_to_bring(const Module& module);

}  // namespace aotidbg
