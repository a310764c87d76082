// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/ranges.h"

#include <algorithm>
#include <utility>

namespace aotidbg {

RangeSet::RangeSet(std::vector<AddressRange> ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.start >= range.end; });
  std::ranges::sort(ranges, {}, &AddressRange::start);
  for (const AddressRange& range : ranges) {
    if (!ranges_.empty() && range.start <= ranges_.back().end) {
      ranges_.back().end = std::max(ranges_.back().end, range.end);
    } else {
      ranges_.push_back(range);
    }
  }
}

std::uint64_t RangeSet::bytes() const {
  std::uint64_t total = 0;
  for (const AddressRange& range : ranges_) total += range.size();
  return total;
}

const AddressRange* RangeSet::find(Address at) const {
  const auto after = std::ranges::upper_bound(ranges_, at, {}, &AddressRange::start);
  if (after == ranges_.begin() || std::prev(after)->end <= at) return nullptr;
  return &*std::prev(after);
}

Address RangeSet::first_outside(Address start, Address end) const {
  const AddressRange* range = find(start);
  return range == nullptr ? start : std::min(range->end, end);
}

RangeSet RangeSet::without(const RangeSet& others) const {
  std::vector<AddressRange> left;
  auto other = others.ranges_.begin();
  for (AddressRange range : ranges_) {
    while (other != others.ranges_.end() && other->end <= range.start) ++other;
    for (auto cut = other; cut != others.ranges_.end() && cut->start < range.end; ++cut) {
      left.push_back({range.start, cut->start});
      range.start = std::max(range.start, cut->end);
    }
    left.push_back(range);
  }
  return RangeSet(std::move(left));
}

RangeSet RangeSet::within(AddressRange limits) const {
  std::vector<AddressRange> left;
  left.reserve(ranges_.size());
  for (const AddressRange& range : ranges_) {
    left.push_back({std::max(range.start, limits.start), std::min(range.end, limits.end)});
  }
  return RangeSet(std::move(left));
}

}  // namespace aotidbg
