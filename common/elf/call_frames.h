// SPDX-License-Identifier: BSD-3-Clause
//
// Call frame information of a module (.eh_frame): for an address, how to find the caller's
// registers. Read through the module's image, so that neither a file nor a section table is needed
// where memory holds the bytes (live processes, deleted files, the vdso), and only the few hundred
// bytes that describe one function are read: libtorch has 18 MB of them.
//
// Sources: LSB 5, "Exception Frames" (.eh_frame, .eh_frame_hdr); DWARF 5, section 6.4.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/elf/module_image.h"

namespace aotidbg {

struct FrameRule {
  enum class Kind {
    unspecified,  // nothing is said: the platform's calling convention decides
    undefined,    // cannot be recovered; of the return address: this is the outermost frame
    same_value,
    offset,          // saved at CFA + offset
    val_offset,      // is CFA + offset
    in_register,     // is the value of `number`
    expression,      // saved at the address that `code` yields
    val_expression,  // is what `code` yields
  };
  Kind kind = Kind::unspecified;
  std::int64_t offset = 0;
  std::uint64_t number = 0;
  std::span<const std::byte> code;
};

// What a compiler's frame descriptions scale their numbers by.
struct FrameFactors {
  std::uint64_t code = 1;
  std::int64_t data = 1;
};

// The rules that hold at one address.
class FrameRow {
 public:
  static constexpr std::size_t kRegisters = 17;  // x86-64: 16 general ones and the return address

  FrameRow(FrameRow&&) = default;
  FrameRow& operator=(FrameRow&&) = default;
  FrameRow(const FrameRow&) = delete;
  FrameRow& operator=(const FrameRow&) = delete;

  // Of the CFA itself: in_register (of `number`, plus offset) or val_expression.
  const FrameRule& cfa() const { return cfa_; }
  const FrameRule& rule(std::size_t dwarf_register) const { return rules_[dwarf_register]; }
  std::size_t return_register() const { return return_register_; }
  bool is_signal_frame() const { return is_signal_frame_; }
  Address function_start() const { return start_; }
  Address function_end() const { return end_; }

 private:
  FrameRow() = default;
  friend class CallFrames;
  friend class FrameProgram;
  FrameRule cfa_;
  std::array<FrameRule, kRegisters> rules_;
  std::size_t return_register_ = 16;
  bool is_signal_frame_ = false;
  Address start_ = 0;
  Address end_ = 0;
  // The bytes that programs and `code` point into: moved with the row, never copied.
  std::vector<std::byte> common_;
  std::vector<std::byte> special_;
  std::span<const std::byte> common_program_;
  std::span<const std::byte> special_program_;
  FrameFactors factors_;
};

class CallFrames {
 public:
  // `image` must outlive it.
  explicit CallFrames(const ModuleImage& image) : image_(&image) {}

  // nullopt: the module has no call frame information, or none for this address. An error: it is
  // damaged or cannot be read.
  Result<std::optional<FrameRow>> row_at(Address pc) const;

 private:
  struct Header {
    Address frames = 0;  // .eh_frame
    Address table = 0;   // 0: no search table
    std::uint64_t count = 0;
    Address base = 0;  // what the table's entries are relative to
  };
  struct Entry;

  Result<std::optional<Header>> header() const;
  Result<std::optional<Address>> search(const Header& header, Address pc) const;
  Result<std::optional<Address>> scan(Address frames, Address pc) const;
  Result<std::vector<std::byte>> entry_bytes(Address at) const;
  Result<FrameRow> describe(Address at) const;

  const ModuleImage* image_;
};

}  // namespace aotidbg
