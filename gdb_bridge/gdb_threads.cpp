// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/gdb_threads.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "common/arch/x86_64.h"
#include "gdb_bridge/gdb_session.h"
#include "gdb_bridge/gdb_text.h"

namespace aotidbg {
namespace {

Registers read_registers() {
  Registers registers;
  const Object frame = gdb_module().call("newest_frame");
  for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
    const std::string name(register_name(slot));
    const auto value = frame.call("read_register", Object::text(name)).as_number();
    if (value) registers.set(slot, *value);
  }
  return registers;
}

// siginfo_t of the selected thread, asm-generic/siginfo.h, under the names that GDB gives its
// members (gdb/linux-tdep.c, linux_get_siginfo_type_with_fields). GDB fetches it; nothing is run.
std::optional<SignalInfo> read_siginfo() {
  const Object info = gdb_module().call("parse_and_eval", Object::text("$_siginfo"));
  const auto number = info.item("si_signo").as_number();
  const auto code = info.item("si_code").as_number();
  if (!number || !code || *number == 0) return std::nullopt;
  SignalInfo signal{static_cast<int>(*number), static_cast<int>(*code), std::nullopt};
  if (signal.code > 0 && is_fault_signal(signal.number)) {
    const auto address = info.item("_sifields").item("_sigfault").item("si_addr").as_number();
    if (address) signal.address = *address;
  }
  return signal;
}

// What GDB itself stops threads with: SIGSTOP, and breakpoints and steps by SIGTRAP.
bool is_the_debuggers(const SignalInfo& signal) {
  return signal.number == SIGSTOP || signal.number == SIGTRAP;
}

// The thread whose signal stopped the process, when GDB was not heard saying so: one with a fault,
// else one with a signal that is not the debugger's.
std::optional<ThreadId> likely_event(const std::vector<Thread>& threads) {
  for (const Thread& thread : threads) {
    const bool faulted = thread.signal && is_fault_signal(thread.signal->number);
    if (faulted && !is_the_debuggers(*thread.signal)) return thread.id;
  }
  for (const Thread& thread : threads) {
    if (thread.signal && !is_the_debuggers(*thread.signal)) return thread.id;
  }
  return selected_thread();
}

}  // namespace

StoppedThreads read_threads(const Object& inferior, std::optional<ThreadId> event) {
  StoppedThreads stopped;
  const KeepSelection keep;
  for (const Object& from : inferior.call("threads").as_items().value_or(std::vector<Object>())) {
    const auto id = thread_id(from);
    if (!id) continue;
    Thread thread;
    thread.id = *id;
    if (const Object name = from.attribute("name"); !name.is_none()) {
      thread.name = name.as_text().value_or(std::string());
    }
    if (!from.call("is_running").as_bool().value_or(false) && from.call("switch")) {
      thread.registers = read_registers();
      thread.signal = read_siginfo();
    }
    stopped.threads.push_back(std::move(thread));
  }
  std::sort(stopped.threads.begin(), stopped.threads.end(),
            [](const Thread& left, const Thread& right) { return left.id < right.id; });
  const bool by_signal = stopped_by_signal(gdb_output("info program").value_or(std::string()));
  if (!event && by_signal) event = likely_event(stopped.threads);
  for (Thread& thread : stopped.threads) {
    if (!thread.signal) continue;
    const bool is_event = by_signal && thread.id == event;
    const bool faulted =
        is_fault_signal(thread.signal->number) && !is_the_debuggers(*thread.signal);
    if (is_event) stopped.stopped_thread = thread.id;
    if (!is_event && !faulted) thread.signal.reset();
  }
  return stopped;
}

RunState run_state(const Object& inferior) {
  RunState state;
  for (const Object& thread : inferior.call("threads").as_items().value_or(std::vector<Object>())) {
    const bool runs = thread.call("is_running").as_bool().value_or(false);
    state.any_running |= runs;
    state.any_stopped |= !runs;
  }
  return state;
}

std::optional<ThreadId> selected_thread() {
  const Object thread = gdb_module().call("selected_thread");
  if (!thread || thread.is_none()) return std::nullopt;
  const auto id = thread_id(thread);
  if (!id) return std::nullopt;
  return *id;
}

}  // namespace aotidbg
