// SPDX-License-Identifier: BSD-3-Clause
//
// Files that are no core we can read: each gets one sentence that says what it is.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/target/elf_core.h"
#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

class CoreRefusals : public testing::Test {
 protected:
  std::string refusal(std::span<const std::byte> bytes) {
    write_file(path_, bytes);
    return refusal();
  }
  std::string refusal(std::string_view text) {
    return refusal(std::as_bytes(std::span(text.data(), text.size())));
  }
  std::string refusal(std::function<void(Elf64_Ehdr&)> change) {
    return refusal(CoreBuilder().thread(7).change_header(std::move(change)).bytes());
  }
  std::string refusal() {
    const auto core = open_core(path_, {});
    if (core) return "opened";
    fix_ = core.error().fix;
    const std::string& what = core.error().what;
    return what.starts_with(path_) ? what.substr(path_.size() + 1) : what;
  }
  TempFolder folder_;
  std::string path_ = folder_ / "core";
  std::string fix_;
};

TEST_F(CoreRefusals, OpensTheCoreThatTheOthersAreMadeFrom) {
  EXPECT_EQ(refusal([](Elf64_Ehdr&) {}), "opened");
}

TEST_F(CoreRefusals, NamesOtherKindsOfFiles) {
  EXPECT_EQ(refusal(std::string_view("\x28\xb5\x2f\xfd 1234567890")),
            "is compressed with zstd, no ELF core");
  EXPECT_EQ(fix_, "unpack it first: zstd -d " + path_);
  EXPECT_EQ(refusal(std::string_view("\x1f\x8b 1234567890")),
            "is compressed with gzip, no ELF core");
  EXPECT_EQ(refusal(std::string_view("\x04\x22\x4d\x18 1234")),
            "is compressed with lz4, no ELF core");
  EXPECT_EQ(refusal(std::string_view("MDMP\x93\xa7")),
            "is a minidump (Breakpad, Crashpad, Windows, or LLDB's process save-core on Linux), no "
            "ELF core");
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal("\xcf\xfa\xed\xfe\x07\0\0\1\3\0\0\0\4\0\0\0"sv),
            "is a core of macOS (Mach-O), no ELF core");
  EXPECT_EQ(refusal("\xfe\xed\xfa\xce\0\0\0\7\0\0\0\3\0\0\0\2"sv),
            "is a program or library of macOS (Mach-O), no ELF core");
  EXPECT_EQ(refusal("\xcf\xfa\xed\xfe"sv),
            "is a program or library of macOS (Mach-O), no ELF core");
  EXPECT_EQ(refusal(std::string_view("hello")), "is no ELF file");
  EXPECT_EQ(refusal(std::string_view("")), "is empty");
}

TEST_F(CoreRefusals, NamesOtherMachines) {
  EXPECT_EQ(refusal([](Elf64_Ehdr& h) { h.e_machine = EM_AARCH64; }),
            "comes from aarch64; only x86-64 is known");
  EXPECT_EQ(refusal([](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; }),
            "comes from a 32-bit program; only x86-64 is known");
  EXPECT_EQ(refusal([](Elf64_Ehdr& h) { h.e_ident[EI_DATA] = ELFDATA2MSB; }),
            "comes from a big-endian machine; only x86-64 is known");
  EXPECT_EQ(refusal([](Elf64_Ehdr& h) { h.e_machine = 190; }),
            "is a CUDA GPU core (or device code), not the host's core");
  EXPECT_EQ(fix_, "give the core of the process; GPU cores are not read yet");
}

TEST_F(CoreRefusals, NamesElfFilesThatAreNoCore) {
  for (const std::uint16_t type :
       {std::uint16_t{ET_EXEC}, std::uint16_t{ET_DYN}, std::uint16_t{ET_REL}}) {
    EXPECT_EQ(refusal([type](Elf64_Ehdr& h) { h.e_type = type; }),
              "is a program or library, no core");
  }
  EXPECT_EQ(refusal([](Elf64_Ehdr& h) { h.e_type = 99; }), "is an ELF file of type 99, no core");
}

TEST_F(CoreRefusals, SaysWhereItsHeadersAreCutShort) {
  auto bytes = CoreBuilder().thread(7).region(0x1000, bytes_of(1, 2)).bytes();
  EXPECT_EQ(refusal(std::span(bytes).first(100)),
            "is cut short inside its own headers: it has 100 bytes and they need 176");
  EXPECT_EQ(refusal(std::span(bytes).first(30)),
            "is cut short inside its own headers: it has 30 bytes and they need 64");
  EXPECT_EQ(refusal(std::span(bytes).first(6)),
            "is cut short inside its own headers: it has 6 bytes and they need 64");
}

TEST_F(CoreRefusals, BoundsTheNumberOfProgramHeaders) {
  EXPECT_EQ(refusal([](Elf64_Ehdr& h) { h.e_phnum = 0; }), "is a core without program headers");
  EXPECT_EQ(refusal([](Elf64_Ehdr& h) { h.e_phentsize = 8; }),
            "has program headers of 8 bytes, not 56");
  EXPECT_NE(refusal([](Elf64_Ehdr& h) { h.e_phnum = 60000; }).find("is cut short inside"),
            std::string::npos);
  EXPECT_NE(refusal([](Elf64_Ehdr& h) { h.e_phoff = ~std::uint64_t{0} - 8; }).find("is cut short"),
            std::string::npos);
  // PN_XNUM: the count is in a section header that is not there, or claims far too many.
  EXPECT_NE(refusal([](Elf64_Ehdr& h) {
              h.e_phnum = PN_XNUM;
              h.e_shoff = 1U << 30;
            }).find("is cut short"),
            std::string::npos);
  auto bytes = CoreBuilder()
                   .thread(7)
                   .change_header([](Elf64_Ehdr& h) {
                     h.e_phnum = PN_XNUM;
                     h.e_shoff = 8192;
                   })
                   .bytes();
  Elf64_Shdr section{};
  section.sh_info = 0xffffffff;
  bytes.resize(8192);
  for (std::byte byte : bytes_of(section)) bytes.push_back(byte);
  EXPECT_EQ(refusal(bytes), "claims 4294967295 program headers");
  section.sh_info = 1;
  std::memcpy(bytes.data() + 8192, &section, sizeof(section));
  EXPECT_EQ(refusal(bytes), "opened");
}

TEST_F(CoreRefusals, RefusesWhatIsNoRegularFile) {
  path_ = folder_.path();
  EXPECT_EQ(refusal(), "is a directory");
  path_ = "/dev/zero";
  EXPECT_EQ(refusal(), "is a device");
  path_ = folder_ / "missing";
  EXPECT_EQ(refusal(), "does not exist");
  path_ = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(refusal(), "is a pipe");
}

}  // namespace
}  // namespace aotidbg
