// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/tensor_values.h"

#include <gtest/gtest.h>

#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kValues = 0x10000;

Tensor floats(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
  Tensor tensor;
  tensor.dtype = "float32";
  tensor.item_size = 4;
  tensor.elements = 1;
  for (const std::int64_t size : sizes) tensor.elements *= size;
  tensor.sizes = std::move(sizes);
  tensor.strides = std::move(strides);
  tensor.storage_data = kValues;
  return tensor;
}

TEST(TensorValues, FollowTheStrides) {
  FakeTarget target;
  target.map_bytes(kValues, bytes_of(1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F));
  const TensorValues values = read_values(target, floats({3, 2}, {1, 3}), 4);
  EXPECT_EQ(values.first, (std::vector<std::string>{"1", "4", "2", "5"}));
  EXPECT_EQ(values.read, 6U);
  EXPECT_EQ(values.max, "6");
}

// The end of such an element is 0, which is below the end of everything that was read so far.
TEST(TensorValues, EndWhereAnElementLiesAtTheEndOfAllAddresses) {
  FakeTarget target;
  target.map_bytes(kValues, bytes_of(1.0F, 2.0F));
  const std::int64_t to_the_end = -static_cast<std::int64_t>(kValues + 4) / 4;
  const TensorValues values = read_values(target, floats({2}, {to_the_end}), 2);
  EXPECT_EQ(values.first, (std::vector<std::string>{"1"}));
  EXPECT_EQ(values.read, 1U);
}

// As addresses do: 2^62 elements of four bytes lead back to the first.
TEST(TensorValues, LetOffsetsWrap) {
  FakeTarget target;
  target.map_bytes(kValues, bytes_of(1.5F));
  const TensorValues values = read_values(target, floats({3}, {std::int64_t{1} << 62}), 3);
  EXPECT_EQ(values.first, (std::vector<std::string>{"1.5", "1.5", "1.5"}));
}

}  // namespace
}  // namespace aotidbg
