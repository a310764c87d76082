// SPDX-License-Identifier: BSD-3-Clause
//
// Frames that this machine's kernel pushed: this process faults, a handler on an alternate stack
// jumps out, and what is left on that stack must tell where it faulted and why.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cinttypes>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <vector>

#include "common/arch/x86_64.h"

namespace aotidbg {
namespace {

// This process, through the kernel: a bad address is an error and not another fault.
class OwnProcess : public Target {
 public:
  OwnProcess() {
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[4096];
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
      Region region;
      char permissions[5] = {};
      if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &region.start, &region.end,
                      permissions) != 3) {
        continue;
      }
      region.readable = permissions[0] == 'r';
      region.executable = permissions[2] == 'x';
      regions_.push_back(region);
    }
    if (maps != nullptr) std::fclose(maps);
  }
  Result<void> read(Address at, std::span<std::byte> out) override {
    const iovec local{out.data(), out.size()};
    const iovec remote{reinterpret_cast<void*>(at), out.size()};
    const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (got != static_cast<ssize_t>(out.size())) return fail("not readable", at);
    return {};
  }
  const ProcessInfo& process() const override { return process_; }
  std::span<const Region> regions() const override { return regions_; }
  std::span<const Module> modules() const override { return {}; }
  std::span<const Thread> threads() const override { return {}; }
  std::optional<ThreadId> stopped_thread() const override { return std::nullopt; }
  std::span<const Error> gaps() const override { return {}; }

 private:
  ProcessInfo process_;
  std::vector<Region> regions_;
};

sigjmp_buf return_point;
volatile std::uint64_t handler_stack_pointer;

void leave_handler(int, siginfo_t*, void*) {
  std::uint64_t rsp;
  asm volatile("mov %%rsp, %0" : "=r"(rsp));
  handler_stack_pointer = rsp;
  siglongjmp(return_point, 1);
}

class SignalFrameLive : public testing::Test {
 protected:
  void SetUp() override {
    page_size_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    stack_ = mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    guarded_ = mmap(nullptr, page_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(stack_, MAP_FAILED);
    ASSERT_NE(guarded_, MAP_FAILED);
    stack_t alternate{};
    alternate.ss_sp = stack_;
    alternate.ss_size = kStackSize;
    ASSERT_EQ(sigaltstack(&alternate, &old_stack_), 0);
    struct sigaction action{};
    action.sa_sigaction = leave_handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ASSERT_EQ(sigaction(SIGSEGV, &action, &old_action_), 0);
  }
  void TearDown() override {
    sigaction(SIGSEGV, &old_action_, nullptr);
    sigaltstack(&old_stack_, nullptr);
    munmap(stack_, kStackSize);
    munmap(guarded_, page_size_);
  }

  // Loads or stores with `address` in rsi, which faults, and gives the frames that this left.
  // pc_ becomes the address of the faulting instruction.
  std::vector<SignalFrame> frames_of_load(Address address) {
    if (sigsetjmp(return_point, 1) == 0) {
      asm volatile(
          "lea 1f(%%rip), %%rcx\n\t"
          "mov %%rcx, (%0)\n"
          "1:\tmov 8(%1), %%eax"
          :
          : "D"(&pc_), "S"(address)
          : "rax", "rcx", "memory");
    }
    return frames_left();
  }
  std::vector<SignalFrame> frames_of_store(Address address) {
    if (sigsetjmp(return_point, 1) == 0) {
      asm volatile(
          "lea 1f(%%rip), %%rcx\n\t"
          "mov %%rcx, (%0)\n"
          "1:\tmovw $7, (%1)"
          :
          : "D"(&pc_), "S"(address)
          : "rcx", "memory");
    }
    return frames_left();
  }
  std::vector<SignalFrame> frames_left() {
    Thread thread;
    thread.registers.set(*register_slot("rsp"), handler_stack_pointer);
    OwnProcess process;
    return find_signal_frames(process, thread);
  }
  Address guarded() const { return reinterpret_cast<Address>(guarded_); }

  static constexpr std::size_t kStackSize = 256U << 10;
  std::size_t page_size_ = 0;
  void* stack_ = MAP_FAILED;
  void* guarded_ = MAP_FAILED;
  stack_t old_stack_{};
  struct sigaction old_action_{};
  volatile std::uint64_t pc_ = 0;
};

TEST_F(SignalFrameLive, ALoadIsFoundWithItsOperand) {
  const auto frames = frames_of_load(guarded() + 0x120);
  ASSERT_EQ(frames.size(), 1U);
  const SignalFrame& frame = frames[0];
  EXPECT_EQ(frame.signal.number, SIGSEGV);
  EXPECT_EQ(frame.signal.code, SEGV_ACCERR);
  EXPECT_EQ(frame.signal.address, guarded() + 0x128);
  EXPECT_EQ(frame.trap, 14U);
  EXPECT_EQ(frame.access, Access::read);
  EXPECT_EQ(program_counter(frame.registers), pc_);

  OwnProcess process;
  const auto instruction = decode_instruction(process, frame.registers);
  ASSERT_TRUE(instruction) << instruction.error().what;
  EXPECT_EQ(instruction->text, "mov eax, [rsi+0x8]");
  const MemoryOperand* operand = faulting_operand(*instruction, frame.signal.address);
  ASSERT_NE(operand, nullptr);
  EXPECT_EQ(operand->base, guarded() + 0x120);
  EXPECT_EQ(operand->access, Access::read);
}

TEST_F(SignalFrameLive, AStoreIsFoundWithItsOperand) {
  const auto frames = frames_of_store(guarded() + 0x40);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].access, Access::write);
  EXPECT_EQ(frames[0].signal.address, guarded() + 0x40);
  EXPECT_EQ(program_counter(frames[0].registers), pc_);

  OwnProcess process;
  const auto instruction = decode_instruction(process, frames[0].registers);
  ASSERT_TRUE(instruction) << instruction.error().what;
  const MemoryOperand* operand = faulting_operand(*instruction, frames[0].signal.address);
  ASSERT_NE(operand, nullptr);
  EXPECT_EQ(operand->access, Access::write);
  EXPECT_EQ(operand->size, 2U);
}

TEST_F(SignalFrameLive, ANonCanonicalAddressIsKnownByItsOperandAlone) {
  const auto frames = frames_of_load(0x4141'4141'4141'4141);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].signal.code, 0x80);
  EXPECT_EQ(frames[0].signal.address, std::nullopt);
  EXPECT_EQ(frames[0].trap, 13U);

  OwnProcess process;
  const auto instruction = decode_instruction(process, frames[0].registers);
  ASSERT_TRUE(instruction) << instruction.error().what;
  const MemoryOperand* operand = faulting_operand(*instruction, std::nullopt);
  ASSERT_NE(operand, nullptr);
  EXPECT_EQ(operand->address, 0x4141'4141'4141'4149U);
}

}  // namespace
}  // namespace aotidbg
