// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/link_map.h"

#include <gtest/gtest.h>

#include "common/target/elf_core.h"
#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kProgram = 0x550000000000;
constexpr Address kLibrary = 0x7f0000000000;
constexpr Address kList = 0x7f1000000000;

// A program with PT_PHDR and PT_DYNAMIC, and the loader's list of it and one library.
class LinkMapTest : public testing::Test {
 protected:
  LinkMapTest() {
    target_.map(kProgram, 0x1000, "rw-");
    target_.map(kList, 0x1000, "rw-");
    target_.poke(kProgram + 64, Elf64_Phdr{PT_PHDR, PF_R, 64, 64, 64, 112, 112, 8});
    target_.poke(kProgram + 64 + 56, Elf64_Phdr{PT_DYNAMIC, PF_R, 0x400, 0x400, 0x400, 32, 32, 8});
    target_.poke(kProgram + 0x400, Elf64_Dyn{DT_DEBUG, {kList}});
    target_.poke(kList + 8, kList + 0x100);  // r_map
    entry(kList + 0x100, kProgram, kList + 0x800, kList + 0x200);
    entry(kList + 0x200, kLibrary, kList + 0x810, 0);
    target_.poke_string(kList + 0x810, "/opt/lib.so");
    auxiliary_.program_headers = kProgram + 64;
    auxiliary_.program_header_count = 2;
  }
  void entry(Address at, Address bias, Address name, Address next) {
    target_.poke(at, bias);
    target_.poke(at + 8, name);
    target_.poke(at + 24, next);
  }
  FakeTarget target_;
  AuxiliaryVector auxiliary_;
};

TEST_F(LinkMapTest, ReadsTheListInItsOrder) {
  const auto map = read_link_map(target_, auxiliary_);
  ASSERT_TRUE(map);
  ASSERT_EQ(map->entries.size(), 2U);
  EXPECT_EQ(map->executable_bias, kProgram);
  EXPECT_EQ(map->entries[0].path, "");
  EXPECT_EQ(map->entries[1].bias, kLibrary);
  EXPECT_EQ(map->entries[1].path, "/opt/lib.so");
  EXPECT_EQ(map->problem, "");
}

TEST_F(LinkMapTest, EndsAListThatTurnsBack) {
  entry(kList + 0x200, kLibrary, kList + 0x810, kList + 0x100);
  const auto map = read_link_map(target_, auxiliary_);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->entries.size(), 2U);
  EXPECT_EQ(map->problem, "the loader's list of libraries turns back on itself at 0x7f1000000100");
}

TEST_F(LinkMapTest, KeepsWhatItReadBeforeAWildPointer) {
  entry(kList + 0x200, kLibrary, 0x10, 0x20);
  const auto map = read_link_map(target_, auxiliary_);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->entries.size(), 2U);
  EXPECT_EQ(map->entries[1].path, "");
  EXPECT_NE(map->problem.find("0x20"), std::string::npos);
}

TEST_F(LinkMapTest, SaysWhyThereIsNoList) {
  target_.poke(kProgram + 0x400, Elf64_Dyn{DT_NULL, {0}});
  EXPECT_NE(read_link_map(target_, auxiliary_).error().what.find("DT_DEBUG"), std::string::npos);
  auxiliary_.program_header_count = 1;
  EXPECT_NE(read_link_map(target_, auxiliary_).error().what.find("static"), std::string::npos);
  auxiliary_.program_header_count = 1U << 30;
  EXPECT_NE(read_link_map(target_, auxiliary_).error().what.find("AT_PHDR"), std::string::npos);
}

TEST_F(LinkMapTest, GivesACoreWithoutFileListItsModules) {
  TempFolder folder;
  const auto library = small_library("c0ffee", std::byte{0x90});
  write_file(folder / "lib.so", library);
  target_.poke_string(kList + 0x810, folder / "lib.so");
  const std::span<const std::byte> bytes(library);
  CoreBuilder()
      .thread(7)
      .auxiliary({{AT_PHDR, kProgram + 64}, {AT_PHNUM, 2}})
      .region(kProgram, target_.read_bytes(kProgram, 0x1000).value())
      .region(kList, target_.read_bytes(kList, 0x1000).value())
      .region(kLibrary, bytes.first(0x1000), "r--")
      .region(kLibrary + 0x1000, {}, "r-x", 0x1000)
      .region(kLibrary + 0x2000, bytes.subspan(0x2000), "rw-", 0x2000)
      .write(folder / "core");
  const auto core = open_core(folder / "core", {});
  ASSERT_TRUE(core);
  ASSERT_EQ((*core)->modules().size(), 1U);
  EXPECT_EQ((*core)->modules()[0].path, folder / "lib.so");
  EXPECT_EQ((*core)->modules()[0].build_id, "c0ffee");
  EXPECT_EQ((*core)->region_at(kLibrary + 0x1000)->path, folder / "lib.so");
  EXPECT_EQ((*core)->region_at(kLibrary + 0x1000)->file_offset, 0x1000U);
  EXPECT_EQ((*core)->read_value<std::uint8_t>(kLibrary + 0x1000).value(), 0x90);
}

}  // namespace
}  // namespace aotidbg
