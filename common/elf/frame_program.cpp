// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/frame_program.h"

#include <dwarf.h>
#include <fmt/format.h>

namespace aotidbg {
namespace {

constexpr std::size_t kDeepestRemembered = 64;
constexpr std::uint8_t kHighBits = 0xc0;

}  // namespace

Result<void> FrameProgram::run(FrameRow& row, Address pc) {
  FrameProgram program(row, pc);
  bool good = program.execute(row.common_program_);
  program.initial_ = program.rules_;
  good = good && program.execute(row.special_program_);
  if (!good || program.rules_.cfa.kind == FrameRule::Kind::unspecified) {
    return fail(fmt::format("the call frame information of the function at {:#x} is damaged",
                            row.function_start()),
                row.function_start());
  }
  row.cfa_ = program.rules_.cfa;
  row.rules_ = program.rules_.registers;
  return {};
}

bool FrameProgram::execute(std::span<const std::byte> bytes) {
  ByteCursor cursor(bytes);
  while (!reached_ && !cursor.at_end()) {
    const std::uint8_t op = cursor.u8();
    const std::uint8_t low = op & static_cast<std::uint8_t>(~kHighBits);
    switch (op & kHighBits) {
      case DW_CFA_advance_loc:
        advance(low);
        break;
      case DW_CFA_offset:
        set(low, {FrameRule::Kind::offset, scaled(cursor.uleb()), 0, {}});
        break;
      case DW_CFA_restore:
        if (low < FrameRow::kRegisters) rules_.registers[low] = initial_.registers[low];
        break;
      default:
        if (!extended(op, cursor)) return false;
        break;
    }
    if (!cursor.good()) return false;
  }
  return true;
}

bool FrameProgram::extended(std::uint8_t op, ByteCursor& cursor) {
  switch (op) {
    case DW_CFA_nop:
      return true;
    case DW_CFA_advance_loc1:
      advance(cursor.u8());
      return true;
    case DW_CFA_advance_loc2:
      advance(cursor.number<std::uint16_t>());
      return true;
    case DW_CFA_advance_loc4:
      advance(cursor.number<std::uint32_t>());
      return true;
    case DW_CFA_remember_state:
      if (remembered_.size() == kDeepestRemembered) return false;
      remembered_.push_back(rules_);
      return true;
    case DW_CFA_restore_state:
      if (remembered_.empty()) return false;
      rules_ = remembered_.back();
      remembered_.pop_back();
      return true;
    case DW_CFA_GNU_args_size:
      (void)cursor.uleb();
      return true;
    default:
      return set_cfa(op, cursor) || set_rule(op, cursor);
  }
}

bool FrameProgram::set_cfa(std::uint8_t op, ByteCursor& cursor) {
  FrameRule& cfa = rules_.cfa;
  switch (op) {
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf: {
      const std::uint64_t number = cursor.uleb();
      const std::int64_t offset =
          op == DW_CFA_def_cfa ? static_cast<std::int64_t>(cursor.uleb()) : scaled(cursor.sleb());
      cfa = {FrameRule::Kind::in_register, offset, number, {}};
      return true;
    }
    case DW_CFA_def_cfa_register:
      cfa.number = cursor.uleb();
      return cfa.kind == FrameRule::Kind::in_register;
    case DW_CFA_def_cfa_offset:
      cfa.offset = static_cast<std::int64_t>(cursor.uleb());
      return cfa.kind == FrameRule::Kind::in_register;
    case DW_CFA_def_cfa_offset_sf:
      cfa.offset = scaled(cursor.sleb());
      return cfa.kind == FrameRule::Kind::in_register;
    case DW_CFA_def_cfa_expression:
      cfa = {FrameRule::Kind::val_expression, 0, 0, cursor.take(cursor.uleb())};
      return true;
    default:
      return false;
  }
}

bool FrameProgram::set_rule(std::uint8_t op, ByteCursor& cursor) {
  using Kind = FrameRule::Kind;
  const std::uint64_t number = cursor.uleb();
  switch (op) {
    case DW_CFA_offset_extended:
      set(number, {Kind::offset, scaled(cursor.uleb()), 0, {}});
      return true;
    case DW_CFA_offset_extended_sf:
      set(number, {Kind::offset, scaled(cursor.sleb()), 0, {}});
      return true;
    case DW_CFA_GNU_negative_offset_extended:
      set(number, {Kind::offset, scaled(std::uint64_t{0} - cursor.uleb()), 0, {}});
      return true;
    case DW_CFA_val_offset:
      set(number, {Kind::val_offset, scaled(cursor.uleb()), 0, {}});
      return true;
    case DW_CFA_val_offset_sf:
      set(number, {Kind::val_offset, scaled(cursor.sleb()), 0, {}});
      return true;
    case DW_CFA_restore_extended:
      if (number < FrameRow::kRegisters) rules_.registers[number] = initial_.registers[number];
      return true;
    case DW_CFA_undefined:
      set(number, {Kind::undefined, 0, 0, {}});
      return true;
    case DW_CFA_same_value:
      set(number, {Kind::same_value, 0, 0, {}});
      return true;
    case DW_CFA_register:
      set(number, {Kind::in_register, 0, cursor.uleb(), {}});
      return true;
    case DW_CFA_expression:
      set(number, {Kind::expression, 0, 0, cursor.take(cursor.uleb())});
      return true;
    case DW_CFA_val_expression:
      set(number, {Kind::val_expression, 0, 0, cursor.take(cursor.uleb())});
      return true;
    default:
      return false;
  }
}

// Rules hold from their location on, so the program is over when the next one lies behind `pc`.
void FrameProgram::advance(std::uint64_t delta) {
  const std::uint64_t room = pc_ - location_;
  const std::uint64_t factor = factors_.code;
  if (factor != 0 && delta > room / factor) {
    reached_ = true;
  } else {
    location_ += delta * factor;
  }
}

void FrameProgram::set(std::uint64_t number, const FrameRule& rule) {
  // Vector registers and what else has a number are of no use to a stack.
  if (number < FrameRow::kRegisters) rules_.registers[number] = rule;
}

std::int64_t FrameProgram::scaled(std::uint64_t value) const {
  return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(factors_.data));
}

std::int64_t FrameProgram::scaled(std::int64_t value) const {
  return scaled(static_cast<std::uint64_t>(value));
}

}  // namespace aotidbg
