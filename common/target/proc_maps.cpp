// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/proc_maps.h"

#include <sys/sysmacros.h>

#include <charconv>
#include <system_error>

namespace aotidbg {

namespace {

// Takes a number and the character that must follow it off the front of `line`.
template <class T>
bool take(std::string_view& line, int base, char after, T& value) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, base);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (after == '\0') return true;
  if (line.empty() || line.front() != after) return false;
  line.remove_prefix(1);
  return true;
}

std::string unescape(std::string_view path) {
  constexpr std::string_view kNewline = "\\012";
  std::string text;
  while (true) {
    const std::size_t at = path.find(kNewline);
    text += path.substr(0, at);
    if (at == std::string_view::npos) return text;
    text += '\n';
    path.remove_prefix(at + kNewline.size());
  }
}

std::optional<ProcMapping> parse_line(std::string_view line) {
  ProcMapping mapping;
  Region& region = mapping.region;
  unsigned major_number = 0;
  unsigned minor_number = 0;
  if (!take(line, 16, '-', region.start) || !take(line, 16, ' ', region.end)) return std::nullopt;
  if (line.size() < 5 || line[4] != ' ' || region.end <= region.start) return std::nullopt;
  region.readable = line[0] == 'r';
  region.writable = line[1] == 'w';
  region.executable = line[2] == 'x';
  mapping.shared = line[3] == 's';
  line.remove_prefix(5);
  if (!take(line, 16, ' ', region.file_offset) || !take(line, 16, ':', major_number) ||
      !take(line, 16, ' ', minor_number) || !take(line, 10, '\0', mapping.inode)) {
    return std::nullopt;
  }
  mapping.device = makedev(major_number, minor_number);
  const std::size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) region.path = unescape(line.substr(path));
  region.dumped = region.readable ? region.size() : 0;
  return mapping;
}

}  // namespace

std::vector<ProcMapping> parse_maps(std::string_view text) {
  std::vector<ProcMapping> mappings;
  Address end = 0;
  while (true) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) break;
    auto mapping = parse_line(text.substr(0, newline));
    text.remove_prefix(newline + 1);
    if (!mapping || mapping->region.start < end) continue;
    end = mapping->region.end;
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

}  // namespace aotidbg
