// SPDX-License-Identifier: BSD-3-Clause
#include <elf.h>

#include "tests/support/core_builder.h"
#include "tests/support/model_image.h"

namespace aotidbg {
namespace {

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

Module& map_library(FakeTarget& target, const std::string& path, Address bias, std::uint64_t size,
                    const std::vector<std::pair<std::string, std::uint64_t>>& symbols) {
  constexpr std::uint64_t kTables = 0x4000;  // headers, symbols and strings; then code and data
  constexpr std::uint64_t kDynamic = 0x200;
  constexpr std::uint64_t kHash = 0x400;
  constexpr std::uint64_t kSymbols = 0x1000;
  constexpr std::uint64_t kStrings = 0x2000;
  target.map(bias, kTables, "r--", path);
  target.map(bias + kTables, kTables, "r-x", path, kTables);
  target.map(bias + 2 * kTables, size - 2 * kTables, "rw-", path, 2 * kTables);

  Elf64_Ehdr header = elf_header(ET_DYN);
  header.e_phnum = 2;
  target.poke(bias, header);
  Elf64_Phdr load{PT_LOAD, PF_R | PF_W | PF_X, 0, 0, 0, size, size, 0x1000};
  Elf64_Phdr dynamic{
      PT_DYNAMIC, PF_R, kDynamic, kDynamic, kDynamic, 6 * sizeof(Elf64_Dyn), 6 * sizeof(Elf64_Dyn),
      8};
  target.poke(bias + sizeof(header), load);
  target.poke(bias + sizeof(header) + sizeof(load), dynamic);

  std::string strings(1, '\0');
  std::vector<std::uint32_t> hash = {1, 1, 1, 0};  // one bucket, first symbol 1, one bloom word
  hash.insert(hash.end(), {0xffffffffU, 0xffffffffU});
  hash.push_back(symbols.empty() ? 0 : 1);  // the bucket's first symbol
  Address at = bias + kSymbols + sizeof(Elf64_Sym);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = symbols[i].second;
    symbol.st_size = 0x40;
    target.poke(at, symbol);
    at += sizeof(symbol);
    strings += symbols[i].first;
    strings += '\0';
    const bool last = i + 1 == symbols.size();
    hash.push_back((gnu_hash(symbols[i].first) & ~1U) | (last ? 1U : 0U));
  }
  target.poke_bytes(bias + kStrings, std::as_bytes(std::span(strings)));
  target.poke_bytes(bias + kHash, std::as_bytes(std::span(hash)));

  const std::pair<Elf64_Sxword, std::uint64_t> entries[] = {
      {DT_STRTAB, bias + kStrings}, {DT_SYMTAB, bias + kSymbols},   {DT_GNU_HASH, bias + kHash},
      {DT_STRSZ, strings.size()},   {DT_SYMENT, sizeof(Elf64_Sym)}, {DT_NULL, 0}};
  at = bias + kDynamic;
  for (const auto& [tag, value] : entries) {
    Elf64_Dyn entry{};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    target.poke(at, entry);
    at += sizeof(entry);
  }
  Module module;
  module.path = path;
  module.bias = bias;
  module.start = bias;
  module.end = bias + size;
  module.file_problem = "made by a test";
  return target.add_module(std::move(module));
}

LibtorchImage make_libtorch(FakeTarget& target, std::string_view version) {
  constexpr Address kCpu = 0x7e0000000000;
  constexpr Address kC10 = 0x7e0010000000;
  constexpr std::uint64_t kCode = 0x4000;
  constexpr std::uint64_t kData = 0x8000;
  constexpr std::uint64_t kAddressPoint = 16;
  map_library(target, "/opt/torch/lib/libtorch_cpu.so", kCpu, 0x10000,
              {{"aoti_torch_abi_version", kCode},
               {"_ZTVN5torch8inductor27AOTIModelContainerRunnerCpuE", kData}});
  map_library(target, "/opt/torch/lib/libc10.so", kC10, 0x10000,
              {{"_ZTVN3c1010TensorImplE", kData}, {"_ZTVN3c1011StorageImplE", kData + 0x100}});
  // movabs $(major<<56 | minor<<48 | patch<<40), %rax; ret
  std::uint64_t packed = 0;
  unsigned shift = 56;
  std::uint64_t number = 0;
  for (const char c : version) {
    if (c == '.') {
      packed |= number << shift;
      shift -= 8;
      number = 0;
    } else {
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
  }
  packed |= number << shift;
  target.poke(kCpu + kCode, std::uint16_t{0xb848});
  target.poke(kCpu + kCode + 2, packed);
  target.poke(kCpu + kCode + 10, std::uint8_t{0xc3});
  return {kC10 + kData + kAddressPoint, kC10 + kData + 0x100 + kAddressPoint,
          kCpu + kData + kAddressPoint};
}

}  // namespace aotidbg
