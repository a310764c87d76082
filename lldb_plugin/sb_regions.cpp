// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/sb_regions.h"

#include <elf.h>

#include <algorithm>
#include <string>
#include <utility>

namespace aotidbg {

Result<std::vector<Region>> read_regions(lldb::SBProcess& process) {
  lldb::SBMemoryRegionInfoList list = process.GetMemoryRegions();
  std::vector<Region> regions;
  for (std::uint32_t at = 0; at < list.GetSize(); ++at) {
    lldb::SBMemoryRegionInfo info;
    if (!list.GetMemoryRegionAtIndex(at, info) || !info.IsMapped()) continue;
    Region region;
    region.start = info.GetRegionBase();
    region.end = info.GetRegionEnd();
    if (region.start >= region.end) continue;
    region.readable = info.IsReadable();
    region.writable = info.IsWritable();
    region.executable = info.IsExecutable();
    if (const char* name = info.GetName()) region.path = name;
    region.dumped = region.readable ? region.size() : 0;
    regions.push_back(std::move(region));
  }
  if (regions.empty()) {
    return fail("LLDB cannot list the memory mappings of this process: its stub does not tell them",
                std::nullopt,
                "connect through lldb-server instead of gdbserver, or open a core of the process");
  }
  std::sort(regions.begin(), regions.end(),
            [](const Region& left, const Region& right) { return left.start < right.start; });
  for (std::size_t at = 1; at < regions.size(); ++at) {  // the Target promises no overlap
    Region& region = regions[at];
    region.start = std::min(region.end, std::max(region.start, regions[at - 1].end));
    region.dumped = std::min(region.dumped, region.size());
  }
  std::erase_if(regions, [](const Region& region) { return region.size() == 0; });
  return regions;
}

void name_regions(std::span<Region> regions, std::span<const MappedModule> modules) {
  for (const MappedModule& mapped : modules) {
    for (const ElfSegment& segment : mapped.segments) {
      if (segment.type != PT_LOAD) continue;
      const Address start = mapped.module.bias + page_down(segment.address);
      const Address end = mapped.module.bias + page_up(segment.address + segment.file_size);
      for (Region& region : regions) {
        if (region.start < start || region.start >= end) continue;
        if (region.path.empty()) region.path = mapped.module.path;
        region.file_offset = page_down(segment.offset) + (region.start - start);
      }
    }
  }
}

}  // namespace aotidbg
