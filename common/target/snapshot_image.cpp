// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/snapshot_image.h"

#include <elf.h>
#include <link.h>

#include <algorithm>

#include "common/target/core_notes.h"
#include "common/target/elf_image.h"
#include "common/target/link_map.h"

namespace aotidbg {

namespace {

constexpr std::uint64_t kMostBytes = 64U << 10;  // of one dynamic section, one note segment, a vdso

// Passes reads on, and has each of them kept for one purpose.
class Keeping final : public Memory {
 public:
  Keeping(Recording& recording, Purpose purpose) : recording_(recording), purpose_(purpose) {}

  Result<void> read(Address at, std::span<std::byte> out) override {
    auto done = recording_.recorded().read(at, out);
    if (done) recording_.keep(at, out.size(), purpose_);
    return done;
  }

  Result<std::string> read_c_string(Address at, std::size_t limit) override {
    auto text = recording_.recorded().read_c_string(at, limit);
    if (text) recording_.keep(at, text->size() + 1, purpose_);
    return text;
  }

 private:
  Recording& recording_;
  Purpose purpose_;
};

void keep_module(Recording& recording, const Module& module) {
  Keeping memory(recording, Purpose::module);
  const auto image = read_elf_image([&](std::uint64_t offset, std::span<std::byte> out) {
    return memory.read(module.start + offset, out);
  });
  if (!image) return;
  for (const ElfSegment& segment : image->segments) {
    if (segment.type != PT_DYNAMIC && segment.type != PT_NOTE) continue;
    (void)memory.read_bytes(module.bias + segment.address,
                            std::min(segment.memory_size, kMostBytes));
  }
  if (module.path == "[vdso]") {
    (void)memory.read_bytes(module.start, std::min(module.end - module.start, kMostBytes));
  }
}

}  // namespace

void keep_process_image(Recording& recording) {
  Keeping memory(recording, Purpose::loader);
  (void)read_link_map(memory, auxiliary_vector(recording.process().auxiliary));
  for (const Module& module : recording.modules()) keep_module(recording, module);
}

}  // namespace aotidbg
