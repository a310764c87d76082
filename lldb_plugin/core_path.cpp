// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/core_path.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/target/core_file.h"
#include "common/target/core_notes.h"
#include "common/target/file_bytes.h"
#include "lldb_plugin/optional_api.h"

namespace aotidbg {
namespace {

// Paths of the files that this process has mapped, each once, in the order of their addresses.
// proc(5): the path is the sixth field of a line of maps, and everything from its '/' on.
std::vector<std::string> mapped_files() {
  const Result<std::string> maps = read_text("/proc/self/maps", 64U << 20);
  std::vector<std::string> paths;
  if (!maps) return paths;
  std::set<std::string_view> seen;
  std::string_view rest = *maps;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view path = line.substr(slash);
    if (seen.insert(path).second) paths.emplace_back(path);
  }
  return paths;
}

std::set<ThreadId> thread_ids(lldb::SBProcess& process) {
  std::set<ThreadId> ids;
  for (std::uint32_t at = 0; at < process.GetNumThreads(); ++at) {
    ids.insert(static_cast<ThreadId>(process.GetThreadAtIndex(at).GetThreadID()));
  }
  return ids;
}

bool holds_threads(const std::string& path, const std::set<ThreadId>& ids) {
  const auto core = CoreFile::open(path);
  if (!core) return false;
  std::set<ThreadId> found;
  for (const Thread& thread : read_core_notes(**core).threads) found.insert(thread.id);
  return found == ids;
}

// Which file it is, whatever it is called.
std::optional<std::pair<dev_t, ino_t>> identity(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

}  // namespace

Result<std::string> find_core_path(lldb::SBProcess& process) {
  if (const auto told = core_file_of(process)) return *told;
  const std::set<ThreadId> ids = thread_ids(process);
  std::optional<std::string> match;
  for (const std::string& path : mapped_files()) {
    if (!holds_threads(path, ids)) continue;
    if (match && identity(*match) != identity(path)) {
      return fail(fmt::format("{} and {} both hold the threads of this core", *match, path));
    }
    match = path;
  }
  if (!match)
    return fail("LLDB does not tell where the core file is, and has mapped none under its name");
  return *match;
}

}  // namespace aotidbg
