// SPDX-License-Identifier: BSD-3-Clause
//
// Sets of addresses, as sorted ranges that neither overlap nor touch.
#pragma once

#include <cstdint>
#include <vector>

#include "common/target/result.h"

namespace aotidbg {

struct AddressRange {
  Address start = 0;
  Address end = 0;  // exclusive

  std::uint64_t size() const { return end - start; }
  bool operator==(const AddressRange&) const = default;
};

class RangeSet {
 public:
  RangeSet() = default;
  explicit RangeSet(std::vector<AddressRange> ranges);  // in any order; empty ones are left out

  const std::vector<AddressRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  std::uint64_t bytes() const;

  // The range that holds `at`, or null.
  const AddressRange* find(Address at) const;
  // The first address in [start, end) that is not in the set; `end` when all are.
  Address first_outside(Address start, Address end) const;

  RangeSet without(const RangeSet& others) const;
  RangeSet within(AddressRange limits) const;

 private:
  std::vector<AddressRange> ranges_;
};

}  // namespace aotidbg
