// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/core_regions.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace aotidbg {

namespace {

constexpr Address kVsyscall = 0xffffffffff600000;  // Documentation/arch/x86/x86_64/mm.rst

struct Piece {
  Region region;
  std::uint64_t core_offset = 0;
  bool cut_short = false;
  bool permissions_unknown = false;
};

// One piece of a mapping that PT_LOAD gives, from `start` to `end`.
Piece slice(const Piece& piece, Address start, Address end) {
  Piece part = piece;
  const std::uint64_t skipped = start - piece.region.start;
  part.region.start = start;
  part.region.end = end;
  part.region.dumped =
      piece.region.dumped > skipped ? std::min(piece.region.dumped - skipped, end - start) : 0;
  part.core_offset += skipped;
  part.cut_short = piece.cut_short && piece.region.dumped < end - piece.region.start;
  return part;
}

class RegionList {
 public:
  RegionList(const CoreFile& core, CoreRegions& out) : core_(core), out_(out) {}

  void add_segment(const ElfSegment& segment) {
    if (segment.type != PT_LOAD || segment.memory_size == 0) return;
    if (segment.memory_size > std::numeric_limits<std::uint64_t>::max() - segment.address) {
      ++impossible_;
      return;
    }
    Piece piece;
    piece.region.start = segment.address;
    piece.region.end = segment.address + segment.memory_size;
    piece.region.readable = (segment.flags & PF_R) != 0;
    piece.region.writable = (segment.flags & PF_W) != 0;
    piece.region.executable = (segment.flags & PF_X) != 0;
    piece.core_offset = segment.offset;
    const std::uint64_t there = core_.size() > segment.offset ? core_.size() - segment.offset : 0;
    piece.region.dumped = std::min(segment.file_size, there);
    piece.cut_short = piece.region.dumped < segment.file_size;
    if (piece.cut_short) missing_ += segment.file_size - piece.region.dumped;
    pieces_.push_back(std::move(piece));
  }

  // Sorted; where two overlap the one that starts first keeps the bytes.
  void sort_and_clip() {
    std::stable_sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
      return a.region.start < b.region.start;
    });
    Address end = 0;
    std::vector<Piece> kept;
    kept.reserve(pieces_.size());
    for (Piece& piece : pieces_) {
      if (piece.region.start < end) {
        ++overlapping_;
        if (piece.region.end <= end) continue;
        piece = slice(piece, end, piece.region.end);
      }
      end = piece.region.end;
      kept.push_back(std::move(piece));
    }
    pieces_ = std::move(kept);
  }

  // Names what NT_FILE names, dividing where it must. What no PT_LOAD covers becomes a region
  // without bytes, since some writers leave out what they do not dump. Both lists are sorted.
  void name(const std::vector<FileMapping>& mappings) {
    constexpr Address kEnd = std::numeric_limits<Address>::max();
    std::vector<Piece> named;
    named.reserve(pieces_.size() + mappings.size());
    std::size_t p = 0;
    std::size_t m = 0;
    for (Address at = 0;;) {
      while (p < pieces_.size() && pieces_[p].region.end <= at) ++p;
      while (m < mappings.size() && mappings[m].end <= at) ++m;
      const Address piece_start = p < pieces_.size() ? pieces_[p].region.start : kEnd;
      const Address file_start = m < mappings.size() ? mappings[m].start : kEnd;
      if (p == pieces_.size() && m == mappings.size()) break;
      at = std::max(at, std::min(piece_start, file_start));
      const bool in_piece = piece_start <= at;
      const bool in_file = file_start <= at;
      const Address piece_stop = in_piece ? pieces_[p].region.end : piece_start;
      const Address file_stop = in_file ? mappings[m].end : file_start;
      const Address stop = std::min(piece_stop, file_stop);
      Piece part = in_piece ? slice(pieces_[p], at, stop) : unloaded(at, stop);
      if (in_file) {
        part.region.path = mappings[m].path;
        part.region.file_offset = mappings[m].file_offset + (at - mappings[m].start);
      }
      named.push_back(std::move(part));
      at = stop;
    }
    pieces_ = std::move(named);
  }

  void name_specials(const AuxiliaryVector& auxiliary) {
    for (Piece& piece : pieces_) {
      if (!piece.region.path.empty()) continue;
      if (auxiliary.vdso && piece.region.start == *auxiliary.vdso) piece.region.path = "[vdso]";
      if (piece.region.start == kVsyscall) piece.region.path = "[vsyscall]";
      if (auxiliary.random && piece.region.contains(*auxiliary.random)) {
        piece.region.path = "[stack]";
      }
    }
  }

  void finish() {
    if (missing_ != 0) {
      out_.gaps.push_back({fmt::format("the core file is cut short at byte {}: {} bytes of memory "
                                       "are missing",
                                       core_.size(), missing_),
                           std::nullopt,
                           "write the core again with `ulimit -c unlimited` and room on the disk"});
    }
    if (impossible_ != 0) {
      out_.gaps.push_back({fmt::format("{} mappings of the core have impossible sizes and are left "
                                       "out",
                                       impossible_),
                           std::nullopt,
                           {}});
    }
    if (overlapping_ != 0) {
      out_.gaps.push_back(
          {fmt::format("{} mappings of the core overlap others", overlapping_), std::nullopt, {}});
    }
    out_.regions.reserve(pieces_.size());
    for (Piece& piece : pieces_) {
      out_.regions.push_back(std::move(piece.region));
      out_.core_offsets.push_back(piece.core_offset);
      out_.cut_short.push_back(piece.cut_short);
      out_.permissions_unknown.push_back(piece.permissions_unknown);
    }
  }

 private:
  static Piece unloaded(Address start, Address end) {
    Piece piece;
    piece.region.start = start;
    piece.region.end = end;
    piece.region.readable = true;
    piece.permissions_unknown = true;
    return piece;
  }

  const CoreFile& core_;
  CoreRegions& out_;
  std::vector<Piece> pieces_;
  std::uint64_t missing_ = 0;
  std::size_t impossible_ = 0;
  std::size_t overlapping_ = 0;
};

}  // namespace

CoreRegions read_core_regions(const CoreFile& core, const CoreNotes& notes) {
  CoreRegions out;
  RegionList list(core, out);
  for (const ElfSegment& segment : core.segments()) list.add_segment(segment);
  list.sort_and_clip();
  list.name(notes.file_mappings);
  list.name_specials(notes.auxiliary);
  list.finish();
  return out;
}

}  // namespace aotidbg
