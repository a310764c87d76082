// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/sb_threads.h"

#include <array>
#include <charconv>
#include <csignal>
#include <string_view>
#include <utility>

#include "common/arch/x86_64.h"
#include "lldb_plugin/optional_api.h"

namespace aotidbg {
namespace {

std::optional<std::uint64_t> unsigned_of(lldb::SBValue value) {
  if (!value.IsValid()) return std::nullopt;
  lldb::SBError error;
  const std::uint64_t number = value.GetValueAsUnsigned(error);
  if (error.Fail()) return std::nullopt;
  return number;
}

Registers read_registers(lldb::SBThread& thread) {
  Registers registers;
  lldb::SBFrame frame = thread.GetFrameAtIndex(0);
  lldb::SBValueList sets = frame.GetRegisters();
  // The set of general registers is the first; a remote stub may spread them over several. Values
  // are fetched for the names that we keep, not for the vector registers.
  for (std::uint32_t set = 0; set < sets.GetSize(); ++set) {
    lldb::SBValue names = sets.GetValueAtIndex(set);
    for (std::uint32_t child = 0; child < names.GetNumChildren(); ++child) {
      lldb::SBValue value = names.GetChildAtIndex(child);
      const char* name = value.GetName();
      if (name == nullptr) continue;
      const auto slot = register_slot(name);
      if (!slot || registers.get(*slot)) continue;
      if (const auto number = unsigned_of(value)) registers.set(*slot, *number);
    }
    if (program_counter(registers) && stack_pointer(registers)) break;
  }
  return registers;
}

// LLDB's words for si_code, newest first: GetCrashReasonString, CrashReason.cpp (13 to 16), and
// UnixSignals.cpp (17 on). Old ones say "invalid address" also for a general protection fault,
// whose address is not known.
struct CodeWords {
  int signal;
  std::string_view words;
  int code;
};
constexpr std::array<CodeWords, 9> kCodeWords = {{
    {SIGSEGV, "address not mapped to object", SEGV_MAPERR},
    {SIGSEGV, "invalid permissions for mapped object", SEGV_ACCERR},
    {SIGSEGV, "address access protected", SEGV_ACCERR},
    {SIGSEGV, "invalid address", SEGV_MAPERR},
    {SIGBUS, "illegal alignment", BUS_ADRALN},
    {SIGBUS, "invalid address alignment", BUS_ADRALN},
    {SIGBUS, "illegal address", BUS_ADRERR},
    {SIGBUS, "nonexistent physical address", BUS_ADRERR},
    {SIGFPE, "integer divide by zero", FPE_INTDIV},
}};

// For LLDB 13 and for stubs that do not hand siginfo over: the stop's description, as "signal
// SIGSEGV: invalid address (fault address: 0x1234)". What it does not say stays unknown.
SignalInfo signal_from_description(int number, lldb::SBThread& thread) {
  SignalInfo signal{number, std::nullopt, std::nullopt};
  std::array<char, 256> buffer{};
  thread.GetStopDescription(buffer.data(), buffer.size());
  const std::string_view text(buffer.data());
  constexpr std::string_view kAddress = "fault address";
  const std::size_t at = text.find(kAddress);
  if (at == std::string_view::npos) return signal;
  std::string_view digits = text.substr(at + kAddress.size());
  const std::size_t prefix = digits.find("0x");
  if (prefix == std::string_view::npos) return signal;
  digits.remove_prefix(prefix + 2);
  Address address = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (parsed.ec != std::errc() || address == 0) return signal;
  for (const CodeWords& known : kCodeWords) {
    if (known.signal != number || text.find(known.words) == std::string_view::npos) continue;
    signal.code = known.code;
    signal.address = address;
    break;
  }
  return signal;
}

// siginfo_t, asm-generic/siginfo.h, under the names that LLDB gives its members.
std::optional<SignalInfo> signal_from_siginfo(int number, lldb::SBThread& thread) {
  auto info = siginfo_of(thread);
  if (!info || !info->IsValid()) return std::nullopt;
  lldb::SBValue value = *info;
  const auto code = unsigned_of(value.GetChildMemberWithName("si_code"));
  const auto raised = unsigned_of(value.GetChildMemberWithName("si_signo"));
  if (!code || raised != static_cast<std::uint64_t>(number)) return std::nullopt;
  SignalInfo signal{number, static_cast<int>(*code), std::nullopt};
  if (signal.code > 0 && is_fault_signal(number)) {
    signal.address = unsigned_of(value.GetChildMemberWithName("_sifields")
                                     .GetChildMemberWithName("_sigfault")
                                     .GetChildMemberWithName("si_addr"));
  }
  return signal;
}

std::optional<SignalInfo> read_signal(lldb::SBThread& thread) {
  if (thread.GetStopReason() != lldb::eStopReasonSignal || thread.GetStopReasonDataCount() == 0) {
    return std::nullopt;
  }
  const int number = static_cast<int>(thread.GetStopReasonDataAtIndex(0));
  const SignalInfo described = signal_from_description(number, thread);
  auto signal = signal_from_siginfo(number, thread);
  if (!signal) return described;
  // When several threads fault at once, LLDB hands out the siginfo of one of them for all (seen in
  // 19); the description is each thread's own.
  const bool is_another_threads = described.address && signal->address != described.address;
  return is_another_threads ? described : *signal;
}

bool has_stop_reason(lldb::SBThread thread) {
  const lldb::StopReason reason = thread.GetStopReason();
  return reason != lldb::eStopReasonNone && reason != lldb::eStopReasonInvalid;
}

}  // namespace

StoppedThreads read_threads(lldb::SBProcess& process) {
  StoppedThreads stopped;
  const std::uint32_t count = process.GetNumThreads();
  stopped.threads.reserve(count);
  for (std::uint32_t at = 0; at < count; ++at) {
    lldb::SBThread from = process.GetThreadAtIndex(at);
    Thread thread;
    thread.id = static_cast<ThreadId>(from.GetThreadID());
    if (const char* name = from.GetName()) thread.name = name;
    thread.registers = read_registers(from);
    thread.signal = read_signal(from);
    if (thread.signal && !stopped.stopped_thread) stopped.stopped_thread = thread.id;
    stopped.threads.push_back(std::move(thread));
  }
  return stopped;
}

std::optional<ThreadId> users_thread(lldb::SBProcess& process) {
  lldb::SBThread selected = process.GetSelectedThread();
  lldb::SBThread first = process.GetThreadAtIndex(0);
  if (!selected.IsValid() || !first.IsValid()) return std::nullopt;
  const auto id = static_cast<ThreadId>(selected.GetThreadID());
  if (has_stop_reason(selected)) {
    // A kernel core gives every thread the same signal, and the one that took it comes first.
    const bool same = selected.GetThreadID() == first.GetThreadID();
    return same || !has_stop_reason(first) ? std::nullopt : std::optional(id);
  }
  for (std::uint32_t at = 0; at < process.GetNumThreads(); ++at) {
    if (has_stop_reason(process.GetThreadAtIndex(at))) return id;
  }
  return std::nullopt;
}

}  // namespace aotidbg
