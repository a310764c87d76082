// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include "common/arch/x86_64.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kCode = 0x401000;

// Code that begins where its mapping begins: `padding` nops and then `bytes`.
bool call_before_end(std::vector<unsigned char> bytes, std::size_t padding = 16) {
  bytes.insert(bytes.begin(), padding, 0x90);
  FakeTarget target;
  target.map_bytes(kCode, std::as_bytes(std::span(bytes)), "r-x");
  return follows_call(target, kCode + bytes.size());
}

TEST(FollowsCall, DirectCall) { EXPECT_TRUE(call_before_end({0xe8, 0x5f, 0, 0, 0})); }

TEST(FollowsCall, IndirectCallsOfEveryLength) {
  EXPECT_TRUE(call_before_end({0xff, 0xd0}));                             // call rax
  EXPECT_TRUE(call_before_end({0x41, 0xff, 0xd3}));                       // call r11
  EXPECT_TRUE(call_before_end({0xff, 0x10}));                             // call [rax]
  EXPECT_TRUE(call_before_end({0xff, 0x50, 0x08}));                       // call [rax+8]
  EXPECT_TRUE(call_before_end({0xff, 0x14, 0xc8}));                       // call [rax+rcx*8]
  EXPECT_TRUE(call_before_end({0xff, 0x54, 0x24, 0x10}));                 // call [rsp+16]
  EXPECT_TRUE(call_before_end({0xff, 0x15, 0x00, 0x20, 0, 0}));           // call [rip+0x2000]
  EXPECT_TRUE(call_before_end({0xff, 0x90, 0x98, 0x01, 0, 0}));           // call [rax+0x198]
  EXPECT_TRUE(call_before_end({0xff, 0x94, 0x24, 0x98, 0x01, 0, 0}));     // call [rsp+0x198]
  EXPECT_TRUE(call_before_end({0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0}));  // call fs:[0x10]
}

TEST(FollowsCall, OtherInstructionsAreNone) {
  EXPECT_FALSE(call_before_end({0xc3}));                    // ret
  EXPECT_FALSE(call_before_end({0xff, 0xe0}));              // jmp rax
  EXPECT_FALSE(call_before_end({0xff, 0x70, 0x08}));        // push [rax+8]
  EXPECT_FALSE(call_before_end({0xff, 0x15, 0, 0x20, 0}));  // cut off: one byte is missing
  EXPECT_FALSE(call_before_end({0xe8, 0x5f, 0, 0, 0, 0x90}));
  EXPECT_FALSE(call_before_end({0xe9, 0x5f, 0, 0, 0}));  // jmp
}

TEST(FollowsCall, ReadsOnlyWhatIsThere) {
  EXPECT_TRUE(call_before_end({0xff, 0xd0}, 0));
  EXPECT_TRUE(call_before_end({0xe8, 0x5f, 0, 0, 0}, 0));
  EXPECT_FALSE(call_before_end({0xd0}, 0));
  FakeTarget nothing;
  EXPECT_FALSE(follows_call(nothing, kCode));
  EXPECT_FALSE(follows_call(nothing, 0));
  EXPECT_FALSE(follows_call(nothing, 1));
}

}  // namespace
}  // namespace aotidbg
