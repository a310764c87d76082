// SPDX-License-Identifier: BSD-3-Clause
//
// The file behind a core: what kind of file it is, and its program headers. A core may have tens
// of gigabytes, most of them holes, so only what is asked for is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/target/elf_image.h"
#include "common/target/result.h"

namespace aotidbg {

class CoreFile {
 public:
  // Refuses what is no x86-64 Linux core with one sentence that says what it is instead.
  // `contents`: the file with the core's bytes where `path` holds them packed; empty: `path`.
  static Result<std::unique_ptr<CoreFile>> open(const std::string& path,
                                                const std::string& contents = {});
  CoreFile(const CoreFile&) = delete;
  CoreFile& operator=(const CoreFile&) = delete;
  ~CoreFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  std::span<const ElfSegment> segments() const { return segments_; }  // PT_LOAD and PT_NOTE only

  // All of `out`, or an error that says at which byte the file ends.
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;

  // The first byte from `offset` on that is no hole; the size of the file when only holes follow.
  std::uint64_t next_data(std::uint64_t offset) const;

 private:
  CoreFile() = default;
  Result<void> read_headers();

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::vector<ElfSegment> segments_;
};

}  // namespace aotidbg
