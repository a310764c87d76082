// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/runner.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr std::array<Address, 1> kNeedles = {0x7e0000008010};

TEST(ScanForWords, FindsAWordInEachOfSeveralChunks) {
  FakeTarget target;
  target.map(0x10000, 0x90000);
  target.poke(0x10000, kNeedles[0]);
  target.poke(0x9fff8, kNeedles[0]);
  const ScanResult scan = scan_for_words(target, kNeedles, 1 << 30, {});
  EXPECT_EQ(scan.hits, (std::vector<Address>{0x10000, 0x9fff8}));
  EXPECT_EQ(scan.bytes, 0x90000U);
  EXPECT_TRUE(scan.complete);
}

// One chunk behind its start lies address 0, from where every region seems to lie ahead again.
TEST(ScanForWords, EndsWithTheHighestAddresses) {
  FakeTarget target;
  target.map(0xffffffffffff0000, 0xf000);
  target.poke(0xffffffffffff0008, kNeedles[0]);
  target.interrupt_after(100);  // a scan that goes on is cut short
  const ScanResult scan = scan_for_words(target, kNeedles, 1 << 30, {});
  EXPECT_EQ(scan.hits, (std::vector<Address>{0xffffffffffff0008}));
  EXPECT_TRUE(scan.complete);
}

}  // namespace
}  // namespace aotidbg
