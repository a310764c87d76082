// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/elf_core.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

std::vector<std::byte> pages(std::size_t count, std::byte value = std::byte{1}) {
  return std::vector<std::byte>(count * 4096, value);
}

bool mentions(std::span<const Error> gaps, std::string_view text) {
  for (const Error& gap : gaps) {
    if (gap.what.find(text) != std::string::npos) return true;
  }
  return false;
}

class ElfCoreTest : public testing::Test {
 protected:
  std::unique_ptr<Target> open(const CoreBuilder& core) { return open(core.bytes()); }
  std::unique_ptr<Target> open(std::span<const std::byte> bytes) {
    write_file(path_, bytes);
    auto target = open_core(path_, {});
    EXPECT_TRUE(target) << target.error().what;
    return target ? std::move(*target) : std::make_unique<FakeTarget>();
  }
  TempFolder folder_;
  std::string path_ = folder_ / "core";
};

TEST_F(ElfCoreTest, ReadsThreadsInOrderWithTheirRegisters) {
  const auto core =
      open(CoreBuilder().thread(70, {{16, 0x401000}, {19, 0x7ffe0000}}).thread(71, {{0, 15}}));
  ASSERT_EQ(core->threads().size(), 2U);
  EXPECT_EQ(core->threads()[0].id, 70);
  EXPECT_EQ(core->threads()[0].registers.get(16), 0x401000U);
  EXPECT_EQ(core->threads()[0].registers.get(19), 0x7ffe0000U);
  EXPECT_EQ(core->thread(71)->registers.get(0), 15U);
  EXPECT_EQ(core->stopped_thread(), 70);
}

TEST_F(ElfCoreTest, KeepsTheAddressOfAFaultThatTheKernelRaised) {
  const auto core = open(CoreBuilder().thread(7).signal(SIGSEGV, 1, 0xdead000).thread(8));
  ASSERT_TRUE(core->thread(7)->signal);
  EXPECT_EQ(core->thread(7)->signal->number, SIGSEGV);
  EXPECT_EQ(core->thread(7)->signal->code, 1);
  EXPECT_EQ(core->thread(7)->signal->address, Address{0xdead000});
  EXPECT_FALSE(core->thread(8)->signal);
}

TEST_F(ElfCoreTest, KeepsAddressZeroOfANonCanonicalAccess) {
  const auto core = open(CoreBuilder().thread(7).signal(SIGSEGV, 128, 0));
  EXPECT_EQ(core->thread(7)->signal->code, 128);
  EXPECT_EQ(core->thread(7)->signal->address, Address{0});
}

TEST_F(ElfCoreTest, TakesNoAddressFromASignalThatAProcessSent) {
  // With si_code <= 0 the same word holds the sender's pid and uid.
  const auto sent = open(CoreBuilder().thread(7).signal(SIGSEGV, -6, 0x3e800001234));
  EXPECT_EQ(sent->thread(7)->signal->code, -6);
  EXPECT_FALSE(sent->thread(7)->signal->address);
  const auto aborted = open(CoreBuilder().thread(7).signal(SIGABRT, 1, 0x1234));
  EXPECT_FALSE(aborted->thread(7)->signal->address);
}

TEST_F(ElfCoreTest, FindsTheThreadThatFaultedWhereAllHaveASignal) {
  const auto core =
      open(CoreBuilder().thread(7).signal(SIGSTOP, -6, 0).thread(8).signal(SIGBUS, 2, 0x5000));
  EXPECT_EQ(core->stopped_thread(), 8);
}

TEST_F(ElfCoreTest, FallsBackToTheCurrentSignalOfTheFirstThread) {
  const auto core = open(CoreBuilder().thread(7, {}, SIGSEGV).thread(8, {}, SIGSEGV));
  EXPECT_EQ(core->thread(7)->signal->number, SIGSEGV);
  EXPECT_FALSE(core->thread(7)->signal->address);
  EXPECT_FALSE(core->thread(8)->signal);
}

TEST_F(ElfCoreTest, SaysWhenNoSignalIsKnown) {
  EXPECT_TRUE(mentions(open(CoreBuilder().thread(7))->gaps(), "NT_SIGINFO"));
  EXPECT_TRUE(mentions(open(CoreBuilder().region(0x1000, pages(1)))->gaps(), "NT_PRSTATUS"));
}

TEST_F(ElfCoreTest, DescribesTheProcess) {
  const auto core = open(CoreBuilder()
                             .thread(42)
                             .process(42, "serve", "./serve --port 80 ")
                             .auxiliary({{AT_ENTRY, 0x401020}})
                             .region(0x401000, pages(1), "r-x")
                             .file_mapping(0x401000, 0x402000, 0x1000, "/opt/serve (deleted)"));
  EXPECT_EQ(core->process().kind, TargetKind::core);
  EXPECT_EQ(core->process().pid, 42);
  EXPECT_EQ(core->process().executable, "/opt/serve");
  EXPECT_EQ(core->process().arguments, (std::vector<std::string>{"./serve", "--port", "80"}));
  EXPECT_EQ(core->process().files, std::vector<std::string>{path_});
}

TEST_F(ElfCoreTest, TakesTheExecutableFromExecfnWhereNoMappingNamesIt) {
  auto bytes = pages(1, std::byte{0});
  std::memcpy(bytes.data() + 16, "./serve", 8);
  const auto core = open(CoreBuilder()
                             .thread(42)
                             .process(42, "serve", "")
                             .auxiliary({{AT_EXECFN, 0x7010}})
                             .region(0x7000, bytes));
  EXPECT_EQ(core->process().executable, "./serve");
}

TEST_F(ElfCoreTest, ReadsAcrossRegionsSmallAndLarge) {
  const auto core =
      open(CoreBuilder().region(0x2000, pages(1, std::byte{2})).region(0x1000, pages(1)));
  EXPECT_EQ(core->read_value<std::uint16_t>(0x1fff).value(), 0x0201);
  const auto large = core->read_bytes(0x1000, 0x2000);
  ASSERT_TRUE(large);
  EXPECT_EQ((*large)[0xfff], std::byte{1});
  EXPECT_EQ((*large)[0x1000], std::byte{2});
  ASSERT_EQ(core->regions().size(), 2U);
  EXPECT_EQ(core->regions()[0].start, 0x1000U);
  EXPECT_EQ(core->regions()[0].dumped, 0x1000U);
}

TEST_F(ElfCoreTest, NamesTheFirstRangeThatIsNotMapped) {
  const auto core = open(CoreBuilder().region(0x1000, pages(1)).region(0x5000, pages(1)));
  const auto read = core->read_bytes(0x1000, 0x5000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "0x2000 to 0x5000 is not mapped");
  EXPECT_EQ(read.error().at, Address{0x2000});
  EXPECT_EQ(core->read_value<char>(0x900).error().what, "0x900 is not mapped");
  EXPECT_FALSE(core->read_pointer(~Address{0} - 2));
}

TEST_F(ElfCoreTest, SaysWhyPagesWereNotDumped) {
  const auto core = open(CoreBuilder()
                             .region(0x1000, pages(1), "rw-", 0x2000)
                             .region(0x10000, {}, "---", 0x1000)
                             .region(0x20000, {}, "rw-", 0x1000)
                             .region(0x30000, {}, "rw-", 0x1000)
                             .region(0x40000, {}, "r--", 0x1000)
                             .file_mapping(0x20000, 0x21000, 0, "/dev/nvidia0")
                             .file_mapping(0x30000, 0x31000, 0, "/data/weights.bin")
                             .file_mapping(0x40000, 0x41000, 0, "/data/table.bin"));
  const auto why = [&](Address at) { return core->read_value<int>(at).error(); };
  EXPECT_EQ(why(0x2004).what,
            "0x2004 to 0x3000 was not dumped (anonymous memory; coredump_filter "
            "bit 0 or 1, or madvise MADV_DONTDUMP)");
  EXPECT_EQ(why(0x2004).at, Address{0x2004});
  EXPECT_NE(why(0x2004).fix.find("echo 0x33 > /proc/PID/coredump_filter"), std::string::npos);
  EXPECT_EQ(why(0x10000).what,
            "0x10000 to 0x11000 was not dumped: it is mapped without any access (---p)");
  EXPECT_EQ(why(0x20000).what,
            "0x20000 to 0x21000 was not dumped: it belongs to the device /dev/nvidia0");
  EXPECT_NE(why(0x30000).what.find("writable mapping of /data/weights.bin; coredump_filter bit 2"),
            std::string::npos);
  EXPECT_NE(why(0x40000).what.find("file mapping of /data/table.bin; coredump_filter bit 2"),
            std::string::npos);
  EXPECT_NE(why(0x40000).fix.find("echo 0x3f"), std::string::npos);
  EXPECT_TRUE(mentions(core->gaps(), "4096 bytes of writable anonymous memory were not dumped"));
  EXPECT_TRUE(mentions(core->gaps(), "4096 bytes of writable file mappings were not dumped"));
}

TEST_F(ElfCoreTest, OpensACoreThatIsCutShortAndNamesTheByte) {
  auto bytes = CoreBuilder().thread(7).region(0x1000, pages(2)).region(0x8000, pages(1)).bytes();
  bytes.resize(4096 + 5000);
  const auto core = open(bytes);
  EXPECT_TRUE(mentions(core->gaps(), "the core file is cut short at byte 9096: 7288 bytes"));
  EXPECT_EQ(core->read_value<char>(0x2000).value(), 1);
  EXPECT_EQ(core->read_value<char>(0x2387).value(), 1);  // the last byte that is there
  const auto torn = core->read_value<char>(0x2388);
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().what,
            "0x2388 to 0x3000 is missing: the core file is cut short at byte 9096");
  EXPECT_FALSE(core->read_value<char>(0x8000));
  EXPECT_EQ(core->threads().size(), 1U);
}

TEST_F(ElfCoreTest, SurvivesACoreThatShrinksWhileItIsRead) {
  const auto core = open(CoreBuilder().thread(7).region(0x1000, pages(3)));
  EXPECT_TRUE(core->read_value<int>(0x1000));
  ASSERT_EQ(::truncate(path_.c_str(), 4096 + 100), 0);
  const auto read = core->read_bytes(0x2000, 8);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "the core file is cut short at byte 8192");
  EXPECT_EQ(read.error().at, Address{0x2000});
}

TEST_F(ElfCoreTest, KeepsRegionsApartWhateverTheHeadersClaim) {
  const auto core = open(CoreBuilder()
                             .region(0x1000, pages(3))
                             .region(0x2000, pages(3, std::byte{2}))
                             .region(0x2000, pages(1, std::byte{3}))
                             .region(~Address{0} - 0xfff, pages(1), "rw-", 0x5000));
  ASSERT_EQ(core->regions().size(), 2U);
  EXPECT_EQ(core->regions()[1].start, 0x4000U);
  EXPECT_EQ(core->regions()[1].end, 0x5000U);
  EXPECT_EQ(core->read_value<char>(0x3fff).value(), 1);
  EXPECT_EQ(core->read_value<char>(0x4000).value(), 2);
  EXPECT_TRUE(mentions(core->gaps(), "overlap"));
  EXPECT_TRUE(mentions(core->gaps(), "impossible"));
}

TEST_F(ElfCoreTest, SurvivesTornNotes) {
  // Sizes that leave the notes, the file or the number range.
  for (const std::uint32_t size : {200U, 5000U, 0x7fffffffU, 0xffffffffU}) {
    auto bytes = CoreBuilder().thread(7).bytes();
    const std::size_t notes = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
    for (const std::size_t field : {std::size_t{0}, std::size_t{4}}) {
      auto torn = bytes;
      std::memcpy(torn.data() + notes + field, &size, 4);
      const auto core = open(torn);
      EXPECT_TRUE(core->threads().empty());
      EXPECT_FALSE(core->stopped_thread());
      EXPECT_FALSE(core->gaps().empty());
    }
  }
  const auto far = open(CoreBuilder().thread(7).change_segments(
      [](std::vector<Elf64_Phdr>& headers) { headers[0].p_offset = ~std::uint64_t{0} - 4; }));
  EXPECT_TRUE(mentions(far->gaps(), "notes are cut short or torn"));
}

TEST_F(ElfCoreTest, SurvivesTornFileLists) {
  const auto opened = [&](std::span<const std::byte> note) {
    return open(CoreBuilder().thread(7).region(0x1000, pages(1)).note("CORE", NT_FILE, note));
  };
  using U = std::uint64_t;
  EXPECT_TRUE(
      mentions(opened(bytes_of(~U{0}, U{4096}))->gaps(), "claims 18446744073709551615 entries"));
  EXPECT_TRUE(mentions(opened(bytes_of(U{1}))->gaps(), "no header"));
  EXPECT_TRUE(mentions(opened(bytes_of(U{1}, U{4096}, U{0x1000}, U{0x2000}, U{0}, 'a'))->gaps(),
                       "a name does not end"));
  EXPECT_TRUE(mentions(opened(bytes_of(U{1}, U{4096}, U{0x2000}, U{0x1000}, U{0}, '\0'))->gaps(),
                       "starts at 0x2000 and ends at 0x1000"));
  EXPECT_TRUE(
      mentions(opened(bytes_of(U{1}, ~U{0}, U{0x1000}, U{0x2000}, U{9}, '\0'))->gaps(), "torn"));
}

TEST_F(ElfCoreTest, DividesARegionWhereOnlyAPartIsNamed) {
  const auto core = open(CoreBuilder()
                             .region(0x1000, pages(4))
                             .file_mapping(0x2000, 0x3000, 0x7000, "/data/a")
                             .file_mapping(0x4000, 0x6000, 0x1000, "/data/b"));
  const auto regions = core->regions();
  ASSERT_EQ(regions.size(), 5U);
  EXPECT_EQ(regions[0].path, "");
  EXPECT_EQ(regions[1].path, "/data/a");
  EXPECT_EQ(regions[1].file_offset, 0x7000U);
  EXPECT_EQ(regions[2].path, "");
  EXPECT_EQ(regions[3].path, "/data/b");
  EXPECT_EQ(regions[3].dumped, 0x1000U);
  EXPECT_EQ(regions[4].start, 0x5000U);  // in the list of files alone
  EXPECT_EQ(regions[4].file_offset, 0x2000U);
  EXPECT_EQ(regions[4].dumped, 0U);
  EXPECT_EQ(core->read_value<char>(0x3000).value(), 1);
}

}  // namespace
}  // namespace aotidbg
