// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/sb_modules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/target/module_finder.h"

namespace aotidbg {

std::string path_of(const lldb::SBFileSpec& file) {
  std::array<char, 4096> path{};
  if (!file.IsValid()) return {};
  file.GetPath(path.data(), path.size());
  return path.data();
}

std::vector<MappedModule> read_modules(
    lldb::SBTarget& target, std::span<const Region> regions,
    const std::function<Result<void>(Address, std::span<std::byte>)>& held) {
  const CoreOptions options;
  ModuleFinder finder(options, {});
  std::vector<MappedModule> modules;
  for (std::uint32_t at = 0; at < target.GetNumModules(); ++at) {
    lldb::SBModule from = target.GetModuleAtIndex(at);
    const lldb::addr_t header = from.GetObjectFileHeaderAddress().GetLoadAddress(target);
    if (header == LLDB_INVALID_ADDRESS) continue;
    // On a remote machine the process knows the file by another path than ours.
    const std::string local = path_of(from.GetFileSpec());
    std::string path = path_of(from.GetPlatformFileSpec());
    if (path.empty()) path = local;
    const auto find_file = [&](const WantedFile& wanted) {
      WantedFile here = wanted;
      here.path = local;
      return finder.find(here);
    };
    ModuleSource source;
    source.regions = regions;
    source.held = held;
    source.find_file = find_file;
    auto mapped = module_at_header(source, header, path, local.starts_with('/'));
    if (mapped) modules.push_back(std::move(*mapped));
  }
  // Without the program's file LLDB may know no module at all, while the mappings name theirs.
  ModuleSource named;
  named.regions = regions;
  named.held = held;
  named.find_file = [&](const WantedFile& wanted) { return finder.find(wanted); };
  for (MappedModule& mapped : find_modules(named)) {
    const bool known = std::any_of(modules.begin(), modules.end(), [&](const MappedModule& other) {
      return other.module.contains(mapped.module.start);
    });
    if (!known) modules.push_back(std::move(mapped));
  }
  std::sort(modules.begin(), modules.end(),
            [](const MappedModule& left, const MappedModule& right) {
              return left.module.start < right.module.start;
            });
  return modules;
}

}  // namespace aotidbg
