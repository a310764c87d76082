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

// One memory operand, with the register values that it had.
struct MemoryOperand {
  Access access = Access::unknown;
  std::string base_register;                  // "rsi"; empty when there is none
  std::string index_register;                 // empty when there is none
  unsigned scale = 1;
  std::int64_t displacement = 0;
  std::optional<std::uint64_t> base;          // value; nullopt: not known
  std::optional<std::uint64_t> index;         // value, sign as it is in the register
  std::uint64_t size = 0;                     // bytes accessed; 0 when it depends (rep movs)
  std::optional<Address> address;             // effective address, segment base included
};

struct Instruction {
  Address at = 0;
  unsigned length = 0;
  std::string text;                     // Intel syntax: "vmovups zmm1, [rsi+rax*4]"
  std::vector<MemoryOperand> operands;  // explicit and implicit memory operands; a gather/scatter
                                        // (vector index) has base, no index and no address
  bool gathers = false;                 // VSIB: lanes have addresses of their own
  bool calls = false;
};

// Decodes the instruction at the program counter of `registers`. Fails when its bytes cannot be
// read or are no instruction.
Result<Instruction> decode_instruction(Memory& memory, const Registers& registers);

// True when a call instruction ends exactly at `return_address` (direct or indirect).
bool follows_call(Memory& memory, Address return_address);

// Which operand of `instruction` a fault at `fault_address` belongs to: the one whose accessed
// range [address, address + size) covers it; with no fault address (non-canonical), the one whose
// effective address is non-canonical. nullptr when none agrees.
const MemoryOperand* faulting_operand(const Instruction& instruction,
                                      std::optional<Address> fault_address);

bool is_canonical(Address at);  // 48-bit virtual addresses

// A signal frame found on a stack: what the thread was doing when the kernel delivered a signal,
// from the ucontext and siginfo that the kernel pushed.
struct SignalFrame {
  Address at = 0;        // address of the frame (the return address to the restorer)
  SignalInfo signal;
  Registers registers;   // from uc_mcontext
};

// Reads the kernel's rt_sigframe whose pretcode is at `at` (linux/arch/x86/include/asm/sigframe.h).
// Fails unless it validates: segment selectors, a plausible siginfo, pc and stack of this process.
Result<SignalFrame> read_signal_frame(Memory& memory, Address at);

// Searches a thread's stack from its stack pointer upwards, at most `limit` bytes, for signal
// frames of fault signals (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP with si_code > 0); innermost
// first. Handlers that raise again leave the true fault there. A handler on an alternate stack
// (sigaltstack) is found too: the search covers the mapping that the stack pointer lies in.
std::vector<SignalFrame> find_signal_frames(Target& target, const Thread& thread,
                                            std::uint64_t limit = 1U << 20);

}  // namespace aotidbg
