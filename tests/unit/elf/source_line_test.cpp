// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/source_line.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/elf/mapped_file.h"

namespace aotidbg {
namespace {

Address called_from = 0;
void remember_caller() { called_from = reinterpret_cast<Address>(__builtin_return_address(0)); }

// The line of the fixture's source that carries a mark.
int marked_line(const std::string& mark) {
  std::ifstream source(std::string(ELF_FIXTURE_SOURCE));
  std::string text;
  for (int line = 1; std::getline(source, text); ++line) {
    if (text.ends_with("// mark: " + mark)) return line;
  }
  ADD_FAILURE() << "no line marked " << mark;
  return 0;
}

std::vector<SourceFrame> frames_of_call(const char* function) {
  function_in<void(void (*)())>(ELF_FIXTURE_GNU, function)(remember_caller);
  const auto target = examine_this_process();
  const Module* module = module_named(*target, ELF_FIXTURE_GNU);
  SourceLines lines;
  return lines.find(*target, *module, called_from - 1);
}

TEST(SourceLines, ListInlinedCallsInnermostFirst) {
  const auto frames = frames_of_call("fixture_run");
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].function, "innermost");
  EXPECT_EQ(frames[0].line, marked_line("innermost"));
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_EQ(frames[1].function, "call");
  EXPECT_EQ(frames[1].line, marked_line("middle"));
  EXPECT_TRUE(frames[1].inlined);
  EXPECT_EQ(frames[2].function, "fixture::run");
  EXPECT_EQ(frames[2].line, marked_line("outermost"));
  EXPECT_FALSE(frames[2].inlined);
  for (const SourceFrame& frame : frames) EXPECT_TRUE(frame.file.ends_with("fixture.cpp"));
}

TEST(SourceLines, NameLocalFunctions) {
  const auto frames = frames_of_call("fixture_run_local");
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].function, "local_function");
  EXPECT_EQ(frames[0].line, marked_line("local"));
  EXPECT_FALSE(frames[0].inlined);
}

TEST(SourceLines, AreAbsentWithoutDwarfOrFileOrFunction) {
  SourceLines lines;
  FakeTarget target;
  Module module;
  EXPECT_TRUE(lines.find(target, module, 0x1000).empty());
  module.file = ModuleFile::open(ELF_FIXTURE_BARE).value();
  EXPECT_TRUE(lines.find(target, module, 0x1000).empty());
  module.file = ModuleFile::open(ELF_FIXTURE_GNU).value();
  EXPECT_TRUE(lines.find(target, module, 0).empty());
  EXPECT_TRUE(lines.find(target, module, ~Address{0}).empty());
}

// The file with a few bytes changed, many times over: never a crash, and the undamaged file still
// answers (so that the loop has looked at what it means to look at).
TEST(DamagedDwarf, IsSurvived) {
  std::ifstream in(ELF_FIXTURE_GNU, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto frames = frames_of_call("fixture_run");
  ASSERT_EQ(frames.size(), 3U);
  const auto target = examine_this_process();
  const Address at = called_from - 1 - module_named(*target, ELF_FIXTURE_GNU)->bias;

  std::string path = testing::TempDir() + "elf_damaged_XXXXXX";
  const int descriptor = mkstemp(path.data());
  ASSERT_GE(descriptor, 0);
  std::uint32_t random = 12345;
  const auto next = [&random] { return random = random * 1664525U + 1013904223U; };
  int changed_answers = 0;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = whole;
    for (int i = 0; round > 0 && i < 40; ++i) {
      damaged[(next() >> 4) % damaged.size()] = static_cast<char>(next() >> 24);
    }
    ASSERT_EQ(pwrite(descriptor, damaged.data(), damaged.size(), 0),
              static_cast<ssize_t>(damaged.size()));
    Module module;
    module.file = ModuleFile::open(path).value();
    SourceLines lines;
    const auto answer = lines.find(*target, module, at);
    EXPECT_LT(answer.size(), 100U);
    const bool same = answer.size() == 3 && answer[0].line == frames[0].line;
    EXPECT_TRUE(same || round > 0);
    if (!same) ++changed_answers;
  }
  EXPECT_GT(changed_answers, 10);
  close(descriptor);
  unlink(path.c_str());
}

// A file that shrinks while it is read is an absence, not a SIGBUS.
TEST(DamagedDwarf, FileThatShrankIsAbsent) {
  std::ifstream in(ELF_FIXTURE_GNU, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  std::string path = testing::TempDir() + "elf_shrunk_XXXXXX";
  const int descriptor = mkstemp(path.data());
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(write(descriptor, whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  Module module;
  module.file = ModuleFile::open(path).value();
  ASSERT_EQ(ftruncate(descriptor, 4096), 0);
  SourceLines lines;
  FakeTarget target;
  EXPECT_TRUE(lines.find(target, module, 0x1100).empty());
  close(descriptor);
  unlink(path.c_str());
}

}  // namespace
}  // namespace aotidbg
