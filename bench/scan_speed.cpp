// SPDX-License-Identifier: BSD-3-Clause
//
// How fast memory is searched for runners, beside memcpy over the same number of bytes. Quote the
// ratio of the two figures of one run.
//
// The same bytes are copied with memcpy, searched in this process as if it were another live one,
// and searched in a core file that holds them (in the page cache).
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "common/target/elf_core.h"
#include "common/target/live_process.h"
#include "common/torch/runner.h"
#include "tests/support/core_builder.h"

namespace aotidbg {
namespace {

constexpr std::size_t kBytes = 512U << 20;

std::vector<std::uint64_t>& searched() {
  static std::vector<std::uint64_t> words(kBytes / sizeof(std::uint64_t), 0x1234567890ULL);
  return words;
}

void copy_with_memcpy(benchmark::State& state) {
  auto& from = searched();
  std::vector<std::uint64_t> to(from.size());
  for ([[maybe_unused]] auto turn : state) {
    std::memcpy(to.data(), from.data(), kBytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kBytes));
}

void scan(benchmark::State& state, const Result<std::unique_ptr<Target>>& target) {
  if (!target) {
    state.SkipWithError(target.error().what.c_str());
    return;
  }
  const std::vector<Address> needles = {0x7f0000001010, 0x7f0000002020, 0x7f0000003030};
  std::uint64_t bytes = 0;
  for ([[maybe_unused]] auto turn : state) {
    bytes += scan_for_words(**target, needles, 1ULL << 40, {}).bytes;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void scan_live_process(benchmark::State& state) {
  searched();
  const auto target = open_live_process(getpid(), {}, {});
  scan(state, target);
}

void scan_core(benchmark::State& state) {
  const TempFolder folder;
  const std::string path = folder / "core";
  CoreBuilder()
      .process(7, "bench", "bench")
      .thread(7)
      .region(0x100000000, std::as_bytes(std::span(searched())))
      .write(path);
  const auto target = open_core(path, {});
  scan(state, target);
}

BENCHMARK(copy_with_memcpy)->Unit(benchmark::kMillisecond);
BENCHMARK(scan_live_process)->Unit(benchmark::kMillisecond);
BENCHMARK(scan_core)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace aotidbg

BENCHMARK_MAIN();
