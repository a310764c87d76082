// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/process_stop.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace aotidbg {
namespace {

// A child of several threads that count as long as they run.
class Child {
 public:
  static constexpr std::size_t kThreads = 4;

  Child() {
    counters_ = static_cast<std::atomic<std::uint64_t>*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (std::size_t i = 1; i < kThreads; ++i) std::thread([this, i] { count(i); }).detach();
    count(0);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(counters_, 4096);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  // Every thread goes on within the time.
  bool runs() const {
    const auto before = read();
    for (int wait = 0; wait < 500; ++wait) {
      ::usleep(10'000);
      const auto now = read();
      bool all = true;
      for (std::size_t i = 0; i < kThreads; ++i) all = all && now[i] != before[i];
      if (all) return true;
    }
    return false;
  }
  bool stands_still() const {
    const auto before = read();
    ::usleep(50'000);
    return before == read();
  }
  std::string status(const std::string& field) const {
    std::ifstream file(fmt::format("/proc/{}/status", pid_));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(field + ":\t")) return line.substr(field.size() + 2);
    }
    return {};
  }

 private:
  [[noreturn]] void count(std::size_t i) {
    for (;;) {
      ++counters_[i];
      ::usleep(100);
    }
  }
  std::array<std::uint64_t, kThreads> read() const {
    std::array<std::uint64_t, kThreads> values{};
    for (std::size_t i = 0; i < kThreads; ++i) values[i] = counters_[i];
    return values;
  }

  std::atomic<std::uint64_t>* counters_;
  pid_t pid_;
};

TEST(ProcessStop, HoldsEveryThreadAndLetsAllGoOn) {
  const Child child;
  ASSERT_TRUE(child.runs());
  {
    const auto stop = ProcessStop::make(child.pid());
    ASSERT_TRUE(stop) << stop.error().what;
    EXPECT_EQ(stop->pid(), child.pid());
    EXPECT_TRUE(child.stands_still());
    const StoppedThreads threads = stop->threads();
    ASSERT_EQ(threads.threads.size(), Child::kThreads);
    EXPECT_FALSE(threads.stopped_thread.has_value()) << "nothing was wrong with any";
    EXPECT_TRUE(threads.gaps.empty());
    const auto target = open_live_process(stop->pid(), threads, {});
    ASSERT_TRUE(target);
    for (const Thread& thread : (*target)->threads()) {
      const auto instruction = thread.registers.get(16);  // rip, user_regs_struct
      const auto stack = thread.registers.get(19);        // rsp
      ASSERT_TRUE(instruction && stack);
      EXPECT_TRUE((*target)->region_at(*instruction)->executable);
      EXPECT_TRUE((*target)->read_pointer(*stack));
      EXPECT_FALSE(thread.signal.has_value());
    }
  }
  EXPECT_TRUE(child.runs());
  EXPECT_EQ(child.status("TracerPid"), "0");
}

TEST(ProcessStop, LeavesAStoppedProcessStopped) {
  const Child child;
  ASSERT_TRUE(child.runs());
  ::kill(child.pid(), SIGSTOP);
  ASSERT_EQ(::waitpid(child.pid(), nullptr, WUNTRACED), child.pid());
  for (int round = 0; round < 3; ++round) {
    const auto stop = ProcessStop::make(child.pid());
    ASSERT_TRUE(stop) << stop.error().what;
    EXPECT_EQ(stop->threads().threads.size(), Child::kThreads);
  }
  EXPECT_TRUE(child.stands_still());
  EXPECT_EQ(child.status("State"), "T (stopped)");
  ::kill(child.pid(), SIGCONT);
  EXPECT_TRUE(child.runs());
}

TEST(ProcessStop, HandsOnSignalsThatCameMeanwhile) {
  const Child child;
  ASSERT_TRUE(child.runs());
  {
    const auto stop = ProcessStop::make(child.pid());
    ASSERT_TRUE(stop);
    ::kill(child.pid(), SIGTERM);
    EXPECT_TRUE(child.stands_still());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child.pid(), &status, 0), child.pid());
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST(ProcessStop, EndsWithItsOwnProcessHoweverThatEnds) {
  const Child child;
  ASSERT_TRUE(child.runs());
  const pid_t tool = ::fork();
  if (tool == 0) {
    const auto stop = ProcessStop::make(child.pid());
    ::raise(SIGKILL);
    ::_exit(stop ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(tool, &status, 0), tool);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(child.runs());
  EXPECT_EQ(child.status("TracerPid"), "0");
}

TEST(ProcessStop, RefusesWhatItCannotHold) {
  EXPECT_EQ(ProcessStop::make(2147483647).error().what,
            "there is no process 2147483647 on this machine");
  const Child child;
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    ::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr);
    ::pause();
    ::_exit(0);
  }
  while (child.status("TracerPid") != std::to_string(tracer)) ::usleep(1000);
  const auto stop = ProcessStop::make(child.pid());
  ASSERT_FALSE(stop);
  EXPECT_EQ(stop.error().what,
            fmt::format("process {} is held by another tool already: target_test (process {})",
                        child.pid(), tracer));
  EXPECT_EQ(child.status("TracerPid"), std::to_string(tracer));
  ::kill(tracer, SIGKILL);
  ::waitpid(tracer, nullptr, 0);
  EXPECT_TRUE(child.runs());
}

}  // namespace
}  // namespace aotidbg
