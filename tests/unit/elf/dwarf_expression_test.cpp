// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/dwarf_expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

class Expression : public testing::Test {
 protected:
  Result<std::uint64_t> run(std::initializer_list<int> code,
                            std::optional<std::uint64_t> initial = std::nullopt) {
    std::vector<std::byte> bytes;
    for (const int byte : code) bytes.push_back(static_cast<std::byte>(byte));
    ExpressionContext context;
    context.memory = &target_;
    context.register_value = [](std::uint64_t number) -> std::optional<std::uint64_t> {
      if (number == 7) return 0x1008;
      if (number == 16) return 0x401b;
      return std::nullopt;
    };
    return evaluate_expression(bytes, context, initial);
  }
  FakeTarget target_;
};

// What every PLT has: rsp + 8, and 8 more from the stub's 11th byte on.
TEST_F(Expression, FindsTheFrameOfAPltStub) {
  const auto value = run({DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
                          DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus});
  EXPECT_EQ(value.value(), 0x1008U + 8 + 8);
}

TEST_F(Expression, ReadsMemoryThroughTheInitialValue) {
  target_.map(0x2000, 0x100);
  target_.poke(0x2010, std::uint64_t{0x1122334455667788});
  EXPECT_EQ(run({DW_OP_plus_uconst, 0x10, DW_OP_deref}, 0x2000).value(), 0x1122334455667788U);
  EXPECT_EQ(run({DW_OP_plus_uconst, 0x10, DW_OP_deref_size, 2}, 0x2000).value(), 0x7788U);
  EXPECT_FALSE(run({DW_OP_deref}, 0x3000).has_value());
}

TEST_F(Expression, SignedArithmeticIsSigned) {
  EXPECT_EQ(run({DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_lt}).value(), 1U);
  EXPECT_EQ(run({DW_OP_const1s, 0xf0, DW_OP_lit2, DW_OP_shra}).value(), ~std::uint64_t{3});
  EXPECT_EQ(run({DW_OP_consts, 0x7f, DW_OP_abs}).value(), 1U);
}

TEST_F(Expression, DamageIsAnError) {
  EXPECT_FALSE(run({}).has_value());
  EXPECT_FALSE(run({DW_OP_plus}).has_value());
  EXPECT_FALSE(run({DW_OP_const8u, 1, 2}).has_value());
  EXPECT_FALSE(run({DW_OP_pick, 9}, 1).has_value());
  EXPECT_FALSE(run({DW_OP_breg0, 0}).has_value());  // a register that is not known
  EXPECT_FALSE(run({DW_OP_call_frame_cfa}).has_value());
  EXPECT_FALSE(run({DW_OP_skip, 0x00, 0x7f}, 1).has_value());  // out of the expression
  EXPECT_FALSE(run({DW_OP_deref_size, 9}, 0x2000).has_value());
}

TEST_F(Expression, LoopsEnd) {
  EXPECT_FALSE(run({DW_OP_skip, 0xfd, 0xff}, 1).has_value());
  EXPECT_FALSE(run({DW_OP_dup, DW_OP_skip, 0xfc, 0xff}, 1).has_value());
}

}  // namespace
}  // namespace aotidbg
