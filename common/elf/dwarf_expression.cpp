// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/dwarf_expression.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <vector>

#include "common/elf/byte_cursor.h"

namespace aotidbg {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostOperations = 1000;  // DW_OP_bra may go backwards

class Evaluation {
 public:
  Evaluation(std::span<const std::byte> expression, const ExpressionContext& context)
      : cursor_(expression), context_(context) {}

  Result<std::uint64_t> run(std::optional<std::uint64_t> initial) {
    if (initial) push(*initial);
    for (std::size_t done = 0; !cursor_.at_end(); ++done) {
      if (done == kMostOperations) return fail("a frame's DWARF expression does not end");
      if (auto stepped = step(cursor_.u8()); !stepped) return tl::unexpected(stepped.error());
      if (!good_ || !cursor_.good()) return fail("a frame's DWARF expression is damaged");
    }
    const std::uint64_t value = pop();
    if (!good_ || !cursor_.good()) return fail("a frame's DWARF expression is damaged");
    return value;
  }

 private:
  void push(std::uint64_t value) {
    if (stack_.size() == kDeepest) {
      good_ = false;
    } else {
      stack_.push_back(value);
    }
  }

  std::uint64_t pop() {
    if (stack_.empty()) {
      good_ = false;
      return 0;
    }
    const std::uint64_t value = stack_.back();
    stack_.pop_back();
    return value;
  }

  std::uint64_t pick(std::size_t depth) {
    if (depth >= stack_.size()) {
      good_ = false;
      return 0;
    }
    return stack_[stack_.size() - 1 - depth];
  }

  Result<void> push_register(std::uint64_t number, std::int64_t offset) {
    const auto value = context_.register_value(number);
    if (!value) return fail(fmt::format("DWARF register {} is not known in this frame", number));
    push(*value + static_cast<std::uint64_t>(offset));
    return {};
  }

  Result<void> dereference(std::size_t size) {
    std::uint64_t value = 0;
    const Address at = pop();
    if (!good_ || size == 0 || size > sizeof(value)) {
      good_ = false;
      return {};
    }
    auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(size);
    if (auto done = context_.memory->read(at, bytes); !done) return done;
    push(value);
    return {};
  }

  template <class Operation>
  void binary(const Operation& operation) {
    const std::uint64_t right = pop();
    const std::uint64_t left = pop();
    push(operation(left, right));
  }

  template <class Compare>
  void compare(const Compare& holds) {
    binary([&](std::uint64_t left, std::uint64_t right) -> std::uint64_t {
      return holds(static_cast<std::int64_t>(left), static_cast<std::int64_t>(right)) ? 1 : 0;
    });
  }

  Result<void> step(std::uint8_t op) {
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
      push(op - std::uint64_t{DW_OP_lit0});
      return {};
    }
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
      return push_register(op - std::uint64_t{DW_OP_breg0}, cursor_.sleb());
    }
    if (constant(op) || arrange(op) || calculate(op)) return {};
    switch (op) {
      case DW_OP_bregx: {
        const std::uint64_t number = cursor_.uleb();
        return push_register(number, cursor_.sleb());
      }
      case DW_OP_deref:
        return dereference(8);
      case DW_OP_deref_size:
        return dereference(cursor_.u8());
      case DW_OP_skip:
        cursor_.jump(cursor_.number<std::int16_t>());
        return {};
      case DW_OP_bra: {
        const auto distance = cursor_.number<std::int16_t>();
        if (pop() != 0) cursor_.jump(distance);
        return {};
      }
      case DW_OP_nop:
        return {};
      default:
        return fail(fmt::format("a frame's DWARF expression uses operation {:#x}", op));
    }
  }

  bool constant(std::uint8_t op) {
    const auto push_signed = [this](std::int64_t value) {
      push(static_cast<std::uint64_t>(value));
    };
    switch (op) {
      case DW_OP_addr:
      case DW_OP_const8u:
      case DW_OP_const8s:
        push(cursor_.number<std::uint64_t>());
        return true;
      case DW_OP_const1u:
        push(cursor_.u8());
        return true;
      case DW_OP_const1s:
        push_signed(cursor_.number<std::int8_t>());
        return true;
      case DW_OP_const2u:
        push(cursor_.number<std::uint16_t>());
        return true;
      case DW_OP_const2s:
        push_signed(cursor_.number<std::int16_t>());
        return true;
      case DW_OP_const4u:
        push(cursor_.number<std::uint32_t>());
        return true;
      case DW_OP_const4s:
        push_signed(cursor_.number<std::int32_t>());
        return true;
      case DW_OP_constu:
        push(cursor_.uleb());
        return true;
      case DW_OP_consts:
        push_signed(cursor_.sleb());
        return true;
      default:
        return false;
    }
  }

  bool arrange(std::uint8_t op) {
    switch (op) {
      case DW_OP_dup:
        push(pick(0));
        return true;
      case DW_OP_over:
        push(pick(1));
        return true;
      case DW_OP_pick:
        push(pick(cursor_.u8()));
        return true;
      case DW_OP_drop:
        pop();
        return true;
      case DW_OP_swap: {
        const std::uint64_t top = pop();
        const std::uint64_t second = pop();
        push(top);
        push(second);
        return true;
      }
      case DW_OP_rot: {
        const std::uint64_t top = pop();
        const std::uint64_t second = pop();
        const std::uint64_t third = pop();
        push(top);
        push(third);
        push(second);
        return true;
      }
      default:
        return false;
    }
  }

  bool calculate(std::uint8_t op) {
    using U = std::uint64_t;
    using S = std::int64_t;
    switch (op) {
      case DW_OP_plus_uconst:
        push(pop() + cursor_.uleb());
        return true;
      case DW_OP_neg:
        push(U{0} - pop());
        return true;
      case DW_OP_not:
        push(~pop());
        return true;
      case DW_OP_abs: {
        const U value = pop();
        push(static_cast<S>(value) < 0 ? U{0} - value : value);
        return true;
      }
      case DW_OP_plus:
        binary([](U l, U r) { return l + r; });
        return true;
      case DW_OP_minus:
        binary([](U l, U r) { return l - r; });
        return true;
      case DW_OP_mul:
        binary([](U l, U r) { return l * r; });
        return true;
      case DW_OP_and:
        binary([](U l, U r) { return l & r; });
        return true;
      case DW_OP_or:
        binary([](U l, U r) { return l | r; });
        return true;
      case DW_OP_xor:
        binary([](U l, U r) { return l ^ r; });
        return true;
      case DW_OP_shl:
        binary([](U l, U r) { return r < 64 ? l << r : U{0}; });
        return true;
      case DW_OP_shr:
        binary([](U l, U r) { return r < 64 ? l >> r : U{0}; });
        return true;
      case DW_OP_shra:
        binary([](U l, U r) { return static_cast<U>(static_cast<S>(l) >> (r < 64 ? r : 63)); });
        return true;
      case DW_OP_eq:
        compare([](S l, S r) { return l == r; });
        return true;
      case DW_OP_ne:
        compare([](S l, S r) { return l != r; });
        return true;
      case DW_OP_lt:
        compare([](S l, S r) { return l < r; });
        return true;
      case DW_OP_le:
        compare([](S l, S r) { return l <= r; });
        return true;
      case DW_OP_gt:
        compare([](S l, S r) { return l > r; });
        return true;
      case DW_OP_ge:
        compare([](S l, S r) { return l >= r; });
        return true;
      default:
        return false;
    }
  }

  ByteCursor cursor_;
  const ExpressionContext& context_;
  std::vector<std::uint64_t> stack_;
  bool good_ = true;
};

}  // namespace

Result<std::uint64_t> evaluate_expression(std::span<const std::byte> expression,
                                          const ExpressionContext& context,
                                          std::optional<std::uint64_t> initial) {
  return Evaluation(expression, context).run(initial);
}

}  // namespace aotidbg
