// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/memory.h"

#include <gtest/gtest.h>

#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

TEST(Memory, ReadsATextThatEndsBeforeAMissingPage) {
  FakeTarget target;
  target.map(0x1000, 0x1000);
  target.poke_string(0x1ff8, "emb_w");
  EXPECT_EQ(target.read_c_string(0x1ff8).value(), "emb_w");
}

TEST(Memory, ReadsATextAcrossPages) {
  FakeTarget target;
  target.map(0x1000, 0x2000);
  const std::string text(5000, 'x');
  target.poke_string(0x1010, text);
  EXPECT_EQ(target.read_c_string(0x1010, 6000).value(), text);
}

TEST(Memory, RefusesATextThatDoesNotEnd) {
  FakeTarget target;
  target.map(0x1000, 0x1000);
  target.poke_bytes(0x1000, std::vector<std::byte>(64, std::byte{'a'}));
  const auto text = target.read_c_string(0x1000, 64);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().what, "the text at 0x1000 does not end within 64 bytes");
}

TEST(Memory, NamesTheMissingPageOfATornText) {
  FakeTarget target;
  target.map(0x1000, 0x1000);
  target.poke_bytes(0x1ffe, std::vector<std::byte>(2, std::byte{'a'}));
  const auto text = target.read_c_string(0x1ffe);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().at, Address{0x2000});
}

TEST(Memory, RefusesHugeSizesWithoutAllocating) {
  FakeTarget target;
  const auto bytes = target.read_bytes(0x1000, std::uint64_t{1} << 60);
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().what.find("1152921504606846976 bytes at 0x1000"), std::string::npos);
  EXPECT_EQ(target.reads(), 0U);
}

TEST(Target, FindsTheInnerOfTwoModules) {
  FakeTarget target;
  Module outer;
  outer.path = "/lib/outer.so";
  outer.start = 0x1000;
  outer.end = 0x9000;
  Module inner;
  inner.path = "/lib/inner.so";
  inner.start = 0x3000;
  inner.end = 0x4000;
  target.add_module(inner);
  target.add_module(outer);
  EXPECT_EQ(target.module_at(0x3800)->name(), "inner.so");
  EXPECT_EQ(target.module_at(0x4000)->name(), "outer.so");
  EXPECT_EQ(target.module_at(0x9000), nullptr);
  EXPECT_EQ(target.module_at(0xfff), nullptr);
}

}  // namespace
}  // namespace aotidbg
