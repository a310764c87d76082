// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the C++ compiler on a probe.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/target/result.h"

namespace aotidbg::layoutgen {

// A folder under $TMPDIR that goes away with the object.
class ScratchFolder {
 public:
  static Result<ScratchFolder> create();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

struct Compiler {
  std::string program = "g++";
  std::string standard = "c++20";
  std::filesystem::path torch_include;
  std::filesystem::path sources;  // tools/layoutgen: probes/ and stubs/
  bool cxx11_string = true;

  // First line of what the compiler says about itself.
  Result<std::string> version(const ScratchFolder& scratch) const;

  // Compiles probes/NAME.cpp into a shared object with debug information and returns its path. The
  // error holds the compiler's first complaint.
  Result<std::filesystem::path> compile(const std::string& probe,
                                        const std::vector<std::string>& macros,
                                        const ScratchFolder& scratch) const;
};

}  // namespace aotidbg::layoutgen
