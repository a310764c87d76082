// SPDX-License-Identifier: BSD-3-Clause
//
// From a process made in memory to a snapshot's file and back: what is read may be read again, and
// nothing else can.
#include <elf.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "common/target/answers.h"
#include "common/target/elf_core.h"
#include "common/target/recording.h"
#include "common/target/snapshot_file.h"
#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {
namespace {

constexpr Address kHeap = 0x10000;
constexpr Address kStack = 0x7ffff000;
constexpr std::uint64_t kSecret = 0x53454352'45543031;  // "10TERCES": a text on the stack

class SnapshotOfProcess : public testing::Test {
 protected:
  SnapshotOfProcess() {
    process_.map(kHeap, 0x4000, "rw-", {});
    process_.map(kStack, 0x2000, "rw-", "[stack]");
    process_.add_thread(7, {{16, 0x10000}, {19, kStack + 0x100}});
    process_.add_thread(8, {{16, 0x10010}});
    process_.stop(8, SIGSEGV, SEGV_MAPERR, 0xdead0);
    process_.process_info().pid = 7;
    process_.process_info().executable = "/bin/server";
  }

  // Saves, and opens what was saved.
  std::unique_ptr<Target> save(const SnapshotRequest& request = {}) {
    const auto file = make_snapshot(recording_, request);
    EXPECT_TRUE(file.has_value());
    bytes_ = *file;
    write_file(folder_ / "snapshot", std::as_bytes(std::span(*file)));
    auto opened = open_core(folder_ / "snapshot", {});
    EXPECT_TRUE(opened.has_value()) << opened.error().what;
    return opened ? std::move(*opened) : nullptr;
  }

  bool file_holds(const void* bytes, std::size_t size) const {
    return bytes_.find(std::string_view(static_cast<const char*>(bytes), size)) !=
           std::string::npos;
  }

  TempFolder folder_;
  FakeTarget process_;
  Recording recording_{process_};
  std::string bytes_;
};

TEST_F(SnapshotOfProcess, KeepsWhatWasReadAndNothingElse) {
  process_.poke(kHeap + 0x20, std::uint64_t{42});
  process_.poke(kHeap + 0x28, kSecret);
  EXPECT_EQ(recording_.read_value<std::uint64_t>(kHeap + 0x20).value(), 42U);
  const auto snapshot = save();
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->process().kind, TargetKind::snapshot);
  EXPECT_EQ(snapshot->process().pid, 7);
  EXPECT_EQ(snapshot->read_value<std::uint64_t>(kHeap + 0x20).value(), 42U);
  // The page is in the file, its other bytes are zeros that nobody may take for the process's.
  const auto unknown = snapshot->read_value<std::uint64_t>(kHeap + 0x28);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().what.find("not kept in this snapshot"), std::string::npos);
  EXPECT_EQ(unknown.error().at, kHeap + 0x28);
  EXPECT_FALSE(snapshot->read_value<std::uint64_t>(kHeap + 0x24).has_value());
  EXPECT_FALSE(snapshot->read_value<std::uint64_t>(~Address{0} - 3).has_value());
  EXPECT_FALSE(file_holds(&kSecret, sizeof(kSecret)));
}

TEST_F(SnapshotOfProcess, KeepsThreadsAndTheOneThatStopped) {
  const auto snapshot = save();
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->stopped_thread(), 8);
  ASSERT_EQ(snapshot->threads().size(), 2U);
  const Thread* stopped = snapshot->thread(8);
  ASSERT_NE(stopped, nullptr);
  ASSERT_TRUE(stopped->signal.has_value());
  EXPECT_EQ(stopped->signal->number, SIGSEGV);
  EXPECT_EQ(stopped->signal->address, 0xdead0U);
  EXPECT_EQ(snapshot->thread(7)->registers.get(19), kStack + 0x100);
  EXPECT_FALSE(snapshot->thread(7)->registers.get(3).has_value());  // it was not known
}

TEST_F(SnapshotOfProcess, KeepsNothingOfWhatWasSomethingElse) {
  process_.poke(kHeap + 0x40, kSecret);
  const auto failed = tentatively(recording_, [&]() -> Result<int> {
    (void)recording_.read_value<std::uint64_t>(kHeap + 0x40);
    return fail("no tensor is here");
  });
  EXPECT_FALSE(failed.has_value());
  const auto snapshot = save();
  EXPECT_FALSE(snapshot->read_value<std::uint64_t>(kHeap + 0x40).has_value());
  EXPECT_FALSE(file_holds(&kSecret, sizeof(kSecret)));
}

TEST_F(SnapshotOfProcess, KeepsTheAnswerAndNotWhatItTook) {
  process_.poke(kHeap + 0x40, kSecret);
  const auto ask = [](Memory& memory) {
    return answered<std::uint64_t>(memory, "how much", [&] {
      return memory.read_value<std::uint64_t>(kHeap + 0x40).value_or(0) % 1000;
    });
  };
  const std::uint64_t told = ask(recording_);
  const auto snapshot = save();
  EXPECT_EQ(ask(*snapshot), told);
  EXPECT_FALSE(file_holds(&kSecret, sizeof(kSecret)));
}

TEST_F(SnapshotOfProcess, KeepsOfStacksTheAddressesAlone) {
  process_.poke(kStack + 0x100, kHeap + 8);
  process_.poke(kStack + 0x108, kSecret);
  process_.poke(kStack + 0x110, std::uint64_t{12345});
  std::array<std::byte, 32> words;
  ASSERT_TRUE(recording_.read_stack(kStack + 0x100, words));
  const auto snapshot = save();
  std::array<std::uint64_t, 4> kept{};
  ASSERT_TRUE(snapshot->read_stack(kStack + 0x100, std::as_writable_bytes(std::span(kept))));
  EXPECT_EQ(kept, (std::array<std::uint64_t, 4>{kHeap + 8, 0, 0, 0}));
  EXPECT_FALSE(snapshot->read_value<std::uint64_t>(kStack + 0x108).has_value());
  EXPECT_FALSE(file_holds(&kSecret, sizeof(kSecret)));
}

TEST_F(SnapshotOfProcess, LeavesOutArgumentsAndEnvironment) {
  process_.process_info().auxiliary = {{AT_RANDOM, kStack + 0x800}};
  process_.poke_string(kStack + 0x900, "TOKEN=hunter2");
  process_.poke(kStack + 0xa00, kHeap);  // even an address
  (void)recording_.read_c_string(kStack + 0x900, 100);
  recording_.keep_stack(kStack + 0x100, kStack + 0x1000);
  const auto snapshot = save();
  EXPECT_FALSE(snapshot->read_c_string(kStack + 0x900, 100).has_value());
  EXPECT_FALSE(file_holds("hunter2", 7));
  std::array<std::uint64_t, 1> word{1};
  ASSERT_TRUE(snapshot->read_stack(kStack + 0xa00, std::as_writable_bytes(std::span(word))));
  EXPECT_EQ(word[0], 0U);
}

TEST_F(SnapshotOfProcess, LeavesOutTensorsButForWhatIsQuoted) {
  process_.poke(kHeap + 0x1000, kSecret);
  process_.poke(kHeap + 0x1008, std::uint64_t{99});
  std::array<std::byte, 32> bytes;
  ASSERT_TRUE(recording_.read(kHeap + 0x0ff0, bytes));
  SnapshotRequest request;
  request.tensor_memory = {{kHeap + 0x1000, kHeap + 0x2000}};
  request.quoted = {{"input x[1]", "99", {kHeap + 0x1008, kHeap + 0x1010}}};
  const auto snapshot = save(request);
  EXPECT_TRUE(snapshot->read_value<std::uint64_t>(kHeap + 0x0ff8).has_value());
  EXPECT_FALSE(snapshot->read_value<std::uint64_t>(kHeap + 0x1000).has_value());
  EXPECT_EQ(snapshot->read_value<std::uint64_t>(kHeap + 0x1008).value(), 99U);
  ASSERT_NE(snapshot->snapshot(), nullptr);
  EXPECT_EQ(snapshot->snapshot()->quoted.at(0).what, "input x[1]");
  EXPECT_FALSE(file_holds(&kSecret, sizeof(kSecret)));
}

TEST_F(SnapshotOfProcess, KeepsTextsToTheirEnd) {
  process_.poke_string(kHeap + 0x50, "emb.weight");
  process_.poke_string(kHeap + 0x5b, "hunter2");
  EXPECT_EQ(recording_.read_c_string(kHeap + 0x50, 100).value(), "emb.weight");
  const auto snapshot = save();
  EXPECT_EQ(snapshot->read_c_string(kHeap + 0x50, 100).value(), "emb.weight");
  EXPECT_FALSE(snapshot->read_c_string(kHeap + 0x5b, 100).has_value());
  EXPECT_FALSE(file_holds("hunter2", 7));
}

TEST_F(SnapshotOfProcess, CanBeSavedAgain) {
  (void)recording_.read_value<std::uint64_t>(kHeap + 0x20);
  const auto ask = [](Memory& memory) {
    return answered<bool>(memory, "is it so", [] { return true; });
  };
  (void)ask(recording_);
  const auto first = save();
  Recording again(*first);
  EXPECT_TRUE(again.read_value<std::uint64_t>(kHeap + 0x20).has_value());
  EXPECT_TRUE(ask(again));
  const auto file = make_snapshot(again, {});
  ASSERT_TRUE(file.has_value());
  write_file(folder_ / "again", std::as_bytes(std::span(*file)));
  const auto second = open_core(folder_ / "again", {});
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ((*second)->process().saved_from, TargetKind::core);
  EXPECT_TRUE((*second)->read_value<std::uint64_t>(kHeap + 0x20).has_value());
  const bool answer = answered<bool>(**second, "is it so", [] { return false; });
  EXPECT_TRUE(answer);
}

TEST_F(SnapshotOfProcess, IsRefusedWhenItsNoteIsDamaged) {
  (void)save();
  const std::size_t at = bytes_.find("aotidbg.snapshot/1");
  ASSERT_NE(at, std::string::npos);
  std::string damaged = bytes_;
  damaged[at] = 'X';
  write_file(folder_ / "damaged", std::as_bytes(std::span(damaged)));
  const auto opened = open_core(folder_ / "damaged", {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().what.find("damaged: the note of this snapshot"), std::string::npos)
      << opened.error().what;
}

}  // namespace
}  // namespace aotidbg
