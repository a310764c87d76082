// SPDX-License-Identifier: BSD-3-Clause
#include "common/report/words.h"

#include <fmt/format.h>

#include <array>

#include "common/report/terminal_text.h"

namespace aotidbg {

std::string_view word(Confidence confidence) {
  switch (confidence) {
    case Confidence::certain:
      return "certain";
    case Confidence::likely:
      return "likely";
    case Confidence::possible:
      return "possible";
  }
  return "possible";
}

std::string_view word(Residency residency) {
  switch (residency) {
    case Residency::host:
      return "host";
    case Residency::device:
      return "device";
    case Residency::managed:
      return "managed";
    case Residency::pinned:
      return "pinned";
    case Residency::file:
      return "file";
    case Residency::unmapped:
      return "unmapped";
    case Residency::null:
      return "null";
    case Residency::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view word(How how) {
  switch (how) {
    case How::found:
      return "found";
    case How::assumed:
      return "assumed";
    case How::absent:
      return "absent";
  }
  return "absent";
}

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string list(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string bytes_text(std::uint64_t bytes) {
  std::string text = counted(bytes, "byte");
  constexpr std::array kUnits = {"MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < (1U << 20)) return text;
  double amount = static_cast<double>(bytes) / (1U << 20);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{} ({:.1f} {})", text, amount, kUnits[unit]);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string tensor_text(const TensorName& name) {
  std::string text = name.kind;
  const std::string& shown = name.fqn && !name.fqn->empty() ? *name.fqn : name.name;
  if (!text.empty() && !shown.empty()) text += ' ';
  text += shown;
  if (!name.name.empty() && name.name != shown) text += fmt::format(" ({})", name.name);
  return text;
}

std::string owner_text(const OwnerReport& owner) {
  std::string tensor = tensor_text(owner.tensor);
  if (!owner.candidates.empty()) {
    tensor = fmt::format("one of {} {}s ({})", owner.candidates.size(), owner.tensor.kind,
                         joined(owner.candidates));
  } else if (tensor.empty()) {
    tensor = "a tensor without a name";
  }
  std::string text;
  const std::string distance = owner.bytes ? bytes_text(*owner.bytes) + " " : std::string();
  if (owner.relation == "past_end") {
    text = owner.bytes == 0 ? fmt::format("the first byte past the end of {}", tensor)
                            : fmt::format("{}past the end of {}", distance, tensor);
  } else if (owner.relation == "before_start") {
    text = fmt::format("{}before the start of {}", distance, tensor);
  } else if (owner.relation == "null") {
    text = fmt::format("a null pointer stands where {} should be", tensor);
    if (owner.bytes && *owner.bytes != 0) text += fmt::format(", read at +{}", *owner.bytes);
  } else {
    text = fmt::format("inside {}", tensor);
    if (owner.bytes) text += fmt::format(", {} from its start", bytes_text(*owner.bytes));
  }
  if (owner.index) text += fmt::format(", element {}", list(*owner.index));
  return text;
}

std::string location_text(const SourceLocation& location) {
  return location.line > 0 ? fmt::format("{}:{}", location.file, location.line) : location.file;
}

std::string short_name(std::string_view file) {
  constexpr std::size_t kWidth = 32;
  return cut_middle(printable(file), kWidth);
}

std::string short_location_text(const SourceLocation& location) {
  return location_text({short_name(location.file), location.line});
}

std::string memory_text(Residency residency, const std::optional<std::string>& where) {
  if (!where || where->empty()) return std::string(word(residency));
  return fmt::format("{} ({})", word(residency), *where);
}

}  // namespace aotidbg
