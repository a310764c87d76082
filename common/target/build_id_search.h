// SPDX-License-Identifier: BSD-3-Clause
//
// Every ELF file with a build id in some folders and all below them. Symbolic links to folders are
// not followed, and one folder gives up after a hundred thousand files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/target/result.h"

namespace aotidbg {

class BuildIdSearch {
 public:
  // Looked through when it is first asked.
  explicit BuildIdSearch(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // The first file with this build id; nothing where there is none.
  std::optional<std::string> find(const std::string& build_id);
  const std::map<std::string, std::string>& files();  // path by build id

 private:
  std::vector<std::string> folders_;
  std::optional<std::map<std::string, std::string>> files_;
};

}  // namespace aotidbg
