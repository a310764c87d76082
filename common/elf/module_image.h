// SPDX-License-Identifier: BSD-3-Clause
//
// A module as ld.so mapped it: its program headers, and its bytes by address in the process. Bytes
// come from the target's memory; where that lacks them, from the module's file.
//
// Everything that is derived from an `assumed` file is assumed too: see `used_assumed_file`.
//
// Sources: elf.h; System V gABI, chapters 4 and 5.
#pragma once

#include <elf.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "common/target/elf_image.h"
#include "common/target/target.h"

namespace aotidbg {

class ModuleImage {
 public:
  // Fails when neither memory nor file holds a 64-bit little-endian ELF header with its program
  // headers. `memory` must outlive the image; `module` is copied as far as it is needed.
  static Result<ModuleImage> open(Memory& memory, const Module& module);

  // The first segment of a type (PT_DYNAMIC, PT_GNU_EH_FRAME), or nullptr.
  const ElfSegment* segment(std::uint32_t type) const;

  Address address_of(std::uint64_t file_address) const { return bias_ + file_address; }
  bool contains(Address at) const { return start_ <= at && at < end_; }

  // A pointer found inside the image, which ld.so may have relocated or not, as an address in the
  // process; nullopt when it leads out of the module either way.
  std::optional<Address> resolve(std::uint64_t pointer) const;

  // How many bytes of the module follow `at` (0 outside): the bound of any table that starts there.
  std::uint64_t room(Address at) const { return contains(at) ? end_ - at : 0; }

  // One past the last byte of the segment (PT_LOAD) that holds `at`; nullopt outside of all.
  std::optional<Address> segment_end(Address at) const;

  Result<void> read(Address at, std::span<std::byte> out) const;

  template <class T>
  Result<T> read_value(Address at) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (auto done = read(at, std::as_writable_bytes(std::span(&value, 1))); !done) {
      return tl::unexpected(done.error());
    }
    return value;
  }

  const std::shared_ptr<const ModuleFile>& file() const { return file_; }
  bool used_assumed_file() const { return used_assumed_file_; }

 private:
  ModuleImage() = default;
  Result<void> read_file(Address at, std::span<std::byte> out, const Error& in_memory) const;

  Memory* memory_ = nullptr;
  Address bias_ = 0;
  Address start_ = 0;
  Address end_ = 0;
  std::shared_ptr<const ModuleFile> file_;
  bool file_assumed_ = false;
  mutable bool used_assumed_file_ = false;
  ElfImage image_;
};

}  // namespace aotidbg
