// SPDX-License-Identifier: BSD-3-Clause
//
// `--output FILE`: a file that is written whole or not at all.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "common/target/result.h"

namespace aotidbg {

// Says before any work is done why `path` could not be written: it exists and `replace` is not
// given, is no regular file, or its folder is not there. Creates nothing.
Result<void> check_output_file(const std::string& path, bool replace);

// Where process `writer` has what it is writing to `path`: left there when it is killed meanwhile.
std::string unfinished_file(const std::string& path, pid_t writer);

enum class Readers { by_umask, owner_alone };

// Writes `text` beside the file, and gives it its name in one step: whenever it ends, there is the
// whole file or none. A file that is there is replaced only with `replace`, and keeps its
// permissions. After an error nothing is left, and what was there is as it was.
Result<void> write_output_file(const std::string& path, std::string_view text, bool replace,
                               Readers readers = Readers::by_umask);

}  // namespace aotidbg
