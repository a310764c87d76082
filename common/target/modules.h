// SPDX-License-Identifier: BSD-3-Clause
//
// From mappings to modules: which mapped files are ELF images, where they were loaded, and whether
// the file at hand is the same one. Shared by cores and live processes.
//
// A module is a mapping of offset 0 that begins with the ELF magic and whose program headers fit
// the mappings that follow; files that are mapped as data (weights, or a library that somebody
// reads as a whole) are none. One file that is mapped twice gives two modules.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/target/elf_image.h"
#include "common/target/target.h"

namespace aotidbg {

// What is known about an image before its file is looked for.
struct WantedFile {
  std::string path;  // without ' (deleted)'
  bool deleted = false;
  std::string build_id;  // of the image in memory; empty: it has none, or it is not readable
  const Region* first = nullptr;          // the mapping of offset 0; null when not known
  std::span<const std::byte> first_page;  // its first bytes as the target holds them; may be empty
};

struct FoundFile {
  std::shared_ptr<const ModuleFile> file;
  bool assumed = false;  // nothing proves that it is the same
  bool fills = false;    // its bytes may stand for pages that the target lacks
  std::string problem;   // why it is assumed
};

struct ModuleSource {
  std::span<const Region> regions;
  // Of regions[i]; null: all are known.
  const std::vector<bool>* permissions_unknown = nullptr;
  // Bytes that the target itself holds; never filled from files.
  std::function<Result<void>(Address, std::span<std::byte>)> held;
  std::function<Result<FoundFile>(const WantedFile&)> find_file;
};

// A module with what is needed to fill its pages.
struct MappedModule {
  Module module;
  std::vector<ElfSegment> segments;  // of the image, addresses before `module.bias`
  bool fills = false;

  // The page at `at` is as in the file, provided that the file is the same: no segment that the
  // loader or the program writes to covers it.
  bool as_in_file(Address at) const;
};

constexpr std::string_view kDeletedSuffix = " (deleted)";

// All modules that `source.regions` name, sorted by address.
std::vector<MappedModule> find_modules(const ModuleSource& source);

// An image that has no file of its own, such as the vdso, or one that no mapping names (`path` from
// the link map). nullopt when there is no ELF header at `start` and no file either.
std::optional<MappedModule> module_at_header(const ModuleSource& source, Address start,
                                             const std::string& path, bool has_file);

}  // namespace aotidbg
