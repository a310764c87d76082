// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/selected_target.h"

#include <fmt/format.h>
#include <unistd.h>

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
#include "gdb_bridge/gdb_session.h"
#include "gdb_bridge/gdb_target.h"
#include "gdb_bridge/gdb_text.h"
#include "gdb_bridge/gdb_threads.h"
#include "gdb_bridge/open_files.h"

namespace aotidbg {
namespace {

constexpr std::string_view kOpenCore = "open its core with `core-file CORE`";

std::string program_of(const Object& inferior) {
  const Object name = inferior.attribute("progspace").attribute("filename");
  if (!name || name.is_none()) return {};
  return name.as_text().value_or(std::string());
}

// "core", "native", "remote", "extended-remote", "ctf"...; empty when there is no process.
std::string connection_of(const Object& inferior) {
  const Object connection = inferior.attribute("connection");
  if (connection && !connection.is_none()) {
    return connection.attribute("type").as_text().value_or(std::string());
  }
  if (connection) return {};
  return std::string(connection_in(gdb_output("info files").value_or(std::string())));
}

std::optional<std::uint64_t> convenience(const char* name) {
  const Object value = gdb_module().call("convenience_variable", Object::text(name));
  if (!value || value.is_none()) return std::nullopt;
  const auto number = value.as_number();
  if (!number) return std::nullopt;
  return *number;
}

// Why `inferior` cannot be examined now; nullopt when it can.
std::optional<Error> not_stopped(const Object& inferior) {
  const std::uint64_t pid = inferior.attribute("pid").as_number().value_or(0);
  if (pid != 0) {
    const RunState state = run_state(inferior);
    if (state.any_stopped) return std::nullopt;
    if (!state.any_running) return Error{"GDB shows no thread of this process", std::nullopt, {}};
    return Error{fmt::format("process {} is running", pid), std::nullopt,
                 "stop it with `interrupt` or Ctrl-C, then ask again"};
  }
  const std::string program = program_of(inferior);
  if (program.empty()) {
    return Error{"no process: GDB has no program and no core open", std::nullopt,
                 "open a core with `core-file CORE`, or a program with `file PROGRAM` and `run`; "
                 "then type `aoti inspect`"};
  }
  const auto again = fmt::format("start it again with `run`, or {}", kOpenCore);
  if (const auto status = convenience("_exitcode")) {
    return Error{fmt::format("no process: {} has exited with status {}", program, *status),
                 std::nullopt, again};
  }
  if (const auto signal = convenience("_exitsignal")) {
    return Error{fmt::format("no process: {} was ended by signal {}", program, *signal),
                 std::nullopt, again};
  }
  return Error{fmt::format("no process: {} was not started", program), std::nullopt,
               fmt::format("start it with `run`, which stops where it crashes, or {}", kOpenCore)};
}

std::optional<Error> not_x86_64() {
  const auto name = gdb_module().call("selected_frame").call("architecture").call("name").as_text();
  if (!name || *name == "i386:x86-64" || *name == "i386:x86-64:intel") return std::nullopt;
  return Error{
      fmt::format("this process is of the architecture {}, and only x86-64 is read", *name),
      std::nullopt,
      {}};
}

// The threads that a core holds are those that GDB shows, and the selected one stands at the same
// instruction: not another core that was written under the same name since.
bool same_threads(Target& core, const Object& inferior) {
  const auto threads = inferior.call("threads").as_items();
  if (!threads || threads->empty() || core.threads().size() != threads->size()) return false;
  for (const Object& thread : *threads) {
    const auto id = thread_id(thread);
    if (!id || core.thread(*id) == nullptr) return false;
  }
  const auto selected = selected_thread();
  const Thread* ours = selected ? core.thread(*selected) : nullptr;
  const auto theirs =
      gdb_module().call("newest_frame").call("read_register", Object::text("pc")).as_number();
  return ours != nullptr && theirs && program_counter(ours->registers) == *theirs;
}

Result<std::unique_ptr<Target>> open_core_of(const Object& inferior) {
  const auto path = core_in(gdb_output("info files").value_or(std::string()));
  if (!path) return fail("GDB does not tell where the core file is");
  const FileSearch files = file_search();
  CoreOptions options;
  options.executable = program_of(inferior);
  options.sysroot = files.sysroot;
  options.search = files.folders;
  options.interrupted = was_interrupted;
  auto core = open_core(*path, options);
  if (was_interrupted()) return fail("you interrupted this before the core was open");
  if (core && same_threads(**core, inferior)) return core;
  // Deleted or replaced since: GDB still has it open.
  for (const std::string& held : open_files_named(*path)) {
    auto same = open_core(held, options);
    if (same && same_threads(**same, inferior)) return same;
  }
  if (!core) return core;
  return fail(fmt::format("{} now holds another process than GDB shows", *path), std::nullopt,
              "open it again with `core-file CORE`");
}

// The number of a process may be in use on this machine and on the other end of a connection: both
// must show the same page of stack.
bool same_process(Target& ours, const Object& inferior) {
  const auto stack =
      gdb_module().call("newest_frame").call("read_register", Object::text("sp")).as_number();
  if (!stack) return false;
  const Address page = page_down(*stack);
  std::string left(kPageSize, '\0');
  if (!ours.read(page, std::as_writable_bytes(std::span(left)))) return false;
  const auto right =
      inferior.call("read_memory", Object::number(page), Object::number(kPageSize)).as_bytes();
  return right && *right == left;
}

}  // namespace

SelectedTarget::Stop SelectedTarget::stop_of(const Object& inferior) {
  const Object connection = inferior.attribute("connection");
  return {inferior.attribute("num").as_number().value_or(0),
          connection.attribute("num").as_number().value_or(0),
          inferior.attribute("pid").as_number().value_or(0)};
}

Result<std::unique_ptr<Target>> SelectedTarget::open_fresh(const Object& inferior, Threads wanted) {
  const HostFocus host;
  if (auto problem = not_x86_64()) return tl::unexpected(std::move(*problem));
  const std::string connection = connection_of(inferior);
  if (connection == "core") return open_core_of(inferior);
  StoppedThreads threads;
  if (wanted == Threads::read) {
    const auto event = events_.find(stop_of(inferior).inferior);
    threads = read_threads(inferior,
                           event == events_.end() ? std::nullopt : std::optional(event->second));
  }
  if (connection.starts_with("native")) {  // cuda-gdb: "native + cuda"
    const std::uint64_t pid = inferior.attribute("pid").as_number().value_or(0);
    auto live = open_live_process(static_cast<std::int64_t>(pid), threads, was_interrupted);
    if (was_interrupted()) return fail("you interrupted this before the process was looked at");
    if (live && same_process(**live, inferior)) return live;
  }
  return open_gdb_target(inferior, std::move(threads), was_interrupted);
}

Result<Target*> SelectedTarget::open() {
  const Object inferior = gdb_module().call("selected_inferior");
  if (!inferior) return tl::unexpected(inferior.error());
  if (auto problem = not_stopped(inferior)) {
    forget();
    return tl::unexpected(std::move(*problem));
  }
  drop_others(stop_of(inferior));
  if (target_) return target_.get();
  auto opened = open_fresh(inferior, Threads::read);
  if (!opened) return tl::unexpected(opened.error());
  target_ = std::move(*opened);
  return target_.get();
}

Result<std::string> SelectedTarget::tensor_summary(Address at) {
  const Object inferior = gdb_module().call("selected_inferior");
  if (!inferior) return tl::unexpected(inferior.error());
  drop_others(stop_of(inferior));
  if (!summaries_) {
    if (!target_ && !memory_) {
      if (auto problem = not_stopped(inferior)) return tl::unexpected(std::move(*problem));
      auto opened = open_fresh(inferior, Threads::leave);
      if (!opened) return tl::unexpected(opened.error());
      memory_ = std::move(*opened);
    }
    summaries_ = std::make_unique<TensorSummaries>(target_ ? *target_ : *memory_);
  }
  return summaries_->summary(at);
}

std::optional<ThreadId> SelectedTarget::users_thread() const {
  const auto selected = selected_thread();
  if (!selected || !target_) return std::nullopt;
  std::optional<ThreadId> gdbs = target_->stopped_thread();
  if (target_->process().kind != TargetKind::live) {
    if (!target_->threads().empty()) gdbs = target_->threads().front().id;
  } else if (const auto event = events_.find(stop_.inferior); event != events_.end()) {
    gdbs = event->second;
  }
  return gdbs && *gdbs != *selected ? selected : std::nullopt;
}

void SelectedTarget::note_stop() {
  forget();
  const Object inferior = gdb_module().call("selected_inferior");
  const auto number = inferior.attribute("num").as_number();
  const auto thread = selected_thread();
  if (number && thread) events_[*number] = *thread;
}

void SelectedTarget::forget() {
  summaries_.reset();
  target_.reset();
  memory_.reset();
}

void SelectedTarget::drop_others(const Stop& stop) {
  if (stop != stop_) forget();
  stop_ = stop;
}

std::string SelectedTarget::which() const {
  const Object gdb = gdb_module();
  const auto inferiors = gdb.call("inferiors").as_items();
  if (!inferiors || inferiors->size() < 2) return {};
  const Object inferior = gdb.call("selected_inferior");
  std::string program = program_of(inferior);
  if (program.empty() && target_) program = target_->process().executable;
  const std::uint64_t pid = inferior.attribute("pid").as_number().value_or(0);
  std::string text =
      fmt::format("inferior {} of {}: {}", inferior.attribute("num").as_number().value_or(0),
                  inferiors->size(), program.empty() ? "no program" : program);
  if (pid != 0) text += fmt::format(", process {}", pid);
  return text;
}

}  // namespace aotidbg
