// SPDX-License-Identifier: BSD-3-Clause
//
// A Linux ELF core dump, read by ourselves in every host: regions from its program headers and
// NT_FILE, threads from NT_PRSTATUS, the signal from NT_SIGINFO, the executable from NT_PRPSINFO
// and NT_AUXV (elf.h, linux/elfcore.h). Where NT_FILE is absent modules come from the link map.
//
// Bytes that were not dumped are filled from the mapped file when that file is provably the same
// (build id); what stays missing is an error that names the range and why.
//
// A snapshot (snapshot_note.h) is such a core too, and answers as the process did that it was saved
// of. One whose note is damaged is refused.
//
// Files are looked for under `sysroot` first, when one is given, then by their own path, then by
// build id in the folders to search.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/target/target.h"

namespace aotidbg {

// An AOTInductor package as the user named it, and the folder that it is in.
struct PackageFiles {
  std::string name;
  std::string folder;
};

struct CoreOptions {
  std::string executable;              // use this file for the main program; empty: as recorded
  std::string sysroot;                 // prefix for the files of the dead process
  std::vector<std::string> search;     // folders searched by build id for files that moved
  std::vector<PackageFiles> packages;  // the same
  // What the options name must be there and of this process, or the core is not opened: for a user
  // who typed them. Otherwise it is a problem of the modules that they did not serve.
  bool options_must_serve = false;
  std::string contents;               // see CoreFile::open
  std::function<bool()> interrupted;  // see Target::interrupted
};

// Refuses, with one sentence each: a file that is no ELF file, no core, of another machine or
// class, or cut short inside its own headers. A core cut short behind them opens, with a gap.
Result<std::unique_ptr<Target>> open_core(const std::string& path, const CoreOptions& options);

}  // namespace aotidbg
