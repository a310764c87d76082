// SPDX-License-Identifier: BSD-3-Clause
//
// The compiled libraries of an AOTInductor package as a folder: the one that the package was
// extracted to, or a temporary one for a .pt2 (a zip archive), which goes away with this object.
// Files that were opened in it can be read on.
#pragma once

#include <string>

#include "common/target/result.h"

namespace aotidbg {

class PackageFolder {
 public:
  // The error is one sentence that begins with --package.
  static Result<PackageFolder> open(const std::string& path);
  PackageFolder(PackageFolder&& other) noexcept;
  PackageFolder& operator=(PackageFolder&&) = delete;
  ~PackageFolder();

  const std::string& path() const { return path_; }

 private:
  PackageFolder() = default;
  std::string path_;
  bool temporary_ = false;
};

}  // namespace aotidbg
