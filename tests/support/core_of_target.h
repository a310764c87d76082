// SPDX-License-Identifier: BSD-3-Clause
//
// A FakeTarget as the core that the kernel would have written of it: what a test made in memory
// goes through the reader of files too.
#pragma once

#include "tests/support/core_builder.h"
#include "tests/support/fake_target.h"

namespace aotidbg {

struct CoreOfTargetOptions {
  bool file_mappings = true;    // NT_FILE; without it the loader's list names the libraries
  bool signal_of_each = false;  // NT_SIGINFO of every thread (gcore), not of the stopped one alone
  CoreBuilder::Values auxiliary;
};

// Threads, signals, the mappings of files, and what memory holds. To keep it small, pages of files
// and of large regions that are zero throughout are mapped and not dumped, and so is the zero end
// of a file's read-only page, but for its first, which names the image. The reader sees less, never
// something else.
CoreBuilder core_of(FakeTarget& target, const CoreOfTargetOptions& options = {});

}  // namespace aotidbg
