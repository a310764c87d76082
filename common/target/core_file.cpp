// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/core_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/target/file_bytes.h"
#include "common/target/file_kind.h"

namespace aotidbg {

namespace {

constexpr std::uint64_t kMostCoreHeaders = 1U << 20;  // vm.max_map_count is 65530 by default

}  // namespace

CoreFile::~CoreFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::unique_ptr<CoreFile>> CoreFile::open(const std::string& path,
                                                 const std::string& contents) {
  std::unique_ptr<CoreFile> core(new CoreFile());
  core->path_ = path;
  auto file = open_regular(contents.empty() ? path : contents);
  if (!file) {
    Error& error = file.error();
    if (error.fix.empty()) error.fix = "give a core that the kernel, gcore or a debugger wrote";
    return tl::unexpected(error);
  }
  core->descriptor_ = file->descriptor;
  core->size_ = static_cast<std::uint64_t>(file->status.st_size);
  if (auto done = core->read_headers(); !done) return tl::unexpected(done.error());
  return core;
}

Result<void> CoreFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  const ReadBytes got = read_fully(descriptor_, offset, out);
  if (got.bytes == out.size()) return {};
  if (got.error != 0) {
    return fail(fmt::format("{} cannot be read at byte {}: {}", path_, offset + got.bytes,
                            std::strerror(got.error)));
  }
  return fail(fmt::format("the core file is cut short at byte {}", offset + got.bytes),
              std::nullopt, "write the core again with `ulimit -c unlimited` and room on the disk");
}

std::uint64_t CoreFile::next_data(std::uint64_t offset) const {
  const off_t data = ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
  if (data >= 0) return static_cast<std::uint64_t>(data);
  return errno == ENXIO ? size_ : offset;  // not every file system tells
}

Result<void> CoreFile::read_headers() {
  if (size_ == 0) {
    return fail(fmt::format("{} is empty", path_), std::nullopt,
                "write the core again with `ulimit -c unlimited` and room on the disk");
  }
  Elf64_Ehdr header{};
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  const ReadBytes got = read_fully(descriptor_, 0, bytes);
  if (got.error != 0) return read(0, bytes);
  static_assert(sizeof(header) == kKindBytes);
  if (auto known = refuse_other_files(path_, bytes.first(got.bytes)); !known) return known;
  const auto cut_short = [this](std::uint64_t needed) {
    return fail(
        fmt::format("{} is cut short inside its own headers: it has {} bytes and they need {}",
                    path_, size_, needed),
        std::nullopt, "write the core again with `ulimit -c unlimited` and room on the disk");
  };
  if (got.bytes < sizeof(header)) return cut_short(sizeof(header));

  std::uint64_t count = header.e_phnum;
  if (count == PN_XNUM) {  // the true count is in section 0 (elf.h)
    Elf64_Shdr section{};
    if (header.e_shoff > size_ || size_ - header.e_shoff < sizeof(section)) {
      return cut_short(header.e_shoff + sizeof(section));
    }
    if (auto done = read(header.e_shoff, std::as_writable_bytes(std::span(&section, 1))); !done) {
      return done;
    }
    count = section.sh_info;
  }
  if (count == 0) return fail(fmt::format("{} is a core without program headers", path_));
  if (header.e_phentsize != sizeof(Elf64_Phdr)) {
    return fail(fmt::format("{} has program headers of {} bytes, not {}", path_, header.e_phentsize,
                            sizeof(Elf64_Phdr)));
  }
  if (count > kMostCoreHeaders) {
    return fail(fmt::format("{} claims {} program headers", path_, count));
  }
  if (header.e_phoff > size_ || (size_ - header.e_phoff) / sizeof(Elf64_Phdr) < count) {
    return cut_short(header.e_phoff + count * sizeof(Elf64_Phdr));
  }
  std::vector<Elf64_Phdr> table(count);
  if (auto done = read(header.e_phoff, std::as_writable_bytes(std::span(table))); !done)
    return done;
  for (const Elf64_Phdr& entry : table) {
    if (entry.p_type != PT_LOAD && entry.p_type != PT_NOTE) continue;
    segments_.push_back({entry.p_type, entry.p_flags, entry.p_offset, entry.p_vaddr, entry.p_filesz,
                         std::max(entry.p_memsz, entry.p_filesz)});
  }
  return {};
}

}  // namespace aotidbg
