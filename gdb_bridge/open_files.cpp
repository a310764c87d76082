// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/open_files.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string_view>

#include "common/target/modules.h"

namespace aotidbg {

std::vector<std::string> open_files_named(const std::string& path) {
  constexpr const char* kFolder = "/proc/self/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(kFolder), ::closedir);
  std::vector<std::string> names;
  if (!folder) return names;
  while (const dirent* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string name = fmt::format("{}/{}", kFolder, entry->d_name);
    std::array<char, 4096> buffer{};
    const ssize_t size = ::readlink(name.c_str(), buffer.data(), buffer.size());
    if (size <= 0) continue;
    std::string_view target(buffer.data(), static_cast<std::size_t>(size));
    if (target.ends_with(kDeletedSuffix)) target.remove_suffix(kDeletedSuffix.size());
    if (target == path) names.push_back(name);
  }
  return names;
}

}  // namespace aotidbg
