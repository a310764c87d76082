// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/core_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include "common/target/file_bytes.h"

namespace aotidbg {

namespace {

constexpr std::uint64_t kMostCoreHeaders = 1U << 20;  // vm.max_map_count is 65530 by default
constexpr std::uint16_t kMachineCuda = 190;           // EM_CUDA, elf.h

struct Magic {
  std::string_view bytes;
  std::string_view what;
  std::string_view fix;
};

using namespace std::string_view_literals;
constexpr std::array kOtherFiles = {
    Magic{"\x28\xb5\x2f\xfd"sv, "compressed with zstd", "unpack it first: zstd -d FILE"},
    Magic{"\x1f\x8b"sv, "compressed with gzip", "unpack it first: gunzip FILE"},
    Magic{"\x04\x22\x4d\x18"sv, "compressed with lz4", "unpack it first: lz4 -d FILE"},
    Magic{"\xfd\x37zXZ\0"sv, "compressed with xz", "unpack it first: unxz FILE"},
    Magic{"BZh"sv, "compressed with bzip2", "unpack it first: bunzip2 FILE"},
    Magic{"MDMP"sv, "a minidump (Breakpad, Crashpad, Windows)", "give an ELF core of Linux"},
    Magic{"\xcf\xfa\xed\xfe"sv, "a Mach-O file (macOS)", "give an ELF core of Linux"},
    Magic{"\xce\xfa\xed\xfe"sv, "a Mach-O file (macOS)", "give an ELF core of Linux"},
    Magic{"\xfe\xed\xfa\xcf"sv, "a Mach-O file (macOS)", "give an ELF core of Linux"},
    Magic{"\xca\xfe\xba\xbe"sv, "a Mach-O file (macOS)", "give an ELF core of Linux"},
    Magic{"PK\x03\x04"sv, "a zip archive (a .pt2 package?)",
          "give the core; the package goes with --package"},
};

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "32-bit ARM";
    case EM_386:
      return "32-bit x86";
    case EM_PPC64:
      return "PowerPC";
    case EM_RISCV:
      return "RISC-V";
    case EM_S390:
      return "s390";
    default:
      return fmt::format("ELF machine {}", machine);
  }
}

Result<void> refuse_other_kinds(const std::string& path, std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const Magic& magic : kOtherFiles) {
    if (text.starts_with(magic.bytes)) {
      return fail(fmt::format("{} is {}, no ELF core", path, magic.what), std::nullopt,
                  std::string(magic.fix));
    }
  }
  if (!text.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    return fail(fmt::format("{} is no ELF file", path), std::nullopt,
                "give a core that the kernel, gcore or a debugger wrote");
  }
  return {};
}

Result<void> refuse_other_cores(const std::string& path, const Elf64_Ehdr& header) {
  const bool big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
  if (big_endian) {
    return fail(fmt::format("{} comes from a big-endian machine; only x86-64 is known", path));
  }
  // e_type and e_machine lie at the same place in both classes.
  if (header.e_machine == kMachineCuda) {
    return fail(fmt::format("{} is a CUDA GPU core (or device code), not the host's core", path),
                std::nullopt, "give the host core as the core and this file with --gpu-core");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    return fail(fmt::format("{} comes from a 32-bit program; only x86-64 is known", path));
  }
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return fail(fmt::format("{} has a damaged ELF header", path));
  }
  if (header.e_type == ET_EXEC || header.e_type == ET_DYN || header.e_type == ET_REL) {
    return fail(fmt::format("{} is a program or library, no core", path), std::nullopt,
                "give the core file that its crash left (coredumpctl, core_pattern)");
  }
  if (header.e_type != ET_CORE) {
    return fail(fmt::format("{} is an ELF file of type {}, no core", path, header.e_type));
  }
  if (header.e_machine != EM_X86_64) {
    return fail(fmt::format("{} comes from {}; only x86-64 is known", path,
                            machine_name(header.e_machine)));
  }
  return {};
}

}  // namespace

CoreFile::~CoreFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::unique_ptr<CoreFile>> CoreFile::open(const std::string& path) {
  std::unique_ptr<CoreFile> core(new CoreFile());
  core->path_ = path;
  auto file = open_regular(path);
  if (!file) return tl::unexpected(file.error());
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

Result<void> CoreFile::read_headers() {
  if (size_ == 0) {
    return fail(fmt::format("{} is empty", path_), std::nullopt,
                "write the core again with `ulimit -c unlimited` and room on the disk");
  }
  Elf64_Ehdr header{};
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  const ReadBytes got = read_fully(descriptor_, 0, bytes);
  if (auto known = refuse_other_kinds(path_, bytes.first(got.bytes)); !known) return known;
  const auto cut_short = [this](std::uint64_t needed) {
    return fail(
        fmt::format("{} is cut short inside its own headers: it has {} bytes and they need {}",
                    path_, size_, needed),
        std::nullopt, "write the core again with `ulimit -c unlimited` and room on the disk");
  };
  if (got.bytes < EI_NIDENT + 4) return cut_short(sizeof(header));
  if (auto known = refuse_other_cores(path_, header); !known) return known;
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
