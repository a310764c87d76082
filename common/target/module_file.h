// SPDX-License-Identifier: BSD-3-Clause
//
// A file of the examined process, opened on this machine. Only regular files are opened
// (NT_FILE lists devices too), never with a blocking open, and they are read with pread, not
// mapped: a file that shrinks under a mapping would kill the debugger with SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/target/result.h"

namespace aotidbg {

class ModuleFile {
 public:
  static Result<std::shared_ptr<const ModuleFile>> open(const std::string& path);
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;
  ~ModuleFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }  // owned by this object
  std::uint64_t size() const { return size_; }    // when it was opened; it may have shrunk since

  // All of `out` from `offset`, or an error that says that the file is too short now.
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;

  // The GNU build id (NT_GNU_BUILD_ID note, elf.h), lower-case hex; empty when there is none.
  Result<std::string> build_id() const;

 private:
  ModuleFile(std::string path, int descriptor, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  std::string path_;
  int descriptor_;
  std::uint64_t size_;
};

}  // namespace aotidbg
