// SPDX-License-Identifier: BSD-3-Clause
//
// What a debugger reads of a process before it looks at anything else, so that GDB and LLDB know a
// snapshot's modules as they know those of any core: the loader's list, the headers, build ids and
// dynamic sections of modules, and the vdso.
#pragma once

#include "common/target/recording.h"

namespace aotidbg {

// What cannot be read is left out.
void keep_process_image(Recording& recording);

}  // namespace aotidbg
