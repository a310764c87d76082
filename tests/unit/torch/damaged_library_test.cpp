// SPDX-License-Identifier: BSD-3-Clause
//
// Libraries in memory whose tables claim what is not there.
#include <gtest/gtest.h>

#include "common/elf/symbols.h"
#include "tests/support/model_image.h"

namespace aotidbg {
namespace {

constexpr Address kBias = 0x7f0000000000;
constexpr std::uint64_t kHash = 0x400;  // where map_library writes it: buckets come first

TEST(DamagedLibrary, NamesItsSymbolsWhileItIsWhole) {
  FakeTarget target;
  const Module& library = map_library(target, "/lib/whole.so", kBias, 0x10000,
                                      {{"cpp_fused_0", 0x4000}, {"cpp_fused_1", 0x4100}});
  EXPECT_EQ(symbols_with_prefix(target, library, "cpp_").size(), 2U);
}

// A hash table may be as large as its module says to be, and both may be wrong: nothing of that
// size is made before the first of it was read.
TEST(DamagedLibrary, ClaimsMoreBucketsThanMemoryHolds) {
  FakeTarget target;
  Module& library =
      map_library(target, "/lib/damaged.so", kBias, 0x10000, {{"cpp_fused_0", 0x4000}});
  library.end = kBias + (std::uint64_t{1} << 40);
  target.poke(kBias + kHash, std::uint32_t{1} << 29);
  EXPECT_TRUE(symbols_with_prefix(target, library, "cpp_").empty());
  EXPECT_LT(target.bytes_read(), 1U << 20);
}

}  // namespace
}  // namespace aotidbg
