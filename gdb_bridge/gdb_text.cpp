// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/gdb_text.h"

#include <algorithm>
#include <charconv>

namespace aotidbg {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

// "0x7f00", whole.
std::optional<std::uint64_t> hex_number(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  if (word.empty() || problem != std::errc() || end != word.data() + word.size()) {
    return std::nullopt;
  }
  return value;
}

bool is_permissions(std::string_view word) {
  return word.size() == 4 && word.find_first_not_of("rwxps-") == std::string_view::npos;
}

// A mapping; `lacks_permissions` tells a line that is one but for them.
std::optional<Region> mapping_in(std::string_view line, bool& lacks_permissions) {
  const auto start = hex_number(take_word(line));
  const auto end = hex_number(take_word(line));
  const auto size = hex_number(take_word(line));
  const auto offset = hex_number(take_word(line));
  if (!start || !end || !size || !offset || *start >= *end) return std::nullopt;
  const std::string_view permissions = take_word(line);
  if (!is_permissions(permissions)) {
    lacks_permissions = true;
    return std::nullopt;
  }
  Region region;
  region.start = *start;
  region.end = *end;
  region.readable = permissions[0] == 'r';
  region.writable = permissions[1] == 'w';
  region.executable = permissions[2] == 'x';
  region.file_offset = *offset;
  const std::size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) {
    region.path = line.substr(path, line.find_last_not_of(' ') + 1 - path);
  }
  region.dumped = region.readable ? region.size() : 0;
  return region;
}

}  // namespace

std::optional<std::string> core_in(std::string_view info_files) {
  const std::size_t section = info_files.find("Local core dump file:\n");
  if (section == std::string_view::npos) return std::nullopt;
  std::string_view rest = info_files.substr(section);
  take_line(rest);
  std::string_view line = take_line(rest);
  const std::size_t open = line.find_first_of("`'");
  const std::size_t close = line.rfind("', file type ");
  if (open == std::string_view::npos || close == std::string_view::npos || close <= open + 1) {
    return std::nullopt;
  }
  return std::string(line.substr(open + 1, close - open - 1));
}

std::string_view connection_in(std::string_view info_files) {
  while (!info_files.empty()) {
    const std::string_view line = take_line(info_files);
    if (line == "Local core dump file:") return "core";
    if (line == "Native process:") return "native";
    if (line.starts_with("Remote ") || line.starts_with("Extended remote ")) return "remote";
  }
  return {};
}

Result<std::vector<Region>> mappings_in(std::string_view info_proc) {
  std::vector<Region> regions;
  bool lacks_permissions = false;
  while (!info_proc.empty()) {
    auto region = mapping_in(take_line(info_proc), lacks_permissions);
    if (!region || (!regions.empty() && region->start < regions.back().end)) continue;
    regions.push_back(std::move(*region));
  }
  if (!regions.empty()) return regions;
  if (lacks_permissions) {
    return fail("this GDB lists mappings without their permissions", std::nullopt,
                "use GDB 12 or newer, or write a core with `generate-core-file` and open that");
  }
  return fail("the other side does not list the memory mappings of this process", std::nullopt,
              "write a core with `generate-core-file` and open that, or run GDB where the process "
              "runs");
}

std::optional<std::string> focus_command_in(std::string_view cuda_focus) {
  std::string command = "cuda";
  for (const std::string_view word : {"kernel ", "block (", "thread ("}) {
    const auto at = cuda_focus.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view value = cuda_focus.substr(at + word.size());
    const bool is_triple = word.ends_with('(');
    const std::string_view digits = is_triple ? "0123456789," : "0123456789";
    const std::string_view inside = value.substr(0, value.find_first_not_of(digits));
    if (inside.empty()) return std::nullopt;
    command += ' ';
    command += word;
    command += inside;
    if (is_triple) command += ')';
  }
  return command;
}

bool stopped_by_signal(std::string_view info_program) {
  return info_program.find("It stopped with signal ") != std::string_view::npos;
}

}  // namespace aotidbg
