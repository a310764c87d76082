// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/temporary_folder.h"

#include <unistd.h>

#include <cstdlib>

namespace aotidbg {

std::string temporary_folder() {
  const char* chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return ::access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

}  // namespace aotidbg
