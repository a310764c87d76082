// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the call frame instructions of a function up to an address (DWARF 5, section 6.4.2).
#pragma once

#include "common/elf/byte_cursor.h"
#include "common/elf/call_frames.h"

namespace aotidbg {

class FrameProgram {
 public:
  // Fills the rules of `row` with those that hold at `pc`, which lies in the row's function.
  static Result<void> run(FrameRow& row, Address pc);

 private:
  struct Rules {
    FrameRule cfa;
    std::array<FrameRule, FrameRow::kRegisters> registers;
  };

  FrameProgram(const FrameRow& row, Address pc)
      : factors_(row.factors_), location_(row.function_start()), pc_(pc) {}

  // False when an instruction is unknown or cut short.
  bool execute(std::span<const std::byte> program);
  bool extended(std::uint8_t op, ByteCursor& cursor);
  bool set_rule(std::uint8_t op, ByteCursor& cursor);
  bool set_cfa(std::uint8_t op, ByteCursor& cursor);
  void advance(std::uint64_t delta);
  void set(std::uint64_t number, const FrameRule& rule);
  std::int64_t scaled(std::uint64_t value) const;
  std::int64_t scaled(std::int64_t value) const;

  FrameFactors factors_;
  Address location_;
  Address pc_;
  bool reached_ = false;  // the next row starts behind `pc`
  Rules rules_;
  Rules initial_;  // after the common part: what DW_CFA_restore goes back to
  std::vector<Rules> remembered_;
};

}  // namespace aotidbg
