// SPDX-License-Identifier: BSD-3-Clause
//
// Classes and enumerations as a compiler describes them in DWARF 5, read from a linked ELF file (a
// shared object: its debug information needs no relocation).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/target/result.h"

namespace aotidbg::layoutgen {

struct MemberInfo {
  std::string name;
  std::string type;   // readable: defaulted template arguments left out
  std::string owner;  // name of the class that declares it, template arguments included
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t bit_offset = 0;  // from the least significant bit of the byte at `offset`
  std::uint64_t bit_width = 0;   // 0: not a bit field

  bool operator==(const MemberInfo&) const = default;
};

struct ClassInfo {
  std::uint64_t size = 0;
  std::string header;  // as the compiler names the file
  std::vector<MemberInfo> members;

  bool operator==(const ClassInfo&) const = default;
};

struct EnumInfo {
  std::string header;
  std::vector<std::pair<std::string, std::int64_t>> values;  // in declared order

  bool operator==(const EnumInfo&) const = default;
};

class DebugInfo {
 public:
  static Result<DebugInfo> open(const std::string& path);

  // A complete class or enumeration by its qualified name, template arguments as the compiler
  // writes them; or "probe:NAME" for the type of LayoutProbe's member NAME (what it points to, if a
  // pointer).
  std::optional<Dwarf_Die> find(const std::string& name) const;

  // Members in the class itself, in its bases and in anonymous unions; none of them taken apart.
  ClassInfo members(Dwarf_Die die) const;

  // As members, and after each member that is a class, what is in it, down to scalars. Names
  // repeat.
  ClassInfo nested_members(Dwarf_Die die) const;

  EnumInfo enumerators(Dwarf_Die die) const;

 private:
  struct Closer {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };
  struct FileCloser {
    int fd = -1;
    explicit FileCloser(int descriptor) : fd(descriptor) {}
    FileCloser(FileCloser&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
    FileCloser& operator=(FileCloser&& other) noexcept {
      std::swap(fd, other.fd);
      return *this;
    }
    ~FileCloser();
  };

  DebugInfo(FileCloser file, Dwarf* dwarf) : file_(std::move(file)), dwarf_(dwarf) {}
  void index(Dwarf_Die die, const std::string& scope);
  void collect(Dwarf_Die die, std::uint64_t base, bool nested, std::vector<MemberInfo>& out) const;
  void collect_member(Dwarf_Die member, const std::string& owner, std::uint64_t base, bool nested,
                      std::vector<MemberInfo>& out) const;
  std::string qualified_name(Dwarf_Die die) const;
  std::string type_name(Dwarf_Die die) const;

  FileCloser file_;
  std::unique_ptr<Dwarf, Closer> dwarf_;
  std::unordered_map<Dwarf_Off, std::string> names_;     // qualified, of every named type
  std::unordered_map<std::string, Dwarf_Die> complete_;  // classes and enumerations
  std::unordered_map<std::string, Dwarf_Die> probe_types_;
};

// "std::vector<int, std::allocator<int> >" is "std::vector<int>", "std::__cxx11::basic_string<...>"
// is "std::string": arguments that a header never spells are left out.
std::string readable_type(const std::string& name);

}  // namespace aotidbg::layoutgen
