// SPDX-License-Identifier: BSD-3-Clause
//
// A target that notes what is read of another one, and what was answered about it: the analysis
// runs over it, and what it touched is what a snapshot has to hold (snapshot_file.h).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/target/ranges.h"
#include "common/target/record.h"
#include "common/target/target.h"

namespace aotidbg {

struct RecordedRange {
  AddressRange range;
  Purpose purpose = Purpose::object;
};

class Recording final : public Target, private Record {
 public:
  explicit Recording(Target& recorded);  // which must outlive it
  ~Recording() override;

  Target& recorded() { return target_; }
  const std::vector<RecordedRange>& ranges() const { return ranges_; }
  const std::vector<AddressRange>& stacks() const { return stacks_; }
  std::map<std::string, nlohmann::json> take_answers();

  // Also what was not read: [at, at + size), as far as the target has it.
  void keep(Address at, std::uint64_t size, Purpose purpose) override;
  void keep_stack(Address start, Address end) override;

  Result<void> read(Address at, std::span<std::byte> out) override;
  Result<void> read_stack(Address at, std::span<std::byte> out) override;
  Result<std::string> read_c_string(Address at, std::size_t limit) override;
  Record* record() override { return this; }

  const ProcessInfo& process() const override { return target_.process(); }
  std::span<const Region> regions() const override { return target_.regions(); }
  std::span<const Module> modules() const override { return target_.modules(); }
  std::span<const Thread> threads() const override { return target_.threads(); }
  std::optional<ThreadId> stopped_thread() const override { return target_.stopped_thread(); }
  std::span<const Error> gaps() const override { return target_.gaps(); }
  const SnapshotNote* snapshot() const override { return target_.snapshot(); }
  Address next_data(Address at, Address end) override { return target_.next_data(at, end); }
  bool interrupted() override { return target_.interrupted(); }

 private:
  const nlohmann::json* find(const std::string& question) override;
  void answer(const std::string& question, nlohmann::json answer) override;
  void pause() override { ++paused_; }
  void resume() override { --paused_; }
  std::size_t mark() override { return ranges_.size(); }
  void forget_since(std::size_t mark) override { ranges_.resize(mark); }
  void add(Address at, std::uint64_t size, Purpose purpose);

  Target& target_;
  std::vector<RecordedRange> ranges_;  // as they were read, many of them more than once
  std::vector<AddressRange> stacks_;
  std::map<std::string, nlohmann::json> answers_;
  std::size_t paused_ = 0;
};

}  // namespace aotidbg
