// SPDX-License-Identifier: BSD-3-Clause
//
// The note that makes a small core a snapshot: which of its bytes are known, what the process was,
// and the answers to what was asked of it when it was saved. docs/snapshot.md describes the text,
// which is JSON: a reader sees with `readelf -n` or `strings` what he is about to share.
//
// Nothing in a note is believed: every count is bounded, ranges must be in order, and a note that
// breaks a rule is refused as a whole, since without it a zero in the file would pass for a fact.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/target/ranges.h"
#include "common/target/record.h"
#include "common/target/target.h"

namespace aotidbg {

inline constexpr std::string_view kSnapshotOwner = "AOTIDBG";  // of the ELF note
// GDB tells core notes by their type alone, so it is nobody else's.
inline constexpr std::uint32_t kSnapshotNoteType = 0x414f5449;
inline constexpr std::uint64_t kLargestSnapshotNote = 16U << 20;  // in memory ten times as much

struct SnapshotNote {
  static constexpr int kVersion = 1;

  std::string tool;  // version of aotidbg that saved it
  bool with_values = false;
  ProcessInfo process;          // without files, arguments and the auxiliary vector: the core's own
  std::vector<Region> regions;  // as they were; what is dumped here is another matter
  std::vector<Module> modules;  // without files
  std::vector<Error> gaps;      // of the target that was saved
  std::optional<ThreadId> stopped;
  std::map<ThreadId, std::vector<std::size_t>> unknown_registers;  // slots
  std::map<Purpose, RangeSet> known;
  RangeSet stacks;  // where nothing but addresses is kept
  std::vector<QuotedValue> quoted;
  std::map<std::string, nlohmann::json> answers;

  RangeSet all_known() const;
};

std::string_view purpose_name(Purpose purpose);  // "objects", as in the note

std::string write_snapshot_note(const SnapshotNote& note);

// Refuses with one sentence: what is no JSON, of another version, or breaks a rule.
Result<SnapshotNote> read_snapshot_note(std::string_view text);

}  // namespace aotidbg
