// SPDX-License-Identifier: BSD-3-Clause
//
// The files of a dead process on this machine: under the sysroot, at their own path, or anywhere in
// the folders that the user named; believed only by build id.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/target/elf_core.h"
#include "common/target/modules.h"

namespace aotidbg {

class ModuleFinder {
 public:
  // `executable`: path of the main program as recorded, for which options.executable stands in.
  ModuleFinder(const CoreOptions& options, std::string executable)
      : options_(options), executable_(std::move(executable)) {}

  // A file with another build id is refused, by an error that names both.
  Result<FoundFile> find(const WantedFile& wanted);

 private:
  Result<FoundFile> judge(const std::string& path, const WantedFile& wanted) const;
  std::optional<std::string> search(const std::string& build_id);

  const CoreOptions& options_;
  std::string executable_;
  std::optional<std::map<std::string, std::string>> by_build_id_;  // of the folders to search
};

// What a user can do about a module whose file is not at hand or not the same.
std::string how_to_bring(const Module& module);

}  // namespace aotidbg
