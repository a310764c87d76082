// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/owner.h"

#include <gtest/gtest.h>

#include <limits>

namespace aotidbg {
namespace {

KnownTensor tensor(std::string name, Address data, std::vector<std::int64_t> sizes,
                   std::vector<std::int64_t> strides, std::uint64_t item = 4,
                   KnownTensor::Kind kind = KnownTensor::Kind::constant) {
  KnownTensor result;
  result.kind = kind;
  result.name = std::move(name);
  result.data = data;
  result.item_size = item;
  result.dtype = item == 8 ? "int64" : "float32";
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    last += static_cast<std::uint64_t>(sizes[i] - 1) * static_cast<std::uint64_t>(strides[i]);
  }
  result.bytes = (last + 1) * item;
  result.sizes = std::move(sizes);
  result.strides = std::move(strides);
  return result;
}

Fault fault_at(Address address, std::string base_name, std::optional<std::uint64_t> base,
               std::string index_name = "", std::optional<std::uint64_t> index = std::nullopt,
               unsigned scale = 1, Access access = Access::read) {
  MemoryOperand operand;
  operand.access = access;
  operand.base_register = std::move(base_name);
  operand.base = base;
  operand.index_register = std::move(index_name);
  operand.index = index;
  operand.scale = scale;
  operand.size = 32;
  operand.address = address;
  Fault fault;
  fault.operand = operand;
  fault.address = address;
  fault.operand_agrees = true;
  return fault;
}

const std::vector<KnownTensor> kTwo = {tensor("weight", 0x100000, {1000, 64}, {64, 1}),
                                       tensor("x", 0x800000, {16}, {1})};

TEST(Owner, IsTheTensorWhoseFirstByteTheBaseRegisterHolds) {
  const std::uint64_t index = 64ULL << 33;
  const Address address = 0x100000 + index * 4;
  const auto owner = find_owner(fault_at(address, "rsi", 0x100000, "rax", index, 4), kTwo, {});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->tensor->name, "weight");
  EXPECT_EQ(owner->relation, Owner::Relation::past_end);
  EXPECT_EQ(owner->bytes, address - 0x100000 - 256000);
  EXPECT_EQ(owner->index, (std::vector<std::int64_t>{8589934592, 0}));
  EXPECT_TRUE(owner->is_exact());
}

TEST(Owner, MayBeInTheIndexRegisterWhenItIsNotScaled) {
  const auto owner = find_owner(fault_at(0x800000 + 4096, "rax", 4096, "rdi", 0x800000), kTwo, {});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->tensor->name, "x");
  EXPECT_EQ(owner->bytes, 4096U - 64U);
}

TEST(Owner, IsNotTakenFromAScaledIndexRegister) {
  EXPECT_FALSE(find_owner(fault_at(0x4000000, "rax", 0x2000000, "rdi", 0x800000, 4), kTwo, {}));
}

TEST(Owner, StandsBeforeTheStartForANegativeIndex) {
  const auto owner = find_owner(
      fault_at(0x100000 - 256, "rsi", 0x100000, "rax", static_cast<std::uint64_t>(-64), 4), kTwo,
      {});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->relation, Owner::Relation::before_start);
  EXPECT_EQ(owner->bytes, 256U);
  EXPECT_EQ(owner->index, (std::vector<std::int64_t>{-1, 0}));
}

TEST(Owner, IsTheTensorThatTheAddressLiesIn) {
  const auto owner = find_owner(fault_at(0x800010, "rdx", 0x800010), kTwo, {});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->tensor->name, "x");
  EXPECT_EQ(owner->relation, Owner::Relation::inside);
  EXPECT_EQ(owner->bytes, 16U);
}

TEST(Owner, IsOnlyInferredFromWhatTheKernelHoldsWhenTheBaseIsFolded) {
  const Fault fault = fault_at(0x900000, "rdx", 0x900000);
  EXPECT_FALSE(find_owner(fault, kTwo, {}));
  const auto owner = find_owner(fault, kTwo, {0x100000, 0x800000});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->tensor->name, "x");
  EXPECT_FALSE(owner->is_exact());
}

TEST(Owner, OfAFoldedWriteIsNoConstant) {
  const Fault fault = fault_at(0x700000, "rdx", 0x700000, "", std::nullopt, 1, Access::write);
  EXPECT_FALSE(find_owner(fault, kTwo, {0x100000}));
}

TEST(Owner, IsAmbiguousWhereAnotherTensorEndsAtItsStart) {
  const std::vector<KnownTensor> adjacent = {tensor("first", 0x100000, {16}, {1}),
                                             tensor("second", 0x100040, {16}, {1})};
  const auto owner =
      find_owner(fault_at(0x900040, "rsi", 0x100040, "rax", 0x200000, 4), adjacent, {});
  ASSERT_TRUE(owner);
  EXPECT_TRUE(owner->ambiguous);
  EXPECT_FALSE(owner->is_exact());
}

TEST(Owner, IsNotExactWhereAnotherTensorHasTheSameBytes) {
  const std::vector<KnownTensor> alias = {tensor("first", 0x100000, {16}, {1}),
                                          tensor("second", 0x100000, {16}, {1})};
  const auto by_base =
      find_owner(fault_at(0x900000, "rsi", 0x100000, "rax", 0x200000, 4), alias, {});
  ASSERT_TRUE(by_base);
  EXPECT_FALSE(by_base->is_exact());
  const auto inside = find_owner(fault_at(0x100010, "rdx", 0x100010), alias, {});
  ASSERT_TRUE(inside);
  EXPECT_FALSE(inside->is_exact());
}

TEST(Owner, OfAFoldedReadIsAnInputBeforeItIsABuffer) {
  const std::vector<KnownTensor> both = {
      tensor("x", 0x100000, {16}, {1}, 4, KnownTensor::Kind::input),
      tensor("out", 0x800000, {16}, {1}, 4, KnownTensor::Kind::buffer)};
  const auto owner = find_owner(fault_at(0x900000, "rdx", 0x900000), both, {0x100000, 0x800000});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->tensor->name, "x");
}

TEST(Owner, IsNeverANullTensor) {
  const std::vector<KnownTensor> missing = {tensor("missing", 0, {16}, {1})};
  EXPECT_FALSE(find_owner(fault_at(8, "rax", 0, "", std::nullopt), missing, {0}));
}

TEST(ElementAt, FollowsStridesLargestFirst) {
  const KnownTensor transposed = tensor("t", 0x1000, {8, 4}, {1, 8});
  EXPECT_EQ(element_at(transposed, 8 * 3 + 5), (std::vector<std::int64_t>{5, 3}));
}

TEST(ElementAt, GivesNothingWhereStridesReachNoElement) {
  const KnownTensor gaps = tensor("g", 0x1000, {4}, {2});
  EXPECT_FALSE(element_at(gaps, 3));
  const KnownTensor scalar = tensor("s", 0x1000, {}, {});
  EXPECT_FALSE(element_at(scalar, 3));
}

// At the ends of what 64 bits hold, where the product of steps and stride does not fit.
TEST(ElementAt, DividesTheLongestDistances) {
  const auto bytes = tensor("bytes", 0x1000, {4, 3}, {3, 1}, 1);
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(element_at(bytes, kLowest), (std::vector<std::int64_t>{kLowest / 3 - 1, 1}));
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(element_at(bytes, kHighest), (std::vector<std::int64_t>{kHighest / 3, 1}));
}

}  // namespace
}  // namespace aotidbg
