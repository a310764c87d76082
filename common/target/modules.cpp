// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/modules.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace aotidbg {

namespace {

// Path without the kernel's suffix, and whether it was there.
std::pair<std::string, bool> split_deleted(const std::string& path) {
  if (!path.ends_with(kDeletedSuffix)) return {path, false};
  return {path.substr(0, path.size() - kDeletedSuffix.size()), true};
}

bool names_a_file(const Region& region) { return region.path.starts_with('/'); }

bool is_device(const std::string& path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
}

bool has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

const Region* find_region(std::span<const Region> regions, Address at) {
  auto after = std::upper_bound(regions.begin(), regions.end(), at,
                                [](Address value, const Region& r) { return value < r.start; });
  if (after == regions.begin() || !std::prev(after)->contains(at)) return nullptr;
  return &*std::prev(after);
}

// Load bias of an image whose ELF header is at `start`: that of the PT_LOAD which holds offset 0.
std::optional<Address> bias_of(const ElfImage& image, Address start) {
  for (const ElfSegment& segment : image.segments) {
    if (segment.type == PT_LOAD && page_down(segment.offset) == 0) {
      return start - page_down(segment.address);
    }
  }
  return std::nullopt;
}

// A library that is mapped in one piece to be read has its code where the loader would put it, too,
// but not executable.
bool is_loaded_as_image(const ModuleSource& source, const ElfImage& image, const Region& first,
                        Address bias) {
  for (const ElfSegment& segment : image.segments) {
    if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
    const Region* code = find_region(source.regions, bias + page_down(segment.address));
    if (code == nullptr || code->path != first.path) return false;
    const auto index = static_cast<std::size_t>(code - source.regions.data());
    if (source.permissions_unknown == nullptr || !(*source.permissions_unknown)[index]) {
      return code->executable;
    }
    // The loader maps each segment on its own.
    return code->start == bias + page_down(segment.address);
  }
  return true;
}

// Where the program headers say that the image ends; hostile ones may claim all of the memory.
Address claimed_end(const ElfImage& image, Address bias) {
  Address end = 0;
  if (__builtin_add_overflow(bias, image.highest(), &end) && image.lowest() < image.highest()) {
    // A bias may be "negative" (wrap) for images that are linked high; then the end does not lie
    // below the start.
    const Address start = bias + image.lowest();
    return end > start ? end : std::numeric_limits<Address>::max();
  }
  return end;
}

// End of the image: its own mappings and the anonymous ones between and after them (.bss), no
// further than its program headers say, up to the first mapping of another file.
Address end_of_image(std::span<const Region> regions, const Region& first, Address limit) {
  Address end = first.end;
  const auto index = static_cast<std::size_t>(&first - regions.data());
  for (const Region& region : regions.subspan(index)) {
    if (region.start >= limit) break;
    if (region.path != first.path && !region.path.empty()) break;
    end = std::max(end, std::min(region.end, limit));
  }
  return end;
}

// Without program headers: the mappings of the file that follow each other.
Address end_by_name(std::span<const Region> regions, const Region& first) {
  Address end = first.end;
  const auto index = static_cast<std::size_t>(&first - regions.data());
  std::uint64_t offset = 0;
  for (const Region& region : regions.subspan(index)) {
    if (region.path != first.path || region.file_offset < offset) break;
    offset = region.file_offset;
    end = region.end;
  }
  return end;
}

bool has_executable_part(std::span<const Region> regions, const Region& first, Address end) {
  return std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
    return first.start <= region.start && region.start < end && region.executable &&
           region.path == first.path;
  });
}

void attach_file(const ModuleSource& source, const WantedFile& wanted, MappedModule& mapped) {
  auto found = source.find_file(wanted);
  if (!found) {
    mapped.module.file_problem = found.error().what;
    return;
  }
  mapped.module.file = found->file;
  mapped.module.file_assumed = found->assumed;
  mapped.module.file_problem = found->problem;
  mapped.fills = found->fills;
}

std::vector<std::byte> held_first_page(const ModuleSource& source, Address start) {
  std::vector<std::byte> page(kPageSize);
  if (source.held(start, page)) return page;
  return {};
}

std::optional<ElfImage> image_in_memory(const ModuleSource& source, Address start) {
  auto image = read_elf_image([&](std::uint64_t offset, std::span<std::byte> out) {
    return source.held(start + offset, out);
  });
  if (!image) return std::nullopt;
  return std::move(*image);
}

std::optional<ElfImage> image_in_file(const ModuleFile* file) {
  if (file == nullptr) return std::nullopt;
  auto image = read_elf_image(
      [file](std::uint64_t offset, std::span<std::byte> out) { return file->read(offset, out); });
  if (!image) return std::nullopt;
  return std::move(*image);
}

// The image that `first` begins, or nullopt when the file is no ELF file or only mapped as data.
std::optional<MappedModule> module_of(const ModuleSource& source, const Region& first) {
  MappedModule mapped;
  Module& module = mapped.module;
  std::tie(module.path, module.deleted) = split_deleted(first.path);
  const std::vector<std::byte> page = held_first_page(source, first.start);
  if (!page.empty() && !has_magic(page)) return std::nullopt;

  WantedFile wanted{module.path, module.deleted, {}, &first, page};
  std::optional<ElfImage> image;
  if (!page.empty()) image = image_in_memory(source, first.start);
  std::optional<Address> bias = image ? bias_of(*image, first.start) : std::nullopt;
  if (bias) {
    if (!is_loaded_as_image(source, *image, first, *bias)) return std::nullopt;
    const auto at_address = [&](std::uint64_t address, std::span<std::byte> out) {
      return source.held(*bias + address, out);
    };
    wanted.build_id = read_build_id(*image, at_address, false).value_or(std::string());
    module.build_id = wanted.build_id;
  } else {
    const Address end = end_by_name(source.regions, first);
    if (page.empty() && !has_executable_part(source.regions, first, end)) return std::nullopt;
    module.end = end;
  }
  attach_file(source, wanted, mapped);
  if (!bias) {  // nothing in memory: believe the file's headers as far as the file is believed
    image = image_in_file(module.file.get());
    bias = image ? bias_of(*image, first.start) : std::nullopt;
  }
  module.start = first.start;
  if (bias) {
    module.bias = *bias;
    module.end = end_of_image(source.regions, first, claimed_end(*image, *bias));
    mapped.segments = std::move(image->segments);
  } else {
    module.bias = first.start;
    module.file_problem +=
        "; neither memory nor file show its program headers, so its load address is assumed";
  }
  return mapped;
}

}  // namespace

bool MappedModule::as_in_file(Address at) const {
  const Address page = page_down(at - module.bias);
  bool covered = false;
  for (const ElfSegment& segment : segments) {
    if (segment.type != PT_LOAD) continue;
    if (page < page_down(segment.address) ||
        page >= page_up(segment.address + segment.memory_size)) {
      continue;
    }
    if ((segment.flags & PF_W) != 0) return false;
    covered = true;
  }
  return covered;
}

std::vector<MappedModule> find_modules(const ModuleSource& source) {
  std::vector<MappedModule> modules;
  for (const Region& region : source.regions) {
    if (region.file_offset != 0 || !names_a_file(region) || is_device(region.path)) continue;
    // Small libraries map offset 0 again for their next segment.
    const auto same = [&](const MappedModule& other) {
      return other.module.contains(region.start) &&
             split_deleted(region.path).first == other.module.path;
    };
    if (!modules.empty() && same(modules.back())) continue;
    if (auto mapped = module_of(source, region)) modules.push_back(std::move(*mapped));
  }
  return modules;
}

std::optional<MappedModule> module_at_header(const ModuleSource& source, Address start,
                                             const std::string& path, bool has_file) {
  MappedModule mapped;
  Module& module = mapped.module;
  module.path = path;
  module.start = start;
  const std::vector<std::byte> page = held_first_page(source, start);
  std::optional<ElfImage> image = image_in_memory(source, start);
  std::optional<Address> bias = image ? bias_of(*image, start) : std::nullopt;
  WantedFile wanted{path, false, {}, nullptr, page};
  if (bias) {
    const auto at_address = [&](std::uint64_t address, std::span<std::byte> out) {
      return source.held(*bias + address, out);
    };
    wanted.build_id = read_build_id(*image, at_address, false).value_or(std::string());
    module.build_id = wanted.build_id;
  }
  if (has_file) {
    attach_file(source, wanted, mapped);
    if (!bias) {
      image = image_in_file(module.file.get());
      bias = image ? bias_of(*image, start) : std::nullopt;
    }
  }
  if (!bias) return std::nullopt;
  module.bias = *bias;
  module.end = claimed_end(*image, *bias);
  if (module.end <= start) return std::nullopt;
  mapped.segments = std::move(image->segments);
  return mapped;
}

}  // namespace aotidbg
