// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/target/elf_image.h"
#include "common/target/record.h"
#include "common/target/snapshot_note.h"

namespace aotidbg {

namespace {

class Snapshot final : public Target, private Record {
 public:
  Snapshot(std::unique_ptr<Target> core, SnapshotNote note)
      : core_(std::move(core)), note_(std::move(note)), known_(note_.all_known()) {
    process_ = note_.process;
    process_.files = core_->process().files;
    process_.arguments = core_->process().arguments;
    process_.auxiliary = core_->process().auxiliary;
    if (core_->process().cut_short) {
      process_.cut_short = true;
      note_.gaps.insert(note_.gaps.end(), core_->gaps().begin(), core_->gaps().end());
    }
    threads_.assign(core_->threads().begin(), core_->threads().end());
    for (Thread& thread : threads_) forget_unknown_registers(thread);
  }

  Result<void> read(Address at, std::span<std::byte> out) override {
    if (out.empty()) return {};
    if (out.size() - 1 > ~at) return fail("the end of memory lies before the end of this read", at);
    const Address end = at + out.size();
    const Address unknown = known_.first_outside(at, end);
    if (unknown != end) return not_kept(unknown, end);
    return core_->read(at, out);
  }

  Result<void> read_stack(Address at, std::span<std::byte> out) override {
    std::ranges::fill(out, std::byte{0});
    while (!out.empty()) {
      const Region* region = region_at(at);
      if (region == nullptr) return not_kept(at, at + 1);
      const std::uint64_t to_page_end = page_down(at) + kPageSize - at;
      const auto part = out.first(std::min<std::uint64_t>(out.size(), to_page_end));
      if (!core_->read(at, part)) std::ranges::fill(part, std::byte{0});
      at += part.size();
      out = out.subspan(part.size());
    }
    return {};
  }

  // As far as the known bytes go, and not to the end of the page.
  Result<std::string> read_c_string(Address at, std::size_t limit) override {
    const AddressRange* const known = known_.find(at);
    if (known == nullptr) return tl::unexpected(not_kept(at, at + 1).error());
    std::string text(std::min<std::uint64_t>(known->end - at, limit), '\0');
    if (auto done = core_->read(at, std::as_writable_bytes(std::span(text))); !done) {
      return tl::unexpected(done.error());
    }
    const std::size_t size = text.find('\0');
    if (size == std::string::npos) {
      return fail(fmt::format("the text at {:#x} does not end within {} bytes", at, text.size()),
                  at);
    }
    text.resize(size);
    return text;
  }

  Record* record() override { return this; }
  const SnapshotNote* snapshot() const override { return &note_; }
  const ProcessInfo& process() const override { return process_; }
  std::span<const Region> regions() const override { return note_.regions; }
  std::span<const Module> modules() const override { return note_.modules; }
  std::span<const Thread> threads() const override { return threads_; }
  std::optional<ThreadId> stopped_thread() const override { return note_.stopped; }
  std::span<const Error> gaps() const override { return note_.gaps; }
  bool interrupted() override { return core_->interrupted(); }

 private:
  Result<void> not_kept(Address at, Address end) const {
    const Region* const region = region_at(at);
    if (region == nullptr) return fail(fmt::format("{:#x} is not mapped", at), at);
    return fail(
        fmt::format("{:#x} to {:#x} is not kept in this snapshot", at, std::min(end, region->end)),
        at, "ask the process or core that it was saved of");
  }

  void forget_unknown_registers(Thread& thread) const {
    const auto unknown = note_.unknown_registers.find(thread.id);
    if (unknown == note_.unknown_registers.end()) return;
    Registers known;
    for (std::size_t slot = 0; slot < Registers::kCount; ++slot) {
      const auto value = thread.registers.get(slot);
      if (value && std::ranges::find(unknown->second, slot) == unknown->second.end()) {
        known.set(slot, *value);
      }
    }
    thread.registers = known;
  }

  const nlohmann::json* find(const std::string& question) override {
    const auto answer = note_.answers.find(question);
    return answer == note_.answers.end() ? nullptr : &answer->second;
  }
  void answer(const std::string&, nlohmann::json) override {}
  void keep(Address, std::uint64_t, Purpose) override {}
  void keep_stack(Address, Address) override {}
  void pause() override {}
  void resume() override {}
  std::size_t mark() override { return 0; }
  void forget_since(std::size_t) override {}

  std::unique_ptr<Target> core_;
  SnapshotNote note_;
  RangeSet known_;
  ProcessInfo process_;
  std::vector<Thread> threads_;
};

}  // namespace

Result<std::unique_ptr<Target>> open_snapshot(std::unique_ptr<Target> core, std::string_view note) {
  auto read = read_snapshot_note(note);
  if (!read) {
    const auto& files = core->process().files;
    if (!files.empty()) read.error().what = fmt::format("{}: {}", files.front(), read.error().what);
    return tl::unexpected(read.error());
  }
  return std::make_unique<Snapshot>(std::move(core), std::move(*read));
}

}  // namespace aotidbg
