// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/build_id_search.h"

#include <filesystem>
#include <system_error>

#include "common/target/module_file.h"

namespace aotidbg {

namespace {

constexpr std::size_t kMostFiles = 100'000;  // in one folder and those below

void look_through(const std::string& folder, std::map<std::string, std::string>& files) {
  using std::filesystem::directory_options;
  std::error_code error;
  std::size_t seen = 0;
  std::filesystem::recursive_directory_iterator entry(
      folder, directory_options::skip_permission_denied, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator() && seen < kMostFiles;
       entry.increment(error), ++seen) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    const std::string path = entry->path().string();
    const auto file = ModuleFile::open(path);
    if (!file) continue;
    const auto id = (*file)->build_id();
    if (id && !id->empty()) files.emplace(*id, path);
  }
}

}  // namespace

const std::map<std::string, std::string>& BuildIdSearch::files() {
  if (!files_) {
    files_.emplace();
    for (const std::string& folder : folders_) look_through(folder, *files_);
  }
  return *files_;
}

std::optional<std::string> BuildIdSearch::find(const std::string& build_id) {
  const auto found = files().find(build_id);
  if (found == files().end()) return std::nullopt;
  return found->second;
}

}  // namespace aotidbg
