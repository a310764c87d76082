// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/index_search.h"

#include <gtest/gtest.h>

#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kWeight = 0x10000000;
constexpr Address kIndices = 0x20000000;

class IndexSearchTest : public testing::Test {
 public:
  IndexSearchTest() {
    KnownTensor weight;
    weight.name = "weight";
    weight.data = kWeight;
    weight.item_size = 4;
    weight.sizes = {1000, 64};
    weight.strides = {64, 1};
    weight.bytes = 256000;
    KnownTensor indices;
    indices.kind = KnownTensor::Kind::input;
    indices.name = "indices";
    indices.dtype = "int64";
    indices.data = kIndices;
    indices.item_size = 8;
    indices.sizes = {8};
    indices.strides = {1};
    indices.bytes = 64;
    known = {weight, indices};
    target.map(kIndices, 0x1000, "rw-");
  }
  IndexSearch search(Address address) {
    const std::vector<const KnownTensor*> owners = {&known[0]};
    return search_index(target, owners, known, address);
  }
  void put(std::size_t position, std::int64_t value) {
    target.poke(kIndices + position * 8, value);
  }

  FakeTarget target;
  std::vector<KnownTensor> known;
};

TEST_F(IndexSearchTest, FindsTheRowThatLeadsToTheAddress) {
  put(3, 1LL << 33);
  const auto found = search(kWeight + (1ULL << 33) * 256 + 32);
  ASSERT_TRUE(found.match);
  EXPECT_EQ(found.match->value, 1LL << 33);
  EXPECT_EQ(found.match->dimension, 0U);
  EXPECT_EQ(found.match->position, std::vector<std::int64_t>{3});
  EXPECT_EQ(found.match->element, (std::vector<std::int64_t>{1LL << 33, 8}));
  EXPECT_EQ(found.match->others, 0U);
  EXPECT_FALSE(found.partial);
}

TEST_F(IndexSearchTest, FindsAnIndexWhoseProductWraps) {
  put(0, 1LL << 45);
  const auto found = search(kWeight + ((1ULL << 45) * 256));
  ASSERT_TRUE(found.match);
  EXPECT_EQ(found.match->value, 1LL << 45);
}

TEST_F(IndexSearchTest, FindsANegativeIndexThatCountsFromTheEnd) {
  put(5, -5000);
  const auto found = search(kWeight - (5000 - 1000) * 256);
  ASSERT_TRUE(found.match);
  EXPECT_EQ(found.match->value, -5000);
}

// Tables lie one after the other in the constants' blob: the same address is a negative row of the
// second, and a row of the first that is counted from its end.
TEST_F(IndexSearchTest, TakesANegativeIndexAsItIsBeforeCountingFromTheEnd) {
  KnownTensor second = known[0];
  second.name = "second";
  second.data = known[0].end();
  put(5, -(1LL << 36));
  const std::vector<const KnownTensor*> owners = {&known[0], &second};
  const auto found = search_index(target, owners, known, second.data - (1ULL << 36) * 256);
  ASSERT_TRUE(found.match);
  EXPECT_EQ(found.match->owner->name, "second");
  EXPECT_EQ(found.match->element, (std::vector<std::int64_t>{-(1LL << 36), 0}));
}

TEST_F(IndexSearchTest, DoesNotBlameAValidIndex) {
  put(3, 999);
  EXPECT_FALSE(search(kWeight + 999 * 256).match);
}

TEST_F(IndexSearchTest, DoesNotBlameAnInvalidIndexThatLeadsElsewhere) {
  put(3, 5000);
  EXPECT_FALSE(search(kWeight + 6000 * 256).match);
}

TEST_F(IndexSearchTest, CountsOtherValuesThatWouldExplainTheAddress) {
  known[0].strides = {1, 1};  // every element is reached by many indices
  put(0, 2000);
  put(1, 2001);
  const auto found = search(kWeight + 2010 * 4);
  ASSERT_TRUE(found.match);
  EXPECT_EQ(found.match->others, 1U);
}

TEST_F(IndexSearchTest, SaysThatItIsPartialWhenValuesAreMissing) {
  target.forget(kIndices, 8);
  EXPECT_TRUE(search(kWeight + 5000 * 256).partial);
}

TEST_F(IndexSearchTest, ReadsNoMoreThanItsLimitOfAHugeInput) {
  known[1].sizes = {1LL << 40};
  known[1].bytes = 8ULL << 40;
  EXPECT_TRUE(search(kWeight + 5000 * 256).partial);
  EXPECT_LE(target.bytes_read(), kMaxIndexValues * 8);
}

}  // namespace
}  // namespace aotidbg
