// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/stop.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "common/torch/residency.h"

namespace aotidbg {
namespace {

// SIGTRAP is a debugger's breakpoint far more often than a program's fault.
bool kills_by_fault(const SignalInfo& signal) {
  // A code that is not known is taken for a fault's: most deaths by these signals are.
  return signal.number != SIGTRAP && is_fault_signal(signal.number) && signal.code.value_or(1) > 0;
}

}  // namespace

bool Stop::is_fault() const { return signal && kills_by_fault(*signal); }

Stop find_stop(Target& target, std::optional<ThreadId> chosen) {
  Stop stop;
  const auto wanted = chosen ? chosen : target.stopped_thread();
  if (wanted) stop.thread = target.thread(*wanted);
  if (stop.thread == nullptr && !chosen && !target.threads().empty()) {
    stop.thread = &target.threads().front();
  }
  if (stop.thread == nullptr) return stop;
  stop.registers = stop.thread->registers;
  stop.signal = stop.thread->signal;
  if (stop.is_fault() && stop.signal->code) return stop;
  const auto frames = find_signal_frames(target, *stop.thread);
  const auto fault = std::find_if(frames.begin(), frames.end(), [](const SignalFrame& frame) {
    return kills_by_fault(frame.signal);
  });
  if (fault == frames.end()) return stop;
  stop.evidence.push_back(fmt::format(
      "{} arrived while a signal handler ran; the first fault, {}, is in the signal frame that the "
      "kernel left on the stack",
      stop.signal ? signal_name(stop.signal->number) : "this stop",
      signal_name(fault->signal.number)));
  if (fault->signal_from_trap) {
    stop.evidence.emplace_back(
        "its handler took no siginfo: signal and address are those of the processor's exception, "
        "which "
        "the faulting instruction agrees with");
  }
  stop.registers = fault->registers;
  stop.signal = fault->signal;
  return stop;
}

std::string signal_name(int number) {
  const char* abbreviation = sigabbrev_np(number);
  return abbreviation == nullptr ? fmt::format("signal {}", number)
                                 : fmt::format("SIG{}", abbreviation);
}

std::string signal_code_name(int number, std::optional<int> known_code) {
  if (!known_code) return "si_code not known";
  const int code = *known_code;
  // <asm-generic/siginfo.h>
  if (code == SI_USER) return "SI_USER";
  if (code == SI_TKILL) return "SI_TKILL";
  if (code == SI_QUEUE) return "SI_QUEUE";
  if (code == SI_KERNEL) return "SI_KERNEL";
  if (number == SIGSEGV && code == SEGV_MAPERR) return "SEGV_MAPERR";
  if (number == SIGSEGV && code == SEGV_ACCERR) return "SEGV_ACCERR";
  if (number == SIGSEGV && code == SEGV_BNDERR) return "SEGV_BNDERR";
  if (number == SIGSEGV && code == SEGV_PKUERR) return "SEGV_PKUERR";
  if (number == SIGBUS && code == BUS_ADRALN) return "BUS_ADRALN";
  if (number == SIGBUS && code == BUS_ADRERR) return "BUS_ADRERR";
  if (number == SIGBUS && code == BUS_OBJERR) return "BUS_OBJERR";
  if (number == SIGFPE && code == FPE_INTDIV) return "FPE_INTDIV";
  if (number == SIGFPE && code == FPE_INTOVF) return "FPE_INTOVF";
  if (number == SIGILL && code == ILL_ILLOPC) return "ILL_ILLOPC";
  if (number == SIGILL && code == ILL_ILLOPN) return "ILL_ILLOPN";
  return fmt::format("si_code {}", code);
}

Fault find_fault(Target& target, const Stop& stop) {
  Fault fault;
  auto instruction = decode_instruction(target, stop.registers);
  if (instruction) {
    fault.instruction = std::move(*instruction);
  } else {
    fault.problem = instruction.error().what;
  }
  if (!stop.is_fault()) return fault;
  // Of SIGFPE and SIGILL, si_addr is the instruction (sigaction(2)), which touched no memory.
  const bool is_memory_fault = stop.signal->number == SIGSEGV || stop.signal->number == SIGBUS;
  if (!is_memory_fault) return fault;
  // SI_KERNEL comes without an address: a non-canonical one raises a protection fault.
  const bool has_address = stop.signal->address && stop.signal->code != SI_KERNEL;
  if (has_address) fault.address = stop.signal->address;
  const auto pc = program_counter(stop.registers);
  if (has_address && pc && fault.address == pc && stop.signal->number == SIGSEGV) {
    fault.executes = true;
  }
  if (!fault.instruction) return fault;
  if (const auto* operand = faulting_operand(*fault.instruction, fault.address)) {
    fault.operand = *operand;
    fault.operand_agrees = true;
    if (!fault.address) fault.address = operand->address;
    return fault;
  }
  // No address was reported, or that of another thread's fault (a host mixed up two that came at
  // once): the registers are this thread's own, so an only operand that leads nowhere is believed.
  const auto& operands = fault.instruction->operands;
  const bool is_only = operands.size() == 1 && operands.front().address && !fault.executes;
  if (is_only && !is_readable(target, *operands.front().address, 1)) {
    fault.operand = operands.front();
    fault.address = operands.front().address;
  }
  return fault;
}

}  // namespace aotidbg
