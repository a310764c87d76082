// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/call_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gtest/gtest.h>
#include <libelf.h>

#include <array>
#include <cstdlib>
#include <map>

#include "tests/unit/elf/mapped_file.h"

namespace aotidbg {
namespace {

struct LibdwRow {
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  bool simple_cfa = false;
  std::map<int, std::optional<std::int64_t>> saved;  // register -> offset from the CFA
};

// What libdw says of an address; nullopt where it knows nothing.
class Libdw {
 public:
  explicit Libdw(int descriptor) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(descriptor, ELF_C_READ, nullptr);
    cfi_ = dwarf_getcfi_elf(elf_);
  }
  ~Libdw() {
    dwarf_cfi_end(cfi_);
    elf_end(elf_);
  }
  Libdw(const Libdw&) = delete;
  Libdw& operator=(const Libdw&) = delete;

  std::optional<LibdwRow> row(Dwarf_Addr at) {
    Dwarf_Frame* frame = nullptr;
    if (dwarf_cfi_addrframe(cfi_, at, &frame) != 0) return std::nullopt;
    LibdwRow row;
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 && ops[0].atom == DW_OP_bregx) {
      row.simple_cfa = true;
      row.cfa_register = ops[0].number;
      row.cfa_offset = static_cast<std::int64_t>(ops[0].number2);
    }
    for (const int number : {3, 6, 12, 13, 14, 15, 16}) {
      Dwarf_Op storage[3];
      if (dwarf_frame_register(frame, number, storage, &ops, &count) != 0) continue;
      row.saved[number] = std::nullopt;
      if (count == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst) {
        row.saved[number] = static_cast<std::int64_t>(ops[1].number);
      }
    }
    std::free(frame);
    return row;
  }

 private:
  Elf* elf_ = nullptr;
  Dwarf_CFI* cfi_ = nullptr;
};

class AgreesWithLibdw : public testing::TestWithParam<const char*> {};

TEST_P(AgreesWithLibdw, OnEveryRowOfAModule) {
  load(ELF_FIXTURE_GNU);
  const auto target = examine_this_process();
  const Module* module = module_named(*target, GetParam());
  ASSERT_NE(module, nullptr);
  ASSERT_NE(module->file, nullptr);
  const auto image = ModuleImage::open(*target, *module);
  ASSERT_TRUE(image.has_value());
  const CallFrames frames(*image);
  Libdw libdw(module->file->descriptor());

  // Every address of a small module; of libc every 97th, which is some 16,000.
  const std::uint64_t step = module->end - module->start > 0x100000 ? 97 : 1;
  int rows = 0;
  int saved = 0;
  for (Address at = module->start; at < module->end; at += step) {
    const Region* region = target->region_at(at);
    if (region == nullptr || !region->executable) continue;
    const auto ours = frames.row_at(at);
    ASSERT_TRUE(ours.has_value()) << ours.error().what;
    const auto theirs = libdw.row(at - module->bias);
    ASSERT_EQ(ours->has_value(), theirs.has_value()) << std::hex << at - module->bias;
    if (!theirs) continue;
    ++rows;
    const bool simple = (*ours)->cfa().kind == FrameRule::Kind::in_register;
    ASSERT_EQ(simple, theirs->simple_cfa) << std::hex << at - module->bias;
    if (simple) {
      ASSERT_EQ((*ours)->cfa().number, theirs->cfa_register) << std::hex << at - module->bias;
      ASSERT_EQ((*ours)->cfa().offset, theirs->cfa_offset) << std::hex << at - module->bias;
    }
    for (const auto& [number, offset] : theirs->saved) {
      const FrameRule& rule = (*ours)->rule(static_cast<std::size_t>(number));
      if (rule.kind != FrameRule::Kind::offset) continue;
      ++saved;
      // libdw spells negative offsets as unsigned ones; a zero offset has one operation less.
      if (offset) {
        ASSERT_EQ(rule.offset, *offset) << number << std::hex << " " << at - module->bias;
      }
    }
  }
  EXPECT_GT(rows, 100);
  EXPECT_GE(saved, rows);  // each has a return address
}

INSTANTIATE_TEST_SUITE_P(Modules, AgreesWithLibdw,
                         testing::Values(ELF_FIXTURE_GNU, "/libc.so.6", "/libstdc++.so.6"));

TEST(CallFrames, KnowTheRestorerOfSignalFrames) {
  const auto target = examine_this_process();
  const Module* libc = module_named(*target, "/libc.so.6");
  ASSERT_NE(libc, nullptr);
  const auto image = ModuleImage::open(*target, *libc);
  ASSERT_TRUE(image.has_value());
  // glibc's restorer is local: found by its code, mov $15, %rax; syscall.
  constexpr std::array<unsigned char, 9> kCode = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  for (const Region& region : target->regions()) {
    if (!region.executable || !libc->contains(region.start)) continue;
    const auto code = target->read_bytes(region.start, region.size());
    ASSERT_TRUE(code.has_value());
    const auto wanted = std::as_bytes(std::span(kCode));
    const auto found = std::search(code->begin(), code->end(), wanted.begin(), wanted.end());
    ASSERT_NE(found, code->end());
    const Address at = region.start + static_cast<Address>(found - code->begin());
    const auto row = CallFrames(*image).row_at(at - 1);
    ASSERT_TRUE(row && *row);
    EXPECT_TRUE((*row)->is_signal_frame());
    EXPECT_EQ((*row)->rule(16).kind, FrameRule::Kind::expression);
  }
}

TEST(CallFrames, AreAbsentOutsideOfFunctions) {
  FakeTarget target;
  const Module& module = map_file(target, ELF_FIXTURE_GNU, 0x7f0000000000);
  const auto image = ModuleImage::open(target, module);
  ASSERT_TRUE(image.has_value());
  for (const Address at : {module.start, module.end - 1, module.end + 0x1000, Address{0}}) {
    const auto row = CallFrames(*image).row_at(at);
    ASSERT_TRUE(row.has_value()) << row.error().what;
    EXPECT_FALSE(row->has_value()) << std::hex << at;
  }
}

// Every byte that describes frames, damaged in turn: an answer or an error, and most often a
// different one than before.
TEST(DamagedCallFrames, AreSurvived) {
  FakeTarget target;
  const Module& module = map_file(target, ELF_FIXTURE_GNU, 0x7f0000000000);
  const auto image = ModuleImage::open(target, module);
  ASSERT_TRUE(image.has_value());
  const ElfSegment* table = image->segment(PT_GNU_EH_FRAME);
  ASSERT_NE(table, nullptr);
  const Address start = image->address_of(table->address);
  const Address end = image->segment_end(start).value();
  const std::size_t limit = target.reads() + 2'000'000;

  std::vector<Address> functions;
  for (const char* name : {"fixture_run", "fixture_run_local"}) {
    void* handle = load(ELF_FIXTURE_GNU);
    Dl_info info;
    ASSERT_NE(dladdr(dlsym(handle, name), &info), 0);
    functions.push_back(module.bias + (reinterpret_cast<Address>(info.dli_saddr) -
                                       reinterpret_cast<Address>(info.dli_fbase)));
  }
  int errors = 0;
  int absent = 0;
  for (Address at = start; at < end; ++at) {
    const auto before = target.read_value<std::uint8_t>(at).value();
    for (const std::uint8_t value : std::array<std::uint8_t, 3>{0x00, 0x7f, 0xff}) {
      target.poke(at, value);
      for (const Address pc : functions) {
        const auto row = CallFrames(*image).row_at(pc + 5);
        if (!row) ++errors;
        if (row && !*row) ++absent;
      }
    }
    target.poke(at, before);
  }
  EXPECT_GT(errors, 20);
  EXPECT_GT(absent, 20);
  EXPECT_LT(target.reads(), limit);
  for (const Address pc : functions) {
    const auto row = CallFrames(*image).row_at(pc + 5);
    EXPECT_TRUE(row && *row);
  }
}

}  // namespace
}  // namespace aotidbg
