// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/link_map.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <optional>
#include <unordered_set>

namespace aotidbg {

namespace {

constexpr std::uint64_t kMostAuxiliaryHeaders = 4096;
constexpr std::uint64_t kMostDynamicEntries = 4096;
constexpr std::size_t kMostModules = 1U << 16;

Result<Address> find_r_debug(Memory& memory, Address dynamic, std::uint64_t size) {
  const std::uint64_t count =
      std::min<std::uint64_t>(size / sizeof(Elf64_Dyn), kMostDynamicEntries);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto entry = memory.read_value<Elf64_Dyn>(dynamic + i * sizeof(Elf64_Dyn));
    if (!entry) return tl::unexpected(entry.error());
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr != 0) return entry->d_un.d_ptr;
  }
  return fail(
      "the program has no list of loaded libraries (DT_DEBUG): it is static, or it died "
      "before the loader ran",
      dynamic);
}

}  // namespace

Result<LinkMap> read_link_map(Memory& memory, const AuxiliaryVector& auxiliary) {
  if (!auxiliary.program_headers || auxiliary.program_header_count == 0 ||
      auxiliary.program_header_count > kMostAuxiliaryHeaders) {
    return fail("the core does not say where the program's headers are (AT_PHDR)");
  }
  LinkMap map;
  const ElfSegment* dynamic = nullptr;
  std::optional<std::uint64_t> own_address;
  for (std::uint64_t i = 0; i < auxiliary.program_header_count; ++i) {
    const auto header =
        memory.read_value<Elf64_Phdr>(*auxiliary.program_headers + i * sizeof(Elf64_Phdr));
    if (!header) return tl::unexpected(header.error());
    map.executable_segments.push_back({header->p_type, header->p_flags, header->p_offset,
                                       header->p_vaddr, header->p_filesz, header->p_memsz});
    if (header->p_type == PT_PHDR) own_address = header->p_vaddr;
  }
  for (const ElfSegment& segment : map.executable_segments) {
    if (segment.type == PT_DYNAMIC) dynamic = &segment;
  }
  if (own_address) map.executable_bias = *auxiliary.program_headers - *own_address;
  if (dynamic == nullptr) return fail("the program is static: it has no list of loaded libraries");

  const auto r_debug_at =
      find_r_debug(memory, map.executable_bias + dynamic->address, dynamic->memory_size);
  if (!r_debug_at) return tl::unexpected(r_debug_at.error());
  const auto first = memory.read_pointer(*r_debug_at + offsetof(struct r_debug, r_map));
  if (!first) return tl::unexpected(first.error());

  std::unordered_set<Address> seen;
  for (Address at = *first; at != 0;) {
    if (!seen.insert(at).second) {
      map.problem = fmt::format("the loader's list of libraries turns back on itself at {:#x}", at);
      break;
    }
    if (seen.size() > kMostModules) {
      map.problem =
          fmt::format("the loader's list of libraries has more than {} entries", kMostModules);
      break;
    }
    // The public head of struct link_map: l_addr, l_name, l_ld, l_next, l_prev.
    const auto entry = memory.read_value<struct link_map>(at);
    if (!entry) {
      map.problem = "the loader's list of libraries ends early: " + entry.error().what;
      break;
    }
    LinkMapEntry item;
    item.bias = entry->l_addr;
    item.dynamic = reinterpret_cast<Address>(entry->l_ld);
    item.path =
        memory.read_c_string(reinterpret_cast<Address>(entry->l_name)).value_or(std::string());
    map.entries.push_back(std::move(item));
    at = reinterpret_cast<Address>(entry->l_next);
  }
  return map;
}

}  // namespace aotidbg
