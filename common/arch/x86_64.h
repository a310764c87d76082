// SPDX-License-Identifier: BSD-3-Clause
//
// The one place that knows a processor. x86-64 only: a target of another machine is refused by
// name before anything here is called.
//
// Sources: System V ABI, AMD64 supplement (DWARF register numbers, figure 3.36; red zone);
// linux/arch/x86/include/uapi/asm/sigcontext.h (struct sigcontext_64) and ucontext.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

// Slots of Registers by name: "rip", "rsp", "rax", "r8", "fs_base"; nullopt for an unknown name.
// "rflags" is another name of "eflags". Sub-registers ("eax") are not slots. The name of a slot
// that there is not is empty.
std::optional<std::size_t> register_slot(std::string_view name);
std::string_view register_name(std::size_t slot);

std::optional<std::uint64_t> program_counter(const Registers& registers);
std::optional<std::uint64_t> stack_pointer(const Registers& registers);

// Slot for a DWARF register number (0 rax, 1 rdx, ... 7 rsp, 16 return address: rip). nullopt for
// those that Registers does not hold, as the vector registers.
std::optional<std::size_t> slot_of_dwarf_register(unsigned number);

// rbx, rbp, rsp, r12 to r15: what a System V callee leaves as it found it.
bool preserved_by_callee(std::size_t slot);

enum class Access { read, write, read_write, execute, unknown };

// One memory operand, with the register values that it had. Where `address` is known it is
// segment base + base + index * scale + displacement.
struct MemoryOperand {
  Access access = Access::unknown;  // masked and repeated operands: what a lane would do
  std::string segment_register;     // "fs" or "gs"; empty: no segment base is added
  std::string base_register;        // "rsi", "rip"; empty when there is none
  std::string index_register;       // empty when there is none
  unsigned scale = 1;
  std::int64_t displacement = 0;       // push and call: what they subtract from rsp is in it
  std::optional<std::uint64_t> base;   // value (rip: of the next instruction); nullopt: not known
  std::optional<std::uint64_t> index;  // value, sign as it is in the register
  std::uint64_t size = 0;          // bytes accessed, masked lanes too; 0 when it depends (rep movs)
  unsigned element_size = 0;       // bytes of one repetition, of one lane of a gather; else `size`
  unsigned alignment = 1;          // of `address`, which the processor demands (movaps: 16)
  std::optional<Address> address;  // effective address, segment base included
};

struct Instruction {
  Address at = 0;
  unsigned length = 0;
  std::string text;  // Intel syntax, no absolute addresses: "vmovups zmm1, [rsi+rax*4]"
  // Explicit and implicit memory accesses; none for lea, nop and prefetch. Last, for an indirect
  // near call, jump or return whose target is known: that target, access `execute`, size 0. (The
  // processor checks on the branch itself that the target is canonical, so the fault is there.)
  // An operand with lanes (gather, scatter, AMX tile) has a base, no index and no address.
  std::vector<MemoryOperand> operands;
  bool gathers = false;  // lanes or rows have addresses of their own
  bool calls = false;
};

// Decodes the instruction at the program counter of `registers`. Fails when its bytes cannot be
// read (the processor could not fetch them either: when the fault address is the program counter,
// the access was `execute` and there is no operand) or are no instruction.
Result<Instruction> decode_instruction(Memory& memory, const Registers& registers);

// True when a call instruction ends exactly at `return_address` (direct or indirect).
bool follows_call(Memory& memory, Address return_address);

// Which operand of `instruction` a fault at `fault_address` belongs to: the one whose accessed
// range [address, address + size) covers it (element_size where size is 0). With no fault address,
// the one whose effective address is non-canonical, else one that breaks its alignment. Where none
// agrees: the operand that has lanes, whose addresses are not known, else nullptr.
const MemoryOperand* faulting_operand(const Instruction& instruction,
                                      std::optional<Address> fault_address);

bool is_canonical(Address at);  // 48-bit virtual addresses

// A signal frame found on a stack: what the thread was doing when the kernel delivered a signal,
// from the ucontext and siginfo that the kernel pushed.
struct SignalFrame {
  Address at = 0;  // address of the frame (the return address to the restorer)
  SignalInfo signal;
  Registers registers;  // from uc_mcontext; no segment bases, those are not in it
  // The thread's last processor exception, so of `signal` when that is a fault: 14 page fault, 13
  // general protection (a non-canonical address), 12 the same based on rsp or rbp, 0 divide.
  std::uint64_t trap = 0;
  std::optional<Access> access;  // of a page fault, by its error code: read, write or execute
  // The handler took no siginfo (no SA_SIGINFO), so `signal` was made from the processor's
  // exception, which the interrupted instruction agrees with.
  bool signal_from_trap = false;
};

// Reads the kernel's rt_sigframe whose pretcode is at `at` (linux/arch/x86/include/asm/sigframe.h).
// Fails unless it validates: the code of the restorer when that can be read, segment selectors, a
// plausible siginfo, pc and stack of this process.
Result<SignalFrame> read_signal_frame(Target& target, Address at);

// Searches a thread's stack from its stack pointer upwards, at most `limit` bytes, for signal
// frames of fault signals (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP with si_code > 0); innermost
// first. Handlers that raise again leave the true fault there. A handler on an alternate stack
// (sigaltstack) is found too: the search covers the mapping that the stack pointer lies in. Pages
// that cannot be read are skipped. fs_base and gs_base are the thread's: a handler shares them.
std::vector<SignalFrame> find_signal_frames(Target& target, const Thread& thread,
                                            std::uint64_t limit = 1U << 20);

}  // namespace aotidbg
