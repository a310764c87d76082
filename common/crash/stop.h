// SPDX-License-Identifier: BSD-3-Clause
//
// Which thread is explained, and with which registers.
//
// A handler that raises the signal again (faulthandler, glog, folly, Breakpad) leaves a stop whose
// registers are those of kill(): si_code is then not positive. The true fault is in the signal
// frame on that thread's stack, and it is the one that is explained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/arch/x86_64.h"
#include "common/target/target.h"

namespace aotidbg {

struct Stop {
  const Thread* thread = nullptr;    // null: the target has no threads
  Registers registers;               // at the fault, or where the thread is
  std::optional<SignalInfo> signal;  // the fault; empty when nothing was signalled
  std::vector<std::string> evidence;

  bool is_fault() const;  // SIGSEGV, SIGBUS, SIGFPE, SIGILL, raised by the kernel
};

// `chosen` is a thread that the user named; empty: the one that took the signal, else the first.
Stop find_stop(Target& target, std::optional<ThreadId> chosen);

std::string signal_name(int number);  // "SIGSEGV"
// "SEGV_MAPERR"; the number when it has no name.
std::string signal_code_name(int number, std::optional<int> code);

// The memory operand that faulted, and the exact address, which the operand tells even where the
// kernel does not (si_code 128: the address is non-canonical).
struct Fault {
  std::optional<Instruction> instruction;
  std::optional<MemoryOperand> operand;
  std::optional<Address> address;
  // The operand's address and the reported one are the same place. False with an operand: the
  // reported address was another, and the operand's own is taken.
  bool operand_agrees = false;
  bool executes = false;  // the program counter itself could not be fetched
  std::string problem;    // why `instruction` is empty
};

Fault find_fault(Target& target, const Stop& stop);

}  // namespace aotidbg
