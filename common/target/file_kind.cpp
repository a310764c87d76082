// SPDX-License-Identifier: BSD-3-Clause
//
// Sources of the first bytes: elf.h; RFC 8878 (zstd), 1952 (gzip); lz4_Frame_format.md; the xz and
// bzip2 formats; mach-o/loader.h and mach-o/fat.h; minidumpapiset.h; the kernel's PAGEDU64 header.
#include "common/target/file_kind.h"

#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace aotidbg {

namespace {

using namespace std::string_view_literals;

constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA, elf.h

constexpr std::string_view kGiveCore = "give the core of a process of x86-64 Linux";

struct Kind {
  std::string_view magic;
  std::string_view what;
  std::string_view fix;
};

// In `fix`, {} is the file.
constexpr std::array kOtherFiles = {
    Kind{"\x28\xb5\x2f\xfd"sv, "compressed with zstd", "unpack it first: zstd -d {}"},
    Kind{"\x1f\x8b"sv, "compressed with gzip", "unpack it first: gzip -dk {}"},
    Kind{"\x04\x22\x4d\x18"sv, "compressed with lz4", "unpack it first: lz4 -d {}"},
    Kind{"\x02\x21\x4c\x18"sv, "compressed with lz4's old format", "unpack it first: lz4 -d {}"},
    Kind{"\xfd\x37zXZ\0"sv, "compressed with xz", "unpack it first: xz -dk {}"},
    Kind{"BZh"sv, "compressed with bzip2", "unpack it first: bzip2 -dk {}"},
    Kind{"MDMP"sv, "a minidump (Breakpad, Crashpad, Windows, or LLDB's process save-core on Linux)",
         "give an ELF core: the kernel writes one, and `gcore PID` does"},
    Kind{"PAGEDU"sv, "a crash dump of Windows", kGiveCore},
    Kind{"MZ"sv, "a program of Windows", kGiveCore},
    Kind{"\xca\xfe\xba\xbe"sv, "a Mach-O program for several processors (macOS)", kGiveCore},
    Kind{"PK\x03\x04"sv, "a zip archive (a .pt2 package?)",
         "give the core; a package goes with --package {}"},
    Kind{"#!"sv, "a script", kGiveCore},
};

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// struct mach_header and mach_header_64 begin alike: magic, cputype, cpusubtype, filetype.
bool is_mach_core(std::span<const std::byte> start, bool swapped) {
  constexpr std::uint32_t kMachCore = 4;  // MH_CORE
  if (start.size() < 16) return false;
  const auto type = value_at<std::uint32_t>(start, 12);
  return (swapped ? __builtin_bswap32(type) : type) == kMachCore;
}

Result<void> refuse_mach(const std::string& path, std::span<const std::byte> start) {
  const std::string_view text = as_text(start);
  const bool little =
      text.starts_with("\xcf\xfa\xed\xfe"sv) || text.starts_with("\xce\xfa\xed\xfe"sv);
  const bool big = text.starts_with("\xfe\xed\xfa\xcf"sv) || text.starts_with("\xfe\xed\xfa\xce"sv);
  if (!little && !big) return {};
  return fail(fmt::format("{} is {} of macOS (Mach-O), no ELF core", path,
                          is_mach_core(start, big) ? "a core" : "a program or library"),
              std::nullopt, std::string(kGiveCore));
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_AARCH64:
      return "aarch64";
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

Result<void> refuse_other_elf(const std::string& path, std::span<const std::byte> start) {
  const auto give_core = [](std::string what) {
    return fail(std::move(what), std::nullopt, std::string(kGiveCore));
  };
  // e_type and e_machine lie at the same place in both classes.
  if (start.size() < EI_NIDENT + 4) return {};  // its headers are cut short; the reader says so
  const auto order = std::to_integer<unsigned>(start[EI_DATA]);
  const auto width = std::to_integer<unsigned>(start[EI_CLASS]);
  const auto type = value_at<std::uint16_t>(start, offsetof(Elf64_Ehdr, e_type));
  const auto machine = value_at<std::uint16_t>(start, offsetof(Elf64_Ehdr, e_machine));
  if (order == ELFDATA2MSB) {
    return give_core(fmt::format("{} comes from a big-endian machine; only x86-64 is known", path));
  }
  if (machine == kMachineCuda) {
    return fail(fmt::format("{} is a CUDA GPU core (or device code), not the host's core", path),
                std::nullopt, "give the core of the process; GPU cores are not read yet");
  }
  if (width == ELFCLASS32) {
    return give_core(fmt::format("{} comes from a 32-bit program; only x86-64 is known", path));
  }
  if (width != ELFCLASS64 || order != ELFDATA2LSB) {
    return give_core(fmt::format("{} has a damaged ELF header", path));
  }
  if (type == ET_EXEC || type == ET_DYN || type == ET_REL) {
    return fail(fmt::format("{} is a program or library, no core", path), std::nullopt,
                "give the core file that its crash left (coredumpctl, core_pattern)");
  }
  if (type != ET_CORE) {
    return give_core(fmt::format("{} is an ELF file of type {}, no core", path, type));
  }
  if (machine != EM_X86_64) {
    return give_core(
        fmt::format("{} comes from {}; only x86-64 is known", path, machine_name(machine)));
  }
  return {};
}

}  // namespace

Packing packing_of(std::span<const std::byte> start) {
  const std::string_view text = as_text(start);
  if (text.starts_with("\x28\xb5\x2f\xfd"sv)) return Packing::zstd;
  if (text.starts_with("\x1f\x8b"sv)) return Packing::gzip;
  if (text.starts_with("\x04\x22\x4d\x18"sv)) return Packing::lz4;
  return Packing::none;
}

Result<void> refuse_other_files(const std::string& path, std::span<const std::byte> start) {
  const std::string_view text = as_text(start);
  for (const Kind& kind : kOtherFiles) {
    if (!text.starts_with(kind.magic)) continue;
    return fail(fmt::format("{} is {}, no ELF core", path, kind.what), std::nullopt,
                fmt::format(fmt::runtime(kind.fix), path));
  }
  if (auto known = refuse_mach(path, start); !known) return known;
  if (!text.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    return fail(fmt::format("{} is no ELF file", path), std::nullopt,
                "give a core that the kernel, gcore or a debugger wrote");
  }
  return refuse_other_elf(path, start);
}

}  // namespace aotidbg
