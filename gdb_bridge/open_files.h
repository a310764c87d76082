// SPDX-License-Identifier: BSD-3-Clause
//
// The files that this debugger has open itself.
#pragma once

#include <string>
#include <vector>

namespace aotidbg {

// Names under /proc/self/fd of what was opened as `path`, whatever that path leads to by now.
std::vector<std::string> open_files_named(const std::string& path);

}  // namespace aotidbg
