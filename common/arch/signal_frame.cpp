// SPDX-License-Identifier: BSD-3-Clause
//
// Signal frames as the kernel pushes them: struct rt_sigframe (arch/x86/include/asm/sigframe.h),
// struct sigcontext_64 and struct ucontext (uapi/asm/sigcontext.h, asm-generic/ucontext.h),
// siginfo_t (asm-generic/siginfo.h). How it fills them: arch/x86/kernel/signal_64.c.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstring>
#include <span>

#include "common/arch/x86_64.h"
#include "common/target/answers.h"

namespace aotidbg {
namespace {

struct RtSigframe {
  std::uint64_t pretcode;
  struct {
    std::uint64_t flags;
    std::uint64_t link;
    std::uint64_t stack_base;
    std::uint64_t stack_flags;
    std::uint64_t stack_size;
  } uc;
  struct {
    std::array<std::uint64_t, 18> general;  // in the order of kContextNames
    std::uint16_t cs, gs, fs, ss;
    std::uint64_t err;
    std::uint64_t trapno;
    std::uint64_t oldmask;
    std::uint64_t cr2;
    std::uint64_t fpstate;
    std::array<std::uint64_t, 8> reserved;
  } context;
  std::uint64_t signal_mask;
  struct {
    std::int32_t number;
    std::int32_t error;
    std::int32_t code;
    std::int32_t padding;
    std::uint64_t address;  // of a fault; other signals keep other things there
    std::array<std::uint64_t, 13> rest;
  } info;
};
static_assert(sizeof(RtSigframe) == 440);
static_assert(offsetof(RtSigframe, context) == 48);
static_assert(offsetof(RtSigframe, info) == 312);

constexpr std::array<std::string_view, 18> kContextNames = {
    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rdi",
    "rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp", "rip", "eflags"};
constexpr std::size_t kGeneralRsp = 15;
constexpr std::size_t kGeneralRip = 16;
constexpr std::size_t kEflags = 17;

constexpr std::uint16_t kUserCs = 0x33;  // __USER_CS, asm/segment.h
constexpr std::uint16_t kUserDs = 0x2B;  // __USER_DS; 0 where UC_SIGCONTEXT_SS is not set
constexpr std::uint64_t kUcFlags = 7;    // UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS
constexpr int kSiKernel = 0x80;
constexpr std::uint64_t kPageFault = 14;

// The frame is where rsp is at the handler's first instruction, so the ABI fixes its alignment.
constexpr std::uint64_t kFrameAlignment = 16;
constexpr std::uint64_t kFrameRemainder = 8;

// mov $15 (rt_sigreturn), %rax; syscall: glibc's and musl's restorer. The other one is with %eax.
constexpr std::array<unsigned char, 9> kRestorer = {0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05};
constexpr std::array<unsigned char, 7> kShortRestorer = {0xB8, 0x0F, 0, 0, 0, 0x0F, 0x05};

// The kernel pushes the floating point state just above the frame; with AMX it has 11 KiB.
constexpr std::uint64_t kLargestFpstate = 64U << 10;

// How far from rsp a push, a call or a probe of a stack that has overflowed may fault.
constexpr std::uint64_t kOverflowReach = 64U << 10;

bool is_executable(const Target& target, Address at) {
  const Region* region = target.region_at(at);
  return region != nullptr && region->executable;
}

// False only when the code is there and is another: a stripped core lacks it.
bool may_be_restorer(Target& target, Address at) {
  std::array<unsigned char, kRestorer.size()> code;
  if (!target.read(at, std::as_writable_bytes(std::span(code)))) return true;
  return code == kRestorer ||
         std::equal(kShortRestorer.begin(), kShortRestorer.end(), code.begin());
}

SignalInfo signal_of(const RtSigframe& frame) {
  SignalInfo signal;
  signal.number = frame.info.number;
  signal.code = frame.info.code;
  // SI_KERNEL: the processor gave no address (asm/traps.c, general protection).
  if (is_fault_signal(signal.number) && signal.code > 0 && signal.code != kSiKernel) {
    signal.address = frame.info.address;
  }
  return signal;
}

bool plausible_siginfo(const RtSigframe& frame) {
  // asm-generic/siginfo.h: codes of faults are small, those of senders are -1 to -7 and -60.
  const int code = frame.info.code;
  return frame.info.number >= 1 && frame.info.number <= 64 &&
         (code == kSiKernel || (code >= -60 && code <= 32));
}

bool plausible_ucontext(const RtSigframe& frame, Address at) {
  if (frame.uc.flags > kUcFlags || frame.uc.link != 0) return false;
  const std::uint64_t fpstate = frame.context.fpstate;
  return fpstate == 0 || (fpstate > at && fpstate - at < kLargestFpstate);
}

// Bit 1 of rflags is always set, 3, 5, 15 and those above 21 never (Intel SDM volume 1, 3.4.3).
bool plausible_flags(std::uint64_t eflags) {
  constexpr std::uint64_t kAlwaysSet = 1U << 1;
  constexpr std::uint64_t kNeverSet = ~std::uint64_t{0x3F'7FD7};
  return (eflags & kAlwaysSet) != 0 && (eflags & kNeverSet) == 0;
}

// A program counter is in code, or the signal says that jumping there was the fault.
bool plausible_pc(const Target& target, Address pc, const SignalInfo& signal) {
  if (is_executable(target, pc)) return true;
  if (!is_fault_signal(signal.number)) return false;
  return signal.address == pc || (signal.code == kSiKernel && !is_canonical(pc));
}

bool plausible_stack(const Target& target, Address rsp, const SignalInfo& signal) {
  if (target.region_at(rsp) != nullptr) return true;
  if (!signal.address) return false;
  return *signal.address - (rsp - kOverflowReach) < 2 * kOverflowReach;
}

std::optional<Access> page_fault_access(const RtSigframe& frame) {
  // asm/trap_pf.h: X86_PF_WRITE is bit 1, X86_PF_INSTR is bit 4.
  const bool fault = is_fault_signal(frame.info.number) && frame.info.code > 0;
  if (!fault || frame.context.trapno != kPageFault) return std::nullopt;
  if ((frame.context.err & 0x10) != 0) return Access::execute;
  return (frame.context.err & 2) != 0 ? Access::write : Access::read;
}

// The kernel fills siginfo only for handlers that were set with SA_SIGINFO; Python's faulthandler
// is one of those without. The thread's last processor exception then tells which fault it was, if
// that was the last thing that happened to it: see agrees_with_code.
RtSigframe with_signal_of_trap(RtSigframe frame) {
  if (plausible_siginfo(frame)) return frame;
  constexpr std::uint64_t kStackFault = 12;
  constexpr std::uint64_t kGeneralProtection = 13;
  if (frame.context.trapno == kPageFault) {
    // asm/trap_pf.h: X86_PF_PROT is bit 0.
    frame.info.number = SIGSEGV;
    frame.info.code = (frame.context.err & 1) != 0 ? SEGV_ACCERR : SEGV_MAPERR;
    frame.info.address = frame.context.cr2;
  } else if (frame.context.trapno == kStackFault || frame.context.trapno == kGeneralProtection) {
    frame.info.number = SIGSEGV;
    frame.info.code = kSiKernel;
    frame.info.address = 0;
  }
  return frame;
}

// Whether the instruction that was interrupted makes just the fault that its exception tells. An
// exception from earlier in the thread's life does not fit the place where it is now.
bool agrees_with_code(Target& target, const SignalFrame& frame) {
  if (frame.signal.address && frame.signal.address == program_counter(frame.registers)) return true;
  const auto instruction = decode_instruction(target, frame.registers);
  if (!instruction) return false;
  const MemoryOperand* operand = faulting_operand(*instruction, frame.signal.address);
  return operand != nullptr && operand->address.has_value();
}

// Why these bytes are no frame, from themselves alone; empty when they may be one.
std::string_view implausible(const RtSigframe& frame, Address at) {
  const bool user_stack = frame.context.ss == kUserDs || frame.context.ss == 0;
  if (frame.context.cs != kUserCs || !user_stack) {
    return "its segment selectors are not those of a 64-bit program";
  }
  if (!plausible_siginfo(frame)) return "its siginfo holds no signal";
  if (!plausible_ucontext(frame, at)) return "its ucontext is not the kernel's";
  if (!plausible_flags(frame.context.general[kEflags])) return "its rflags are impossible";
  return {};
}

// The search's test, on a copy of the stack; it must be cheap, for it is made at every place.
bool may_be_fault(std::span<const std::byte> bytes, Address at) {
  std::uint16_t cs;
  std::memcpy(&cs, bytes.data() + offsetof(RtSigframe, context.cs), sizeof cs);
  if (cs != kUserCs) return false;
  RtSigframe frame;
  std::memcpy(&frame, bytes.data(), sizeof frame);
  frame = with_signal_of_trap(frame);
  return implausible(frame, at).empty() && is_fault_signal(frame.info.number) &&
         frame.info.code > 0;
}

// Reads the stack at `start`, 0 where it cannot be read: no frame passes with those.
void read_what_is_there(Target& target, Address start, std::span<std::byte> out) {
  constexpr std::uint64_t kPage = 4096;
  if (target.read(start, out)) return;
  for (std::uint64_t done = 0; done < out.size();) {
    const std::uint64_t to_page_end = kPage - (start + done) % kPage;
    const auto page = out.subspan(done, std::min<std::uint64_t>(to_page_end, out.size() - done));
    if (!target.read(start + done, page)) std::fill(page.begin(), page.end(), std::byte{0});
    done += page.size();
  }
}

Result<SignalFrame> decode_signal_frame(Target& target, Address at) {
  const auto read = target.read_value<RtSigframe>(at);
  if (!read) return tl::unexpected(read.error());
  const RtSigframe frame = with_signal_of_trap(*read);
  const auto refuse = [at](std::string_view why) {
    return fail(fmt::format("no signal frame at {:#x}: {}", at, why), at);
  };

  if (const auto why = implausible(frame, at); !why.empty()) return refuse(why);
  if (!is_executable(target, frame.pretcode)) return refuse("its return address is no code");
  if (!may_be_restorer(target, frame.pretcode)) {
    return refuse("its return address is not a call of rt_sigreturn");
  }

  SignalFrame found;
  found.at = at;
  found.signal = signal_of(frame);
  if (!plausible_pc(target, frame.context.general[kGeneralRip], found.signal)) {
    return refuse("its program counter is no code");
  }
  if (!plausible_stack(target, frame.context.general[kGeneralRsp], found.signal)) {
    return refuse("its stack pointer is not mapped");
  }
  for (std::size_t i = 0; i < kContextNames.size(); ++i) {
    found.registers.set(*register_slot(kContextNames[i]), frame.context.general[i]);
  }
  found.registers.set(*register_slot("cs"), frame.context.cs);
  found.registers.set(*register_slot("ss"), frame.context.ss);
  found.trap = frame.context.trapno;
  found.access = page_fault_access(frame);
  found.signal_from_trap = !plausible_siginfo(*read);
  if (found.signal_from_trap && !agrees_with_code(target, found)) {
    return refuse("its siginfo holds no signal");
  }
  return found;
}

// Where signal frames of faults are in [start, end).
std::vector<Address> search_stack(Target& target, Address start, Address end) {
  constexpr std::uint64_t kChunk = 256U << 10;
  std::vector<Address> found;
  std::vector<std::byte> bytes;
  for (Address chunk = start; chunk < end && !target.interrupted(); chunk += kChunk) {
    // A chunk, and what a frame that begins in it may have behind it.
    bytes.resize(std::min(end - chunk, kChunk + sizeof(RtSigframe)));
    read_what_is_there(target, chunk, bytes);
    const std::uint64_t places = std::min<std::uint64_t>(bytes.size(), kChunk);
    for (std::uint64_t offset = 0; offset < places; offset += kFrameAlignment) {
      if (offset + sizeof(RtSigframe) > bytes.size()) break;
      if (!may_be_fault(std::span(bytes).subspan(offset), chunk + offset)) continue;
      if (decode_signal_frame(target, chunk + offset)) found.push_back(chunk + offset);
    }
  }
  return found;
}

}  // namespace

Result<SignalFrame> read_signal_frame(Target& target, Address at) {
  return tentatively(target, [&] { return decode_signal_frame(target, at); });
}

std::vector<SignalFrame> find_signal_frames(Target& target, const Thread& thread,
                                            std::uint64_t limit) {
  std::vector<SignalFrame> frames;
  const auto stack = stack_pointer(thread.registers);
  const Region* region = stack ? target.region_at(*stack) : nullptr;
  if (region == nullptr) return frames;
  constexpr std::uint64_t kLargestSearch = 64U << 20;
  const std::uint64_t size = std::min({limit, kLargestSearch, region->end - *stack});
  // The first place at or above rsp where a frame may be.
  const Address start = *stack + (kFrameRemainder - *stack) % kFrameAlignment;
  if (start < *stack || start - *stack + sizeof(RtSigframe) > size) return frames;

  const auto places = answered<std::vector<Address>>(
      target, fmt::format("signal frames in {} bytes of stack from {:x}", size, *stack),
      [&] { return search_stack(target, start, *stack + size); });
  for (const Address at : places) {
    auto frame = read_signal_frame(target, at);
    if (!frame) continue;
    for (const std::string_view name : {"fs_base", "gs_base"}) {
      const std::size_t slot = *register_slot(name);
      if (const auto base = thread.registers.get(slot)) frame->registers.set(slot, *base);
    }
    frames.push_back(*frame);
  }
  return frames;
}

}  // namespace aotidbg
