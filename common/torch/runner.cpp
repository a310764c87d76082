// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/target/answers.h"
#include "common/torch/object.h"

namespace aotidbg {

template <>
struct Codec<ScanResult> {
  static nlohmann::json write(const ScanResult& scan) {
    return nlohmann::json::array({scan.hits, scan.bytes, scan.missing, scan.complete});
  }
  static std::optional<ScanResult> read(const nlohmann::json& json) {
    AnswerList list(json, 4);
    ScanResult scan;
    scan.hits = list.next<std::vector<Address>>();
    scan.bytes = list.next<std::uint64_t>();
    scan.missing = list.next<std::uint64_t>();
    scan.complete = list.next<bool>();
    return list.good() ? std::optional(std::move(scan)) : std::nullopt;
  }
};

namespace {

constexpr std::string_view kRunner = "torch::inductor::AOTIModelContainerRunner";

// Large enough for reading in bulk, small enough to be searched before it leaves the second cache.
constexpr std::uint64_t kChunk = 256U << 10;

// Appends the addresses of words in `chunk` that equal a needle. Needles are vtables of one or two
// libraries, so a range test rules out almost every word.
void search(std::span<const std::uint64_t> words, Address at, std::span<const Address> needles,
            Address lowest, Address span, std::vector<Address>& hits) {
  constexpr std::size_t kBlock = 512;  // words; a loop without branches is vectorised
  for (std::size_t block = 0; block < words.size(); block += kBlock) {
    const auto part = words.subspan(block, std::min(kBlock, words.size() - block));
    std::uint64_t near = 0;
    for (const std::uint64_t word : part) near |= static_cast<std::uint64_t>(word - lowest <= span);
    if (near == 0) continue;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (std::find(needles.begin(), needles.end(), part[i]) == needles.end()) continue;
      hits.push_back(at + (block + i) * sizeof(std::uint64_t));
    }
  }
}

bool is_scanned(const Region& region) { return region.readable && region.writable; }

using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;

ScanResult scan(Target& target, std::span<const Address> needles, std::uint64_t budget_bytes,
                const Progress& progress) {
  ScanResult result;
  if (target.snapshot() != nullptr) {  // memory was not searched when it was saved
    result.complete = false;
    return result;
  }
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
    for (Address at = region.start; at < end;) {
      const Address data = target.next_data(at, end);
      at += (data - at) / sizeof(buffer[0]) * sizeof(buffer[0]);
      if (at >= end) break;
      const Address next = at + std::min(kChunk, end - at);
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
      at = next;
    }
  }
  return result;
}

}  // namespace

Result<Runner> read_runner(Memory& memory, const Libtorch& libtorch, Address at) {
  if (libtorch.layout == nullptr) return fail("no layout table can be used for runners", at);
  const ObjectReader objects(memory, *libtorch.layout);
  const auto object = tentatively(memory, [&] { return objects.read(kRunner, at); });
  if (!object) return tl::unexpected(object.error());
  const auto run = object->number("run_func_");
  const auto container = object->number("container_handle_");
  if (!run || !container) return fail("this layout table cannot read a runner", at);
  return Runner{at, *run, *container};
}

ScanResult scan_for_words(Target& target, std::span<const Address> needles,
                          std::uint64_t budget_bytes, const Progress& progress) {
  if (needles.empty()) return {};
  return answered<ScanResult>(target, fmt::format("words that are {:x}", fmt::join(needles, ", ")),
                              [&] { return scan(target, needles, budget_bytes, progress); });
}

}  // namespace aotidbg
