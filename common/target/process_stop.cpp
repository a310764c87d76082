// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/process_stop.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "common/target/file_bytes.h"

namespace aotidbg {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{2};  // for threads to stop
constexpr int kMostRounds = 1000;             // of looking for threads that appeared meanwhile
constexpr int kEventStop = 128;               // PTRACE_EVENT_STOP, linux/ptrace.h

// The text after "Name:" in /proc/PID/status.
std::optional<std::string> status_field(std::int64_t pid, std::string_view name) {
  const auto status = read_text(fmt::format("/proc/{}/status", pid), 64U << 10);
  if (!status) return std::nullopt;
  const std::string lines = "\n" + *status;
  const std::size_t at = lines.find(fmt::format("\n{}:", name));
  if (at == std::string::npos) return std::nullopt;
  std::string_view value = std::string_view(lines).substr(at + name.size() + 2);
  value = value.substr(0, value.find('\n'));
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return std::string(value);
}

std::int64_t number_of(const std::optional<std::string>& text) {
  std::int64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

bool has_ended(std::int64_t thread) {
  const std::string state = status_field(thread, "State").value_or("X");
  return state.starts_with('Z') || state.starts_with('X');
}

tl::unexpected<Error> not_there(std::int64_t pid) {
  return fail(fmt::format("there is no process {} on this machine", pid));
}

tl::unexpected<Error> traced_by(std::int64_t pid, std::int64_t tracer) {
  return fail(
      fmt::format("process {} is held by another tool already: {} (process {})", pid,
                  status_field(tracer, "Name").value_or("one of another namespace"), tracer),
      std::nullopt, "ask there, or let it detach first");
}

// ptrace(2), "Ptrace access mode checking": the user, capabilities, then Yama's own rule.
tl::unexpected<Error> not_allowed(std::int64_t pid) {
  const auto scope = read_text("/proc/sys/kernel/yama/ptrace_scope", 16);
  const bool restricted = scope && !scope->starts_with('0');
  return fail(fmt::format("process {} may not be traced by this user", pid), std::nullopt,
              restricted ? fmt::format("run aotidbg as root, or allow it until the next start: "
                                       "sysctl kernel.yama.ptrace_scope=0 (it is {} now)",
                                       scope->substr(0, scope->find('\n')))
                         : "run aotidbg as the process's user or as root; in a container with "
                           "--cap-add SYS_PTRACE");
}

std::vector<pid_t> threads_of(std::int64_t pid) {
  std::vector<pid_t> ids;
  std::error_code error;
  std::filesystem::directory_iterator entry(fmt::format("/proc/{}/task", pid), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t id = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), id);
    if (parsed.ec == std::errc()) ids.push_back(id);
  }
  return ids;
}

bool read_registers(pid_t thread, Registers& registers) {
  user_regs_struct values{};
  static_assert(sizeof(values) == Registers::kCount * sizeof(std::uint64_t));
  iovec place{&values, sizeof(values)};
  if (::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &place) != 0) return false;
  std::array<std::uint64_t, Registers::kCount> slots{};
  std::memcpy(slots.data(), &values, sizeof(values));
  for (std::size_t slot = 0; slot < slots.size(); ++slot) registers.set(slot, slots[slot]);
  return true;
}

SignalInfo read_signal(pid_t thread, int number) {
  SignalInfo signal{number, std::nullopt, std::nullopt};
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info) != 0) return signal;
  signal.code = info.si_code;
  if (info.si_code > 0 && is_fault_signal(number)) {
    signal.address = reinterpret_cast<Address>(info.si_addr);
  }
  return signal;
}

}  // namespace

Result<ProcessStop> ProcessStop::make(std::int64_t pid) {
  const std::int64_t process = number_of(status_field(pid, "Tgid"));
  if (process == 0) return not_there(pid);
  if (has_ended(process) && threads_of(process).size() <= 1) {
    return fail(fmt::format("process {} has ended; its parent has not collected it", process));
  }
  if (!status_field(process, "VmSize")) {
    return fail(
        fmt::format("process {} belongs to the kernel and has no memory of its own", process));
  }
  if (const auto tracer = number_of(status_field(process, "TracerPid")); tracer != 0) {
    return traced_by(process, tracer);
  }
  ProcessStop stop(process);
  if (auto done = stop.stop_all(); !done) return tl::unexpected(done.error());
  return stop;
}

// A thread that runs may start another one until all stand still.
Result<void> ProcessStop::stop_all() {
  for (int round = 0; round < kMostRounds; ++round) {
    const auto added = seize_new_ones();
    if (!added) return tl::unexpected(added.error());
    if (*added == 0) break;
    wait_for_all();
  }
  if (held_.empty()) return not_there(pid_);
  return {};
}

Result<std::size_t> ProcessStop::seize_new_ones() {
  std::size_t added = 0;
  for (const pid_t id : threads_of(pid_)) {
    const auto is_it = [id](const Held& held) { return held.id == id; };
    if (std::any_of(held_.begin(), held_.end(), is_it)) continue;
    if (::ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
      const int error = errno;
      if (error == ESRCH || has_ended(id)) continue;
      const std::int64_t tracer = number_of(status_field(id, "TracerPid"));
      if (tracer != 0) return traced_by(pid_, tracer);
      if (error == EPERM || error == EACCES) return not_allowed(pid_);
      return fail(fmt::format("process {} cannot be stopped: {}", pid_, std::strerror(error)));
    }
    held_.push_back({id, false, 0});
    ++added;
    ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
  }
  return added;
}

void ProcessStop::wait_for_all() {
  const Clock::time_point deadline = Clock::now() + kPatience;
  for (bool waiting = true; waiting;) {
    waiting = false;
    for (Held& held : held_) {
      if (held.stopped || held.id == 0) continue;
      int status = 0;
      const pid_t got = ::waitpid(held.id, &status, __WALL | WNOHANG);
      if (got == held.id && WIFSTOPPED(status)) {
        held.stopped = true;
        if (status >> 16 != kEventStop) held.signal = WSTOPSIG(status);
      } else if (got == held.id || (got < 0 && errno == ECHILD)) {
        held.id = 0;  // it has ended
      } else {
        waiting = true;
      }
    }
    std::erase_if(held_, [](const Held& held) { return held.id == 0; });
    if (waiting && Clock::now() > deadline) return;
    if (waiting) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

StoppedThreads ProcessStop::threads() const {
  StoppedThreads threads;
  for (const Held& held : held_) {
    Thread thread;
    thread.id = held.id;
    if (!held.stopped || !read_registers(held.id, thread.registers)) {
      threads.gaps.push_back({fmt::format("thread {} did not stop (it waits inside the kernel), so "
                                          "its registers are not known",
                                          held.id),
                              std::nullopt, "run the command again"});
    }
    if (held.signal != 0) {
      thread.signal = read_signal(held.id, held.signal);
      if (is_fault_signal(held.signal)) threads.stopped_thread = thread.id;
    }
    threads.threads.push_back(std::move(thread));
  }
  return threads;
}

ProcessStop::ProcessStop(ProcessStop&& other) noexcept
    : pid_(other.pid_), held_(std::exchange(other.held_, {})) {}

// A thread that never stopped cannot be detached from; the kernel does so when this process ends.
// One that a signal killed while others were let go is dead, and its process does not end before
// somebody has taken notice; of the first thread, that is its parent.
ProcessStop::~ProcessStop() {
  std::vector<pid_t> dead;
  for (const Held& held : held_) {
    const auto signal = static_cast<std::intptr_t>(held.signal);
    const bool gone = ::ptrace(PTRACE_DETACH, held.id, nullptr, signal) != 0 && errno == ESRCH;
    if (gone && held.stopped && held.id != pid_) dead.push_back(held.id);
  }
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (!dead.empty() && Clock::now() < deadline) {
    std::erase_if(dead, [](pid_t id) { return ::waitpid(id, nullptr, __WALL | WNOHANG) != 0; });
    if (!dead.empty()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace aotidbg
