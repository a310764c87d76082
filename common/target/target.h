// SPDX-License-Identifier: BSD-3-Clause
//
// A Target is a stopped or dead process as a host sees it: memory, regions, modules, threads with
// registers, and the signal that stopped it. It is the whole of what the analysis may ask of a
// host; ElfCore and LiveProcess implement it, and each debugger's plugin does so over its own API
// where neither can be had.
//
// A Target describes one stop. When the process runs on, make a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/memory.h"
#include "common/target/module_file.h"
#include "common/target/registers.h"

namespace aotidbg {

using ThreadId = std::int64_t;  // the kernel's thread id (LWP)

// One mapping, as /proc/PID/maps or a core's PT_LOAD and NT_FILE give it.
struct Region {
  Address start = 0;
  Address end = 0;  // exclusive
  bool readable = false;
  bool writable = false;
  bool executable = false;
  std::string path;  // mapped file, "[stack]", "[heap]", ..., or empty
  std::uint64_t file_offset = 0;
  std::uint64_t dumped = 0;  // bytes from `start` that the target itself holds (live: all)

  std::uint64_t size() const { return end - start; }
  bool contains(Address at) const { return start <= at && at < end; }
};

// An ELF file as mapped: identified by build id and load bias, never by its name alone.
struct Module {
  std::string path;      // as mapped, without ' (deleted)'
  bool deleted = false;  // the mapping's name ended in ' (deleted)'
  Address bias = 0;      // load address minus the file's own (p_vaddr) addresses
  Address start = 0;     // lowest mapped address
  Address end = 0;       // one past the highest mapped address
  std::string build_id;  // lower-case hex; empty when the image has none or lost it
  std::shared_ptr<const ModuleFile> file;  // the same file on this machine; null when not at hand
  bool file_assumed = false;  // `file` has the right name but nothing proves that it is the same
  std::string file_problem;   // why `file` is null or assumed; empty otherwise
  // In a snapshot, where `file` is null: it was at hand where the snapshot was saved, and answered
  // what was asked of it.
  bool file_was_read = false;

  bool has_file() const { return file != nullptr || file_was_read; }

  std::string name() const;  // the last component of the path
  bool contains(Address at) const { return start <= at && at < end; }
};

// siginfo_t, reduced to what a fault needs (<asm-generic/siginfo.h>).
struct SignalInfo {
  int number = 0;           // SIGSEGV...
  std::optional<int> code;  // si_code; <= 0: sent by a process; empty: the target does not say
  // si_addr, only when the kernel raised it for a fault. Means nothing at SI_KERNEL (128), where
  // the processor gave no address.
  std::optional<Address> address;
};

// Signals that the processor's exceptions become: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP.
bool is_fault_signal(int number);

struct Thread {
  ThreadId id = 0;
  std::string name;  // comm; empty when not known
  Registers registers;
  std::optional<SignalInfo> signal;  // what this thread was stopped by, when it was
};

// The last component of a path.
std::string file_name(std::string_view path);

enum class TargetKind { live, core, snapshot };

// One entry of the auxiliary vector (elf.h, AT_*).
struct AuxiliaryValue {
  std::uint64_t type = 0;
  std::uint64_t value = 0;
};

struct ProcessInfo {
  TargetKind kind = TargetKind::core;
  std::optional<TargetKind> saved_from;   // snapshots only: live or core
  std::int64_t pid = 0;                   // 0 when not known
  std::string executable;                 // path as the process knew it; empty when not known
  std::vector<std::string> arguments;     // as far as the target knows them
  std::vector<std::string> files;         // the core file(s), as the user named them
  std::vector<AuxiliaryValue> auxiliary;  // as the kernel gave it; empty when not known
  // The core file ends before its own headers say; gaps() tells where. What is absent from such a
  // target may have been there.
  bool cut_short = false;
};

struct SnapshotNote;

class Target : public Memory {
 public:
  virtual const ProcessInfo& process() const = 0;
  virtual std::span<const Region> regions() const = 0;  // sorted by address, not overlapping
  virtual std::span<const Module> modules() const = 0;  // sorted by address
  virtual std::span<const Thread> threads() const = 0;
  virtual std::optional<ThreadId> stopped_thread() const = 0;  // the one that took the signal

  // What the target itself lacks and may weaken an answer: a core cut short, pages not dumped.
  virtual std::span<const Error> gaps() const = 0;

  // A stretch of stack in which nothing but addresses is looked for. In a snapshot every other word
  // is 0: stacks hold what a program worked on last.
  virtual Result<void> read_stack(Address at, std::span<std::byte> out) { return read(at, out); }

  // What a snapshot says of itself; null for any other target.
  virtual const SnapshotNote* snapshot() const { return nullptr; }

  // The first address from `at` on, and before `end`, whose byte may be other than 0; `end` when
  // there is none. Holes of a core file are zeros that need not be read: a search steps over them.
  virtual Address next_data(Address at, Address end) {
    (void)end;
    return at;
  }

  // True once the user asked to stop; long loops ask at least every 50 ms.
  virtual bool interrupted() { return false; }

  // Every read is a round trip to another machine: memory is searched only when asked.
  virtual bool is_slow() const { return false; }

  const Region* region_at(Address at) const;
  const Module* module_at(Address at) const;
  const Thread* thread(ThreadId id) const;
};

}  // namespace aotidbg
