// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace aotidbg {

// Where large temporary files go: TMPDIR, else /var/tmp, else /tmp, which is often memory
// (file-hierarchy(7)).
std::string temporary_folder();

}  // namespace aotidbg
