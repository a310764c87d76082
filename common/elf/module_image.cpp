// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/module_image.h"

#include <fmt/format.h>

#include <algorithm>

namespace aotidbg {

Result<ModuleImage> ModuleImage::open(Memory& memory, const Module& module) {
  ModuleImage image;
  image.memory_ = &memory;
  image.bias_ = module.bias;
  image.start_ = module.start;
  image.end_ = module.end;
  image.file_ = module.file;
  image.file_assumed_ = module.file_assumed;

  auto elf = read_elf_image([&](std::uint64_t offset, std::span<std::byte> out) -> Result<void> {
    if (offset > image.room(module.start)) return fail("program headers outside the module");
    return memory.read(module.start + offset, out);
  });
  if (!elf && module.file) {
    elf = read_elf_image([&](std::uint64_t offset, std::span<std::byte> out) {
      return module.file->read(offset, out);
    });
    image.used_assumed_file_ = elf.has_value() && module.file_assumed;
  }
  if (!elf) {
    return fail(
        fmt::format("the ELF header of {} cannot be read: {}", module.name(), elf.error().what),
        module.start, elf.error().fix);
  }
  image.image_ = std::move(*elf);
  return image;
}

const ElfSegment* ModuleImage::segment(std::uint32_t type) const {
  const auto found = std::ranges::find(image_.segments, type, &ElfSegment::type);
  return found == image_.segments.end() ? nullptr : &*found;
}

std::optional<Address> ModuleImage::resolve(std::uint64_t pointer) const {
  if (contains(pointer)) return pointer;
  if (contains(pointer + bias_)) return pointer + bias_;
  return std::nullopt;
}

std::optional<Address> ModuleImage::segment_end(Address at) const {
  for (const ElfSegment& segment : image_.segments) {
    const Address start = bias_ + segment.address;
    if (segment.type == PT_LOAD && start <= at && at - start < segment.memory_size) {
      return start + segment.memory_size;
    }
  }
  return std::nullopt;
}

Result<void> ModuleImage::read(Address at, std::span<std::byte> out) const {
  auto done = memory_->read(at, out);
  if (done || !file_) return done;
  return read_file(at, out, done.error());
}

// Only read-only segments: a writable one has changed since it was mapped.
Result<void> ModuleImage::read_file(Address at, std::span<std::byte> out,
                                    const Error& in_memory) const {
  for (const ElfSegment& segment : image_.segments) {
    const Address start = bias_ + segment.address;
    if (segment.type != PT_LOAD || (segment.flags & PF_W) != 0 || at < start) continue;
    const std::uint64_t inside = at - start;
    if (inside >= segment.file_size || out.size() > segment.file_size - inside) continue;
    if (auto done = file_->read(segment.offset + inside, out); !done) return done;
    used_assumed_file_ |= file_assumed_;
    return {};
  }
  return tl::unexpected(in_memory);
}

}  // namespace aotidbg
