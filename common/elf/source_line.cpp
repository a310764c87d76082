// SPDX-License-Identifier: BSD-3-Clause
//
// libdw does the reading. It is asked only for what lies in the module's own file: units that point
// to others (.gnu_debugaltlink, split units) are left alone, since libdw would open files by names
// that the examined program chose.
#include "common/elf/source_line.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>

#include "common/elf/answers.h"
#include "common/elf/symbols.h"

namespace aotidbg {
namespace {

constexpr std::uint64_t kMostDebugBytes = 2ULL << 30;  // libdw reads whole sections into memory
constexpr std::size_t kMostUnits = 1U << 20;
constexpr std::size_t kMostEntries = 4U << 20;  // DIEs of one unit; siblings may form a cycle
constexpr int kDeepestNesting = 64;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

// True when the DWARF of `elf` is of a size that is worth reading, and all in this file.
bool is_readable(Elf* elf) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  std::uint64_t total = 0;
  bool has_info = false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || header.sh_type == SHT_NOBITS) continue;
    if (std::strcmp(name, ".gnu_debugaltlink") == 0) return false;
    if (std::strncmp(name, ".debug_", 7) != 0 && std::strncmp(name, ".zdebug_", 8) != 0) continue;
    has_info = has_info || std::strcmp(name + (name[1] == 'z' ? 8 : 7), "info") == 0;
    std::uint64_t size = header.sh_size;
    GElf_Chdr compressed;
    if ((header.sh_flags & SHF_COMPRESSED) != 0 && gelf_getchdr(section, &compressed) != nullptr) {
      size = compressed.ch_size;
    }
    if (size > kMostDebugBytes - total) return false;
    total += size;
  }
  return has_info;
}

// libdw trusts that strings end: in the sections of strings, and in .debug_info, whose last entry
// is a null one. A damaged file in which they do not would be read past its end. To be asked once
// libdw has unpacked compressed sections.
bool strings_end(Elf* elf) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || header.sh_type == SHT_NOBITS) continue;
    static constexpr std::string_view kWithStrings[] = {".debug_str",       ".debug_line_str",
                                                        ".debug_info",      ".zdebug_str",
                                                        ".zdebug_line_str", ".zdebug_info"};
    if (std::ranges::find(kWithStrings, name) == std::end(kWithStrings)) continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size == 0) continue;
    if (static_cast<const char*>(data->d_buf)[data->d_size - 1] != 0) return false;
  }
  return true;
}

struct Span {
  Dwarf_Addr low;
  Dwarf_Addr high;  // exclusive
  Dwarf_Die die;
};

void add_ranges(Dwarf_Die die, std::vector<Span>& spans) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  std::size_t count = 0;
  for (std::ptrdiff_t offset = 0; (offset = dwarf_ranges(&die, offset, &base, &low, &high)) > 0;) {
    if (low < high) spans.push_back({low, high, die});
    if (++count == kMostEntries) return;
  }
}

void sort(std::vector<Span>& spans) { std::ranges::stable_sort(spans, {}, &Span::low); }

// The span that holds `at`. Spans of functions and of units do not overlap, save in damaged files.
const Span* find_span(const std::vector<Span>& sorted, Dwarf_Addr at) {
  const auto after = std::ranges::upper_bound(sorted, at, {}, &Span::low);
  if (after == sorted.begin()) return nullptr;
  const Span& span = *std::prev(after);
  return at < span.high ? &span : nullptr;
}

// Functions of one unit, wherever they are nested.
class FunctionIndex {
 public:
  explicit FunctionIndex(Dwarf_Die unit) {
    walk(unit, 0);
    sort(spans_);
  }
  const std::vector<Span>& spans() const { return spans_; }

 private:
  void walk(Dwarf_Die parent, int depth) {
    Dwarf_Die die;
    if (depth == kDeepestNesting || dwarf_child(&parent, &die) != 0) return;
    do {
      if (++visited_ > kMostEntries) return;
      switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
          add_ranges(die, spans_);
          walk(die, depth + 1);  // members of local classes
          break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_lexical_block:
          walk(die, depth + 1);
          break;
        default:
          break;
      }
    } while (dwarf_siblingof(&die, &die) == 0);
  }

  std::vector<Span> spans_;
  std::size_t visited_ = 0;
};

std::string function_name(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) continue;
    const char* text = dwarf_formstring(&attribute);
    if (text != nullptr) return demangle(text, true);
  }
  const char* text = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
  return text == nullptr ? std::string() : brief_name(text);
}

// The inlined calls around `at` inside `function`, outermost first.
std::vector<Dwarf_Die> inlined_calls(Dwarf_Die function, Dwarf_Addr at) {
  std::vector<Dwarf_Die> calls;
  Dwarf_Die parent = function;
  std::size_t visited = 0;
  for (int depth = 0; depth < kDeepestNesting; ++depth) {
    Dwarf_Die die;
    if (dwarf_child(&parent, &die) != 0) return calls;
    bool inside = false;
    do {
      if (++visited > kMostEntries) return calls;
      const int tag = dwarf_tag(&die);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
      if (dwarf_haspc(&die, at) != 1) continue;
      if (tag == DW_TAG_inlined_subroutine) calls.push_back(die);
      parent = die;
      inside = true;
      break;
    } while (dwarf_siblingof(&die, &die) == 0);
    if (!inside) return calls;
  }
  return calls;
}

struct Place {
  std::string file;
  int line = 0;
};

Place line_at(Dwarf_Die unit, Dwarf_Addr at) {
  Place place;
  Dwarf_Line* line = dwarf_getsrc_die(&unit, at);
  if (line == nullptr) return place;
  if (const char* file = dwarf_linesrc(line, nullptr, nullptr)) place.file = file;
  if (dwarf_lineno(line, &place.line) != 0 || place.line < 0) place.line = 0;
  return place;
}

// Where an inlined call stands in the function that it was inlined into.
Place call_place(Dwarf_Die unit, Dwarf_Die call) {
  Place place;
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(&call, DW_AT_call_line, &attribute), &value) == 0 &&
      value <= INT32_MAX) {
    place.line = static_cast<int>(value);
  }
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(&call, DW_AT_call_file, &attribute), &value) == 0 &&
      dwarf_getsrcfiles(&unit, &files, &count) == 0 && value < count) {
    if (const char* file = dwarf_filesrc(files, value, nullptr, nullptr)) place.file = file;
  }
  return place;
}

// The DWARF of one file.
class DebugInfo {
 public:
  static std::unique_ptr<DebugInfo> open(std::shared_ptr<const ModuleFile> file) {
    elf_version(EV_CURRENT);
    std::unique_ptr<Elf, EndElf> elf(elf_begin(file->descriptor(), ELF_C_READ, nullptr));
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || !is_readable(elf.get())) return nullptr;
    std::unique_ptr<Dwarf, EndDwarf> dwarf(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
    if (!dwarf || !strings_end(elf.get())) return nullptr;
    return std::unique_ptr<DebugInfo>(
        new DebugInfo(std::move(file), std::move(elf), std::move(dwarf)));
  }

  std::vector<SourceFrame> find(Dwarf_Addr at) {
    std::vector<SourceFrame> frames;
    const Span* unit = find_span(units_, at);
    if (unit == nullptr) return frames;
    Dwarf_Die unit_die = unit->die;
    const Span* function = find_span(functions_of(unit_die), at);
    Place place = line_at(unit_die, at);
    if (function == nullptr) {
      if (place.line != 0) frames.push_back({{}, std::move(place.file), place.line, false});
      return frames;
    }
    const std::vector<Dwarf_Die> calls = inlined_calls(function->die, at);
    for (const Dwarf_Die& call : std::views::reverse(calls)) {
      frames.push_back({function_name(call), std::move(place.file), place.line, true});
      place = call_place(unit_die, call);
    }
    frames.push_back({function_name(function->die), std::move(place.file), place.line, false});
    return frames;
  }

 private:
  DebugInfo(std::shared_ptr<const ModuleFile> file, std::unique_ptr<Elf, EndElf> elf,
            std::unique_ptr<Dwarf, EndDwarf> dwarf)
      : file_(std::move(file)), elf_(std::move(elf)), dwarf_(std::move(dwarf)) {
    read_units();
  }

  // .debug_aranges may be missing or incomplete, so each unit says itself what it covers.
  void read_units() {
    Dwarf_CU* unit = nullptr;
    for (std::size_t count = 0; count < kMostUnits; ++count) {
      std::uint8_t type = 0;
      Dwarf_Die die;
      if (dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, &type, &die, nullptr) != 0) break;
      if (type == DW_UT_compile) add_ranges(die, units_);
    }
    sort(units_);
  }

  const std::vector<Span>& functions_of(Dwarf_Die unit) {
    const Dwarf_Off offset = dwarf_dieoffset(&unit);
    auto known = functions_.find(offset);
    if (known == functions_.end()) known = functions_.emplace(offset, FunctionIndex(unit)).first;
    return known->second.spans();
  }

  std::shared_ptr<const ModuleFile> file_;  // owns the descriptor that elf_ reads
  std::unique_ptr<Elf, EndElf> elf_;
  std::unique_ptr<Dwarf, EndDwarf> dwarf_;
  std::vector<Span> units_;
  std::map<Dwarf_Off, FunctionIndex> functions_;  // by unit
};

}  // namespace

struct SourceLines::State {
  // One entry a file; null where it has no DWARF.
  std::map<const ModuleFile*, std::unique_ptr<DebugInfo>> files;
  std::vector<std::shared_ptr<const ModuleFile>> kept;  // so that no pointer is used twice
};

SourceLines::SourceLines() : state_(std::make_unique<State>()) {}
SourceLines::~SourceLines() = default;

std::vector<SourceFrame> SourceLines::find(Memory& memory, const Module& module, Address at) {
  return answered<std::vector<SourceFrame>>(memory, fmt::format("lines at {:x}", at),
                                            [&] { return find_in_file(module, at); });
}

std::vector<SourceFrame> SourceLines::find_in_file(const Module& module, Address at) {
  if (!module.file) return {};
  auto known = state_->files.find(module.file.get());
  if (known == state_->files.end()) {
    known = state_->files.emplace(module.file.get(), DebugInfo::open(module.file)).first;
    state_->kept.push_back(module.file);
  }
  if (!known->second) return {};
  return known->second->find(at - module.bias);
}

}  // namespace aotidbg
