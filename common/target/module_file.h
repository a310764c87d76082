// SPDX-License-Identifier: BSD-3-Clause
//
// A file of the examined process, opened on this machine. Only regular files are opened
// (NT_FILE lists devices too), never with a blocking open, and they are read with pread, not
// mapped: a file that shrinks under a mapping would kill the debugger with SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
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

  // What tells two files apart on one machine (stat(2)).
  std::uint64_t device() const { return device_; }
  std::uint64_t inode() const { return inode_; }

  // All of `out` from `offset`, or an error: the file ends before, it shrank, or it was written to
  // since it was opened (then what was proven about it no longer holds).
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;

  // The GNU build id (NT_GNU_BUILD_ID note, elf.h), lower-case hex; empty when there is none. An
  // error when the file is no 64-bit ELF file or its notes cannot be read.
  Result<std::string> build_id() const;

 private:
  ModuleFile() = default;
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::timespec modified_{};
};

}  // namespace aotidbg
