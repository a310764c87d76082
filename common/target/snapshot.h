// SPDX-License-Identifier: BSD-3-Clause
//
// A snapshot as a target: the process as its note tells it, with the bytes that are known. A read
// of anything else is an error, also where the file holds zeros in its place.
#pragma once

#include <memory>
#include <string_view>

#include "common/target/target.h"

namespace aotidbg {

// `core` is the file that the note is in, opened as a core; it gives threads and bytes.
Result<std::unique_ptr<Target>> open_snapshot(std::unique_ptr<Target> core, std::string_view note);

}  // namespace aotidbg
