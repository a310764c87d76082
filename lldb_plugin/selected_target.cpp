// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/selected_target.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/arch/x86_64.h"
#include "common/target/elf_core.h"
#include "common/target/elf_image.h"
#include "common/target/live_process.h"
#include "lldb_plugin/core_path.h"
#include "lldb_plugin/optional_api.h"
#include "lldb_plugin/sb_modules.h"
#include "lldb_plugin/sb_target.h"
#include "lldb_plugin/sb_threads.h"

namespace aotidbg {
namespace {

constexpr std::string_view kOpenCore = "open its core with `target create -c CORE`";

bool is_core(lldb::SBProcess& process) {
  const char* plugin = process.GetPluginName();  // "elf-core", "minidump"; "gdb-remote" is live
  return plugin != nullptr &&
         (std::string_view(plugin).ends_with("-core") || std::string_view(plugin) == "minidump");
}

// Why `process` cannot be examined now; nullopt when it can.
std::optional<Error> not_stopped(lldb::SBTarget& target, lldb::SBProcess& process) {
  const std::string program = path_of(target.GetExecutable());
  const std::string name = program.empty() ? "the program" : program;
  const lldb::StateType state = process.IsValid() ? process.GetState() : lldb::eStateInvalid;
  const auto id = process.GetProcessID();
  switch (state) {
    case lldb::eStateStopped:
    case lldb::eStateCrashed:
    case lldb::eStateSuspended:
      return std::nullopt;
    case lldb::eStateExited: {
      const char* description = process.GetExitDescription();
      const bool described = description != nullptr && *description != '\0';
      return Error{
          fmt::format("process {} has exited with status {}{}", id, process.GetExitStatus(),
                      described ? fmt::format(" ({})", description) : std::string()),
          std::nullopt, fmt::format("start it again with `run`, or {}", kOpenCore)};
    }
    case lldb::eStateRunning:
    case lldb::eStateStepping:
    case lldb::eStateLaunching:
    case lldb::eStateAttaching:
      return Error{fmt::format("process {} is running", id), std::nullopt,
                   "stop it with `process interrupt`, then ask again"};
    case lldb::eStateDetached:
      return Error{fmt::format("LLDB has detached from process {}", id), std::nullopt,
                   fmt::format("attach again with `process attach -p {}`, or {}", id, kOpenCore)};
    default:
      return Error{
          fmt::format("no process: {} was not started", name), std::nullopt,
          fmt::format("start it with `run`, which stops where it crashes, or {}", kOpenCore)};
  }
}

// The threads that a core holds are those that LLDB shows, and the first one stands at the same
// instruction: not another core that was written under the same name since.
bool same_threads(Target& core, lldb::SBProcess& process) {
  const std::uint32_t count = process.GetNumThreads();
  if (core.threads().size() != count || count == 0) return false;
  std::set<ThreadId> ids;
  for (const Thread& thread : core.threads()) ids.insert(thread.id);
  for (std::uint32_t at = 0; at < count; ++at) {
    if (!ids.contains(static_cast<ThreadId>(process.GetThreadAtIndex(at).GetThreadID())))
      return false;
  }
  lldb::SBThread first = process.GetThreadAtIndex(0);
  const Thread* ours = core.thread(static_cast<ThreadId>(first.GetThreadID()));
  return ours != nullptr && program_counter(ours->registers) == first.GetFrameAtIndex(0).GetPC();
}

// Both read the same page at `at`.
bool same_page(Target& ours, lldb::SBProcess& theirs, Address at) {
  std::array<std::byte, kPageSize> left{};
  std::array<std::byte, kPageSize> right{};
  lldb::SBError error;
  const Address page = page_down(at);
  if (!ours.read(page, left)) return false;
  return theirs.ReadMemory(page, right.data(), right.size(), error) == right.size() &&
         error.Success() && std::memcmp(left.data(), right.data(), left.size()) == 0;
}

// /proc/PID on this machine is the process that LLDB shows: a process of the same number may run
// here and another one on the machine at the other end of a connection.
bool same_process(Target& ours, lldb::SBTarget& target, lldb::SBProcess& process) {
  const lldb::SBFileSpec executable = target.GetExecutable();
  const lldb::addr_t header =
      target.FindModule(executable).GetObjectFileHeaderAddress().GetLoadAddress(target);
  const lldb::addr_t stack = process.GetThreadAtIndex(0).GetFrameAtIndex(0).GetSP();
  if (header == LLDB_INVALID_ADDRESS || stack == LLDB_INVALID_ADDRESS) return false;
  return same_page(ours, process, header) && same_page(ours, process, stack);
}

Result<std::unique_ptr<Target>> open_core_of(lldb::SBTarget& target, lldb::SBProcess& process,
                                             const std::function<bool()>& interrupted) {
  Error why{
      "the core is read through LLDB's own calls, which show zeros for pages that were not "
      "dumped and no signal code, because ",
      std::nullopt, "open the core by a path that still exists"};
  if (auto path = find_core_path(process); path) {
    CoreOptions options;
    options.executable = path_of(target.GetExecutable());
    options.interrupted = interrupted;
    auto core = open_core(*path, options);
    if (core && same_threads(**core, process)) return core;
    why.what += core ? fmt::format("{} now holds another process", *path) : core.error().what;
  } else {
    why.what += path.error().what;
  }
  return open_sb_target(target, process, read_threads(process),
                        {TargetKind::core, std::move(why), interrupted});
}

Result<std::unique_ptr<Target>> open_live(lldb::SBTarget& target, lldb::SBProcess& process,
                                          const std::function<bool()>& interrupted) {
  StoppedThreads threads = read_threads(process);
  auto live =
      open_live_process(static_cast<std::int64_t>(process.GetProcessID()), threads, interrupted);
  if (live && same_process(**live, target, process)) return live;
  Error why{
      "the process is read through LLDB's own calls, which is slower, because ", std::nullopt, {}};
  why.what += live
                  ? fmt::format("process {} of this machine is another one", process.GetProcessID())
                  : live.error().what;
  return open_sb_target(target, process, std::move(threads),
                        {TargetKind::live, std::move(why), interrupted});
}

}  // namespace

SelectedTarget::Stop SelectedTarget::stop_of(lldb::SBDebugger& debugger, lldb::SBProcess& process) {
  return {debugger.GetID(), process.GetUniqueID(), process.GetStopID()};
}

void SelectedTarget::drop_stale(lldb::SBDebugger& debugger) {
  lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
  if (!process.IsValid() || stop_of(debugger, process) != stop_) drop();
}

void SelectedTarget::drop() {
  summaries_.reset();
  target_.reset();
}

Result<std::string> SelectedTarget::tensor_summary(lldb::SBDebugger& debugger, Address at) {
  const auto target = open(debugger);
  if (!target) return tl::unexpected(target.error());
  if (!summaries_) summaries_ = std::make_unique<TensorSummaries>(**target);
  return summaries_->summary(at);
}

Result<Target*> SelectedTarget::open(lldb::SBDebugger& debugger) {
  drop_stale(debugger);
  lldb::SBTarget target = debugger.GetSelectedTarget();
  if (!target.IsValid()) {
    return fail("no target: LLDB has no program and no core open", std::nullopt,
                "open a core with `target create -c CORE`, or a program with `target create "
                "PROGRAM` and `run`; then type `aoti inspect`");
  }
  lldb::SBProcess process = target.GetProcess();
  if (auto problem = not_stopped(target, process)) {
    drop();
    return tl::unexpected(std::move(*problem));
  }
  if (target_) return target_.get();

  const auto id = static_cast<int>(debugger.GetID());
  const auto interrupted = [id] {
    lldb::SBDebugger asked = lldb::SBDebugger::FindDebuggerWithID(id);
    return asked.IsValid() && interrupt_requested(asked);
  };
  auto opened = is_core(process) ? open_core_of(target, process, interrupted)
                                 : open_live(target, process, interrupted);
  if (!opened) return tl::unexpected(opened.error());
  target_ = std::move(*opened);
  stop_ = stop_of(debugger, process);
  return target_.get();
}

std::string which_target(lldb::SBDebugger& debugger) {
  const std::uint32_t count = debugger.GetNumTargets();
  if (count < 2) return {};
  lldb::SBTarget target = debugger.GetSelectedTarget();
  lldb::SBProcess process = target.GetProcess();
  std::string text = fmt::format("target {} of {}: {}", debugger.GetIndexOfTarget(target), count,
                                 path_of(target.GetExecutable()));
  if (process.IsValid()) text += fmt::format(", process {}", process.GetProcessID());
  return text;
}

}  // namespace aotidbg
