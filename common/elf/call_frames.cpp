// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/call_frames.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/elf/byte_cursor.h"
#include "common/elf/frame_program.h"

namespace aotidbg {
namespace {

// The largest description in libtorch is below 4 KiB.
constexpr std::uint32_t kLargestEntry = 256U << 10;
constexpr std::size_t kMostScanned = 1U << 20;  // descriptions, where there is no search table

// Pointer encodings, LSB 5 table 8-1: how a value is stored, and what it is relative to.
constexpr std::uint8_t kFormat = 0x0f;
constexpr std::uint8_t kRelation = 0x70;

// A value stored in one of the formats; nullopt for a format that there is not.
std::optional<std::uint64_t> read_encoded(ByteCursor& cursor, std::uint8_t encoding) {
  const auto extend = [](auto value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  };
  switch (encoding & kFormat) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return cursor.number<std::uint64_t>();
    case DW_EH_PE_uleb128:
      return cursor.uleb();
    case DW_EH_PE_udata2:
      return cursor.number<std::uint16_t>();
    case DW_EH_PE_udata4:
      return cursor.number<std::uint32_t>();
    case DW_EH_PE_sleb128:
      return extend(cursor.sleb());
    case DW_EH_PE_sdata2:
      return extend(cursor.number<std::int16_t>());
    case DW_EH_PE_sdata4:
      return extend(cursor.number<std::int32_t>());
    default:
      return std::nullopt;
  }
}

// A pointer in the table or in a description, as an address in the process. `field` is where the
// cursor's bytes start.
std::optional<Address> read_pointer(ByteCursor& cursor, std::uint8_t encoding, Address field,
                                    Address data_base, const ModuleImage& image) {
  if ((encoding & DW_EH_PE_indirect) != 0) return std::nullopt;
  const Address at = field + cursor.position();
  const auto value = read_encoded(cursor, encoding);
  if (!value || !cursor.good()) return std::nullopt;
  switch (encoding & kRelation) {
    case DW_EH_PE_absptr:
      return image.resolve(*value);
    case DW_EH_PE_pcrel:
      return at + *value;
    case DW_EH_PE_datarel:
      return data_base + *value;
    default:
      return std::nullopt;
  }
}

tl::unexpected<Error> damaged(Address at) {
  return fail(fmt::format("the call frame information at {:#x} is damaged", at), at);
}

}  // namespace

// A CIE or FDE as stored, without its length.
struct CallFrames::Entry {
  // What functions compiled alike share (CIE).
  struct Common {
    std::uint8_t pointers = DW_EH_PE_absptr;  // how the FDE stores addresses
    bool augmented = false;                   // the FDE has augmentation data
    bool signal_frame = false;
    FrameFactors factors;
    std::size_t return_register = 0;
    std::span<const std::byte> program;
  };

  static std::optional<Common> common(std::span<const std::byte> bytes);
};

std::optional<CallFrames::Entry::Common> CallFrames::Entry::common(
    std::span<const std::byte> bytes) {
  Common result;
  ByteCursor cursor(bytes);
  if (cursor.number<std::uint32_t>() != 0) return std::nullopt;  // CIE id of .eh_frame
  const std::uint8_t version = cursor.u8();
  if (version != 1 && version != 3) return std::nullopt;
  const std::string_view augmentation = cursor.c_string();
  result.factors.code = cursor.uleb();
  result.factors.data = cursor.sleb();
  result.return_register = version == 1 ? cursor.u8() : cursor.uleb();
  if (!augmentation.empty()) {
    if (augmentation[0] != 'z') return std::nullopt;
    result.augmented = true;
    ByteCursor data(cursor.take(cursor.uleb()));
    for (const char letter : augmentation.substr(1)) {
      switch (letter) {
        case 'L':
          data.skip(1);
          break;
        case 'P': {
          const std::uint8_t encoding = data.u8();
          if (!read_encoded(data, encoding)) return std::nullopt;
          break;
        }
        case 'R':
          result.pointers = data.u8();
          break;
        case 'S':
          result.signal_frame = true;
          break;
        default:
          return std::nullopt;  // unknown: what follows cannot be trusted
      }
    }
    if (!data.good()) return std::nullopt;
  }
  if (!cursor.good() || result.return_register >= FrameRow::kRegisters) return std::nullopt;
  result.program = cursor.rest();
  return result;
}

Result<std::optional<FrameRow>> CallFrames::row_at(Address pc) const {
  auto found = header();
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  auto entry = (*found)->table != 0 ? search(**found, pc) : scan((*found)->frames, pc);
  if (!entry) return tl::unexpected(entry.error());
  if (!*entry) return std::nullopt;
  auto row = describe(**entry);
  if (!row) return tl::unexpected(row.error());
  if (pc < row->function_start() || pc >= row->function_end()) return std::nullopt;
  if (auto done = FrameProgram::run(*row, pc); !done) return tl::unexpected(done.error());
  return std::optional<FrameRow>(std::move(*row));
}

Result<std::optional<CallFrames::Header>> CallFrames::header() const {
  const ElfSegment* segment = image_->segment(PT_GNU_EH_FRAME);
  if (segment == nullptr) return std::nullopt;
  Header result;
  result.base = image_->address_of(segment->address);
  std::array<std::byte, 32> bytes{};
  const std::uint64_t size = std::min<std::uint64_t>(segment->memory_size, bytes.size());
  if (auto done = image_->read(result.base, std::span(bytes).first(size)); !done) {
    return tl::unexpected(done.error());
  }
  ByteCursor cursor(std::span<const std::byte>(bytes).first(size));
  const std::uint8_t version = cursor.u8();
  const std::uint8_t frames_encoding = cursor.u8();
  const std::uint8_t count_encoding = cursor.u8();
  const std::uint8_t table_encoding = cursor.u8();
  const auto frames = read_pointer(cursor, frames_encoding, result.base, result.base, *image_);
  if (version != 1 || !frames || !image_->contains(*frames)) return damaged(result.base);
  result.frames = *frames;
  // Linkers write no other table than pairs of 32 bits, relative to the header.
  if (table_encoding == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && count_encoding != DW_EH_PE_omit) {
    const auto count = read_encoded(cursor, count_encoding);
    if (!count || !cursor.good()) return damaged(result.base);
    result.count = std::min(*count, (segment->memory_size - cursor.position()) / 8);
    result.table = result.base + cursor.position();
  }
  return result;
}

// The last entry that starts at or before `pc`: halved until it fits one read.
Result<std::optional<Address>> CallFrames::search(const Header& header, Address pc) const {
  using Pair = std::array<std::int32_t, 2>;  // start of the function, its description
  constexpr std::uint64_t kOneRead = 128;
  const auto start_of = [&](const Pair& pair) {
    return header.base + static_cast<Address>(std::int64_t{pair[0]});
  };
  std::uint64_t low = 0;
  std::uint64_t high = header.count;
  while (high - low > kOneRead) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto pair = image_->read_value<Pair>(header.table + middle * sizeof(Pair));
    if (!pair) return tl::unexpected(pair.error());
    (start_of(*pair) <= pc ? low : high) = middle;
  }
  std::vector<Pair> pairs(high - low);
  if (auto done =
          image_->read(header.table + low * sizeof(Pair), std::as_writable_bytes(std::span(pairs)));
      !done) {
    return tl::unexpected(done.error());
  }
  const auto after = std::ranges::upper_bound(pairs, pc, {}, start_of);
  if (after == pairs.begin()) return std::nullopt;
  return header.base + static_cast<Address>(std::int64_t{(*std::prev(after))[1]});
}

Result<std::optional<Address>> CallFrames::scan(Address frames, Address pc) const {
  const auto end = image_->segment_end(frames);
  Address at = frames;
  for (std::size_t scanned = 0; end && at + 8 <= *end && scanned < kMostScanned; ++scanned) {
    auto head = image_->read_value<std::array<std::uint32_t, 2>>(at);
    if (!head) return tl::unexpected(head.error());
    const auto [length, id] = *head;
    if (length == 0) return std::nullopt;
    if (length > kLargestEntry) return damaged(at);
    if (id != 0) {
      auto row = describe(at);
      if (!row) return tl::unexpected(row.error());
      if (row->function_start() <= pc && pc < row->function_end()) return at;
    }
    at += 4 + std::uint64_t{length};
  }
  return std::nullopt;
}

Result<std::vector<std::byte>> CallFrames::entry_bytes(Address at) const {
  auto length = image_->read_value<std::uint32_t>(at);
  if (!length) return tl::unexpected(length.error());
  if (*length < 4 || *length > kLargestEntry) return damaged(at);
  std::vector<std::byte> bytes(*length);
  if (auto done = image_->read(at + 4, bytes); !done) return tl::unexpected(done.error());
  return bytes;
}

Result<FrameRow> CallFrames::describe(Address at) const {
  FrameRow row;
  auto special = entry_bytes(at);
  if (!special) return tl::unexpected(special.error());
  row.special_ = std::move(*special);
  ByteCursor cursor(row.special_);
  // The distance back to the CIE, from the field itself.
  const Address common_at = at + 4 - cursor.number<std::uint32_t>();
  auto common_bytes = entry_bytes(common_at);
  if (!common_bytes) return tl::unexpected(common_bytes.error());
  row.common_ = std::move(*common_bytes);
  const auto common = Entry::common(row.common_);
  if (!common) return damaged(common_at);

  const auto start = read_pointer(cursor, common->pointers, at + 4, 0, *image_);
  const auto length = read_encoded(cursor, common->pointers & kFormat);
  if (common->augmented) cursor.skip(cursor.uleb());
  if (!start || !length || !cursor.good()) return damaged(at);
  row.start_ = *start;
  row.end_ = *start + *length;
  row.is_signal_frame_ = common->signal_frame;
  row.return_register_ = common->return_register;
  row.factors_ = common->factors;
  row.common_program_ = common->program;
  row.special_program_ = cursor.rest();
  return row;
}

}  // namespace aotidbg
