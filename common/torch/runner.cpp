// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/runner.h"

#include <algorithm>

#include "common/torch/object.h"

namespace aotidbg {
namespace {

constexpr std::string_view kRunner = "torch::inductor::AOTIModelContainerRunner";

// 256 KiB stay in the second-level cache while they are searched.
constexpr std::uint64_t kChunk = 256U << 10;

// Appends the addresses of words in `chunk` that equal a needle. Needles are vtables of one or two
// libraries, so a range test rules out almost every word.
void search(std::span<const std::uint64_t> words, Address at, std::span<const Address> needles,
            Address lowest, Address span, std::vector<Address>& hits) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] - lowest > span) continue;
    if (std::find(needles.begin(), needles.end(), words[i]) != needles.end()) {
      hits.push_back(at + i * sizeof(std::uint64_t));
    }
  }
}

bool is_scanned(const Region& region) { return region.readable && region.writable; }

}  // namespace

Result<Runner> read_runner(Memory& memory, const Libtorch& libtorch, Address at) {
  if (libtorch.layout == nullptr) return fail("no layout table can be used for runners", at);
  const ObjectReader objects(memory, *libtorch.layout);
  const auto object = objects.read(kRunner, at);
  if (!object) return tl::unexpected(object.error());
  const auto run = object->number("run_func_");
  const auto container = object->number("container_handle_");
  if (!run || !container) return fail("this layout table cannot read a runner", at);
  return Runner{at, *run, *container};
}

ScanResult scan_for_words(
    Target& target, std::span<const Address> needles, std::uint64_t budget_bytes,
    const std::function<void(std::uint64_t done, std::uint64_t of)>& progress) {
  ScanResult result;
  if (needles.empty()) return result;
  const auto [lowest, highest] = std::minmax_element(needles.begin(), needles.end());
  std::uint64_t total = 0;
  for (const Region& region : target.regions()) {
    if (is_scanned(region)) total += region.dumped;
  }
  std::vector<std::uint64_t> buffer(kChunk / sizeof(std::uint64_t));
  for (const Region& region : target.regions()) {
    if (!is_scanned(region)) continue;
    const Address end = region.start + std::min(region.dumped, region.size());
    result.missing += region.end - end;
    // By what is left: behind the highest addresses comes 0.
    for (Address at = region.start, next = at; at < end; at = next) {
      next = at + std::min(kChunk, end - at);
      if (result.bytes >= budget_bytes || target.interrupted()) {
        result.complete = false;
        return result;
      }
      const auto words = std::span(buffer).first((next - at) / sizeof(buffer[0]));
      if (target.read(at, std::as_writable_bytes(words))) {
        search(words, at, needles, *lowest, *highest - *lowest, result.hits);
        result.bytes += words.size_bytes();
      } else {
        result.missing += words.size_bytes();
      }
      if (progress) progress(result.bytes, total);
    }
  }
  return result;
}

}  // namespace aotidbg
