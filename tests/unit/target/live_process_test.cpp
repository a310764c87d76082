// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/live_process.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/target/proc_maps.h"

namespace aotidbg {
namespace {

TEST(ProcMaps, ReadsEveryFieldOfALine) {
  const auto maps = parse_maps(
      "7f00-8f00 r-xp 00012000 fe:01 1234567                    /tmp/a b\\012c.so (deleted)\n"
      "9000-a000 ---s 00000000 00:00 0 \n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n");
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0].region.start, 0x7f00U);
  EXPECT_EQ(maps[0].region.end, 0x8f00U);
  EXPECT_TRUE(maps[0].region.readable && maps[0].region.executable && !maps[0].region.writable);
  EXPECT_EQ(maps[0].region.file_offset, 0x12000U);
  EXPECT_EQ(maps[0].device, makedev(0xfe, 1));
  EXPECT_EQ(maps[0].inode, 1234567U);
  EXPECT_EQ(maps[0].region.path, "/tmp/a b\nc.so (deleted)");
  EXPECT_EQ(maps[0].region.dumped, 0x1000U);
  EXPECT_TRUE(maps[1].shared);
  EXPECT_EQ(maps[1].region.path, "");
  EXPECT_EQ(maps[1].region.dumped, 0U);
  EXPECT_EQ(maps[2].region.path, "[vsyscall]");
}

TEST(ProcMaps, LeavesOutTornAndOverlappingLines) {
  const auto maps = parse_maps(
      "junk\n\n1000-2000\n2000-1000 rw-p 0 0:0 0\n1000-2000 rw-p 0 00:00 0\n"
      "1800-3000 rw-p 0 00:00 0\n3000-4000 rw-p 0 00:00 0\n5000-6000 rw-p 0 00:0");
  ASSERT_EQ(maps.size(), 2U);
  EXPECT_EQ(maps[1].region.start, 0x3000U);
}

TEST(LiveProcess, ReadsThisProcess) {
  static volatile std::uint64_t value = 0x1122334455667788;
  StoppedThreads threads;
  threads.threads.push_back({::getpid(), {}, {}, {}});
  threads.stopped_thread = ::getpid();
  const auto opened = open_live_process(::getpid(), threads, {});
  ASSERT_TRUE(opened) << opened.error().what;
  Target& target = **opened;
  const auto at = reinterpret_cast<Address>(&value);
  EXPECT_EQ(target.read_value<std::uint64_t>(at).value(), value);
  const Module* self = target.module_at(at);
  ASSERT_NE(self, nullptr);
  EXPECT_EQ(self->name(), "target_test");
  EXPECT_EQ(self->path, target.process().executable);
  ASSERT_TRUE(self->file);
  EXPECT_FALSE(self->file_assumed);
  EXPECT_EQ(self->file->build_id().value(), self->build_id);
  EXPECT_EQ(target.process().kind, TargetKind::live);
  EXPECT_FALSE(target.process().arguments.empty());
  EXPECT_NE(target.threads()[0].name, "");
  bool has_vdso = false;
  for (const Module& module : target.modules()) has_vdso |= module.path == "[vdso]";
  EXPECT_TRUE(has_vdso);
}

TEST(LiveProcess, ErrsOnEveryRangeThatCannotBeReadAndNeverHangs) {
  void* guard = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto opened = open_live_process(::getpid(), {}, {});
  ASSERT_TRUE(opened);
  const auto read = (*opened)->read_value<int>(reinterpret_cast<Address>(guard));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("without the right to read it"), std::string::npos);
  ::munmap(guard, 4096);
  EXPECT_EQ((*opened)->read_value<int>(0x10).error().what, "0x10 is not mapped");
  for (const Region& region : (*opened)->regions()) {
    if (region.path == "[vvar]") {
      EXPECT_FALSE((*opened)->read_bytes(region.start, 4096));
    }
    (void)(*opened)->read_value<char>(region.end - 1);
  }
}

TEST(LiveProcess, SaysThatTheProcessHasEnded) {
  static volatile int value = 5;
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto opened = open_live_process(child, {}, {});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->read_value<int>(reinterpret_cast<Address>(&value)).value(), 5);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::vector<std::byte> large(4096);
  const auto read = (*opened)->read(reinterpret_cast<Address>(&value) & ~Address{4095}, large);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("has ended"), std::string::npos);
  EXPECT_EQ(open_live_process(child, {}, {}).error().what,
            "there is no process " + std::to_string(child) + " on this machine");
}

}  // namespace
}  // namespace aotidbg
