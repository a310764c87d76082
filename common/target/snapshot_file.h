// SPDX-License-Identifier: BSD-3-Clause
//
// From a recording to the file: an ELF core with the pages that were touched, in which every byte
// that was not read is 0, and the note that tells which were.
//
// What never gets in: environment and arguments above the main stack (but for the 79 characters of
// the command line that every core has), vector registers, words of stacks that are no addresses,
// the memory of tensors save what is asked for by name.
#pragma once

#include <string>
#include <vector>

#include "common/target/recording.h"
#include "common/target/snapshot_note.h"

namespace aotidbg {

struct SnapshotRequest {
  std::string tool;
  bool with_values = false;
  std::vector<AddressRange> tensor_memory;  // kept only as far as Purpose::quoted and value say
  std::vector<QuotedValue> quoted;
};

// The bytes of the file.
Result<std::string> make_snapshot(Recording& recording, const SnapshotRequest& request);

}  // namespace aotidbg
