// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/gdb_text.h"

#include <gtest/gtest.h>

namespace aotidbg {
namespace {

// As GDB 13.1 prints it.
constexpr std::string_view kFilesOfACore =
    "Symbols from \"/data/run\".\n"
    "Local core dump file:\n"
    "\t`/data/it's here/core', file type elf64-x86-64.\n"
    "\t0x000055602db29000 - 0x000055602db2a000 is load1a\n"
    "Local exec file:\n"
    "\t`/data/run', file type elf64-x86-64.\n";

TEST(InfoFiles, NamesTheCore) { EXPECT_EQ(core_in(kFilesOfACore), "/data/it's here/core"); }

TEST(InfoFiles, NamesTheCoreInNewerQuotes) {
  EXPECT_EQ(core_in("Local core dump file:\n\t'/data/core', file type elf64-x86-64.\n"),
            "/data/core");
}

TEST(InfoFiles, HasNoCoreOfAProcess) {
  EXPECT_EQ(core_in("Native process:\nLocal exec file:\n\t`/data/run', file type elf64.\n"),
            std::nullopt);
  EXPECT_EQ(core_in("Local core dump file:\n"), std::nullopt);
  EXPECT_EQ(core_in("Local core dump file:\n\tnothing\n"), std::nullopt);
  EXPECT_EQ(core_in(""), std::nullopt);
}

TEST(InfoFiles, TellsTheConnection) {
  EXPECT_EQ(connection_in(kFilesOfACore), "core");
  EXPECT_EQ(connection_in("Symbols from \"/a\".\nNative process:\n\tUsing the running\n"),
            "native");
  EXPECT_EQ(connection_in("Symbols from \"/a\".\nRemote target using gdb-specific protocol:\n"),
            "remote");
  EXPECT_EQ(connection_in("Extended remote target using gdb-specific protocol:\n"), "remote");
  EXPECT_EQ(connection_in("Symbols from \"/a\".\nLocal exec file:\n"), "");
}

constexpr std::string_view kMappings =
    "process 25613\n"
    "Mapped address spaces:\n"
    "\n"
    "          Start Addr           End Addr       Size     Offset  Perms  objfile\n"
    "      0x555555554000     0x555555555000     0x1000        0x0  r--p   /tmp/a name/t\n"
    "      0x555555555000     0x555555556000     0x1000     0x1000  r-xp   /tmp/gone (deleted)\n"
    "      0x555555559000     0x55555557a000    0x21000        0x0  rw-p   [heap]\n"
    "      0x7ffff75d1000     0x7ffff75d2000     0x1000        0x0  ---p   \n"
    "      0x7ffff75d1800     0x7ffff75d3000     0x1800        0x0  rw-p   \n"
    "  0xffffffffff600000 0xffffffffff601000     0x1000        0x0  --xp   [vsyscall]\n";

TEST(InfoProcMappings, GivesRegions) {
  const auto regions = mappings_in(kMappings);
  ASSERT_TRUE(regions);
  ASSERT_EQ(regions->size(), 5U);  // the one that overlaps is left out
  const Region& first = (*regions)[0];
  EXPECT_EQ(first.start, 0x555555554000);
  EXPECT_EQ(first.end, 0x555555555000);
  EXPECT_EQ(first.path, "/tmp/a name/t");
  EXPECT_TRUE(first.readable);
  EXPECT_FALSE(first.writable);
  EXPECT_FALSE(first.executable);
  EXPECT_EQ(first.dumped, 0x1000U);
  const Region& second = (*regions)[1];
  EXPECT_EQ(second.file_offset, 0x1000U);
  EXPECT_EQ(second.path, "/tmp/gone (deleted)");
  EXPECT_TRUE(second.executable);
  EXPECT_TRUE((*regions)[2].writable);
  EXPECT_EQ((*regions)[3].path, "");
  EXPECT_EQ((*regions)[3].dumped, 0U);
  EXPECT_EQ((*regions)[4].end, 0xffffffffff601000);
}

TEST(InfoProcMappings, WantsPermissions) {
  const auto old = mappings_in(
      "          Start Addr           End Addr       Size     Offset objfile\n"
      "      0x555555554000     0x555555555000     0x1000        0x0 /tmp/t\n");
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().what.find("without their permissions"), std::string::npos);
}

TEST(InfoProcMappings, SaysWhenThereIsNone) {
  const auto none = mappings_in("warning: unable to open /proc file '/proc/1/maps'\n");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("does not list"), std::string::npos);
}

TEST(InfoProgram, TellsASignalFromABreakpoint) {
  EXPECT_TRUE(stopped_by_signal(
      "Program stopped at 0x55555555518d.\nIt stopped with signal SIGSEGV, Segmentation fault.\n"));
  EXPECT_FALSE(stopped_by_signal("Program stopped at 0x5555.\nIt stopped at breakpoint 1.\n"));
}

TEST(CudaFocus, GivesTheCommandThatGoesBack) {
  EXPECT_EQ(focus_command_in("kernel 0, block (1,0,0), thread (64,0,0)\n"),
            "cuda kernel 0 block (1,0,0) thread (64,0,0)");
  EXPECT_EQ(focus_command_in("Focus not set on any active CUDA kernel.\n"), std::nullopt);
  EXPECT_EQ(focus_command_in("kernel x, block (1,0,0), thread (64,0,0)"), std::nullopt);
  EXPECT_EQ(focus_command_in(""), std::nullopt);
}

}  // namespace
}  // namespace aotidbg
