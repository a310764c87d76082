// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/module_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

TEST(ModuleFile, ReadsBytesAndBuildId) {
  TempFolder folder;
  write_file(folder / "a.so", small_library("00ff17", std::byte{0x90}));
  const auto file = ModuleFile::open(folder / "a.so");
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->size(), 0x3000U);
  EXPECT_EQ((*file)->build_id().value(), "00ff17");
  std::array<std::byte, 2> bytes{};
  ASSERT_TRUE((*file)->read(0x1fff, bytes));
  EXPECT_EQ(bytes, (std::array{std::byte{0x90}, std::byte{0xda}}));
}

TEST(ModuleFile, HasNoBuildIdWhereThereIsNoNote) {
  TempFolder folder;
  write_file(folder / "a.so", small_library("", std::byte{0x90}));
  EXPECT_EQ(ModuleFile::open(folder / "a.so").value()->build_id().value(), "");
}

TEST(ModuleFile, RefusesWhatIsNoRegularFile) {
  TempFolder folder;
  EXPECT_EQ(ModuleFile::open("/dev/zero").error().what, "/dev/zero is a device");
  EXPECT_EQ(ModuleFile::open(folder.path()).error().what, folder.path() + " is a directory");
  EXPECT_EQ(ModuleFile::open(folder / "no").error().what, (folder / "no") + " does not exist");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);  // a blocking open would hang here
  EXPECT_EQ(ModuleFile::open(folder / "fifo").error().what, (folder / "fifo") + " is a pipe");
}

TEST(ModuleFile, SaysThatItShrank) {
  TempFolder folder;
  write_file(folder / "a.so", small_library("00ff17", std::byte{0x90}));
  const auto file = ModuleFile::open(folder / "a.so").value();
  ASSERT_EQ(::truncate((folder / "a.so").c_str(), 0x1800), 0);
  std::array<std::byte, 16> bytes{};
  const auto done = file->read(0x1ff0, bytes);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what,
            (folder / "a.so") + " shrank from 12288 to 6144 bytes while it was read");
}

TEST(ModuleFile, RefusesAFileThatWasWrittenTo) {
  TempFolder folder;
  write_file(folder / "a.so", small_library("00ff17", std::byte{0x90}));
  const auto file = ModuleFile::open(folder / "a.so").value();
  const std::array<timespec, 2> later = {{{1'000'000'000, 0}, {1'000'000'000, 5}}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder / "a.so").c_str(), later.data(), 0), 0);
  std::array<std::byte, 16> bytes{};
  const auto done = file->read(0, bytes);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, (folder / "a.so") + " was written to while it was read");
}

TEST(ModuleFile, RefusesTornHeaders) {
  TempFolder folder;
  auto bytes = small_library("00ff17", std::byte{0x90});
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_phnum = 60000;
  std::memcpy(bytes.data(), &header, sizeof(header));
  write_file(folder / "a.so", bytes);
  EXPECT_EQ(ModuleFile::open(folder / "a.so").value()->build_id().error().what,
            "it claims 60000 program headers");
  bytes.resize(40);
  write_file(folder / "b.so", bytes);
  EXPECT_FALSE(ModuleFile::open(folder / "b.so").value()->build_id());
}

}  // namespace
}  // namespace aotidbg
