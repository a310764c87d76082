// SPDX-License-Identifier: BSD-3-Clause
#include "common/elf/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <numeric>

#include "common/elf/answers.h"
#include "common/elf/dynamic_table.h"
#include "common/elf/module_image.h"
#include "common/elf/symbol_source.h"

namespace aotidbg {
namespace {

constexpr std::size_t kMostMatches = 1U << 20;

Symbol named(const Module& module, const Elf64_Sym& symbol, std::string name) {
  return {std::move(name), module.bias + symbol.st_value, symbol.st_size};
}

// Of two symbols that could name an address, the greater rank does: one whose size covers it, the
// nearest start, functions, global names, the first in the table.
struct Rank {
  bool covers = false;
  Elf64_Addr start = 0;
  bool function = false;
  int binding = 0;
  auto operator<=>(const Rank&) const = default;
};

Rank rank(const Elf64_Sym& symbol, Address at) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  return {at - symbol.st_value < symbol.st_size, symbol.st_value,
          type == STT_FUNC || type == STT_GNU_IFUNC,
          binding == STB_GLOBAL ? 2 : (binding == STB_WEAK ? 1 : 0)};
}

// The best symbol so far for one address of the file. A function without a size (hand-written code)
// may name what follows it, up to the next symbol: it has to be the nearest of all.
class Candidate {
 public:
  explicit Candidate(Address at) : at_(at) {}
  Address at() const { return at_; }

  void consider(const Elf64_Sym& symbol) {
    nearest_start_ = std::max(nearest_start_, symbol.st_value);
    const Rank offered = rank(symbol, at_);
    if (!offered.covers && (symbol.st_size != 0 || !offered.function)) return;
    if (best_ && offered <= best_rank_) return;
    best_ = symbol;
    best_rank_ = offered;
  }

  // What starts before an address also starts before every later one.
  Elf64_Addr nearest_start() const { return nearest_start_; }
  void raise_nearest_start(Elf64_Addr start) { nearest_start_ = std::max(nearest_start_, start); }

  std::optional<Elf64_Sym> best() const {
    if (best_ && !best_rank_.covers && best_->st_value != nearest_start_) return std::nullopt;
    return best_;
  }

 private:
  Address at_;
  Elf64_Addr nearest_start_ = 0;
  std::optional<Elf64_Sym> best_;
  Rank best_rank_;
};

// Fills `candidates`, which are sorted by address.
void fill(const SymbolSource& source, std::vector<Candidate>& candidates) {
  source.each([&](const Elf64_Sym& symbol) {
    auto candidate = std::ranges::lower_bound(candidates, symbol.st_value, {}, &Candidate::at);
    // One with a size is done at the first address that it does not cover, whose neighbour it is.
    for (; candidate != candidates.end(); ++candidate) {
      candidate->consider(symbol);
      if (candidate->at() - symbol.st_value >= symbol.st_size && symbol.st_size != 0) break;
    }
    return true;
  });
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    candidates[i].raise_nearest_start(candidates[i - 1].nearest_start());
  }
}

// .symtab where the file has one, else the dynamic symbols. `image` keeps what memory sources need.
std::optional<SymbolSource> best_source(Memory& memory, const Module& module,
                                        std::optional<ModuleImage>& image) {
  if (auto file = SymbolSource::of_file(module)) return file;
  auto opened = ModuleImage::open(memory, module);
  if (!opened) return std::nullopt;
  image = std::move(*opened);
  auto dynamic = SymbolSource::of_memory(*image);
  if (!dynamic) return std::nullopt;
  return std::move(*dynamic);
}

Result<std::optional<Symbol>> look_up_dynamic(Memory& memory, const Module& module,
                                              std::string_view name) {
  auto image = ModuleImage::open(memory, module);
  if (!image) return tl::unexpected(image.error());
  auto table = DynamicTable::open(*image);
  if (!table) return tl::unexpected(table.error());
  auto found = table->find(name);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  return named(module, **found, std::string(name));
}

std::optional<Symbol> look_up_in_file(const Module& module, std::string_view name) {
  const auto source = SymbolSource::of_file(module);
  if (!source) return std::nullopt;
  const std::string with_nul = std::string(name) + '\0';
  const std::vector<std::uint32_t> offsets = source->offsets_of(with_nul, kMostMatches);
  std::optional<Symbol> found;
  if (offsets.empty()) return found;
  source->each([&](const Elf64_Sym& symbol) {
    if (!std::ranges::binary_search(offsets, symbol.st_name)) return true;
    found = named(module, symbol, std::string(name));
    return false;
  });
  return found;
}

std::vector<std::optional<Symbol>> search_at(Memory& memory, const Module& module,
                                             std::span<const Address> addresses) {
  std::vector<std::optional<Symbol>> found(addresses.size());
  std::optional<ModuleImage> image;
  const auto source = best_source(memory, module, image);
  if (!source) return found;

  std::vector<std::size_t> order(addresses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return addresses[i] - module.bias; });
  std::vector<Candidate> candidates;
  candidates.reserve(order.size());
  for (const std::size_t i : order) candidates.emplace_back(addresses[i] - module.bias);

  fill(*source, candidates);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto best = candidates[i].best();
    if (!best || !module.contains(addresses[order[i]])) continue;
    if (auto name = source->name(best->st_name)) {
      found[order[i]] = named(module, *best, std::move(*name));
    }
  }
  return found;
}

std::vector<Symbol> search_prefix(Memory& memory, const Module& module, std::string_view prefix) {
  std::vector<Symbol> found;
  std::optional<ModuleImage> image;
  const auto source = best_source(memory, module, image);
  if (!source) return found;
  const std::vector<std::uint32_t> offsets = source->offsets_of(prefix, kMostMatches);
  if (offsets.empty()) return found;
  source->each([&](const Elf64_Sym& symbol) {
    if (!std::ranges::binary_search(offsets, symbol.st_name)) return true;
    if (auto name = source->name(symbol.st_name)) {
      found.push_back(named(module, symbol, std::move(*name)));
    }
    return found.size() < kMostMatches;
  });
  return found;
}

std::string question(std::string_view what, std::string_view name, const Module& module) {
  return fmt::format("{} {} of {:x}", what, name, module.start);
}

}  // namespace

Result<std::optional<Symbol>> find_dynamic_symbol(Memory& memory, const Module& module,
                                                  std::string_view name) {
  return answered<Result<std::optional<Symbol>>>(
      memory, question("dynamic symbol", name, module),
      [&] { return look_up_dynamic(memory, module, name); });
}

std::optional<Symbol> find_file_symbol(Memory& memory, const Module& module,
                                       std::string_view name) {
  return answered<std::optional<Symbol>>(memory, question("symbol", name, module),
                                         [&] { return look_up_in_file(module, name); });
}

// Each address is a question of its own: those that were asked together then need not be now.
std::vector<std::optional<Symbol>> symbols_at(Memory& memory, const Module& module,
                                              std::span<const Address> addresses) {
  std::vector<std::optional<Symbol>> found(addresses.size());
  std::vector<std::optional<Symbol>> computed;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    found[i] =
        answered<std::optional<Symbol>>(memory, fmt::format("symbol at {:x}", addresses[i]), [&] {
          if (computed.empty()) computed = search_at(memory, module, addresses);
          return computed[i];
        });
  }
  return found;
}

std::vector<Symbol> symbols_with_prefix(Memory& memory, const Module& module,
                                        std::string_view prefix) {
  return answered<std::vector<Symbol>>(memory, question("symbols that begin with", prefix, module),
                                       [&] { return search_prefix(memory, module, prefix); });
}

}  // namespace aotidbg
