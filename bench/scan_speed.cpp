// SPDX-License-Identifier: BSD-3-Clause
//
// How fast memory is searched for runners, beside memcpy over the same number of bytes. Quote the
// ratio of the two figures of one run.
//
//   scan_speed          a buffer in this process, read through /proc/self/mem as a live process is
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "common/target/live_process.h"
#include "common/torch/runner.h"

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
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), kBytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kBytes));
}

void scan_live_process(benchmark::State& state) {
  searched();
  const auto target = open_live_process(getpid(), {}, {});
  if (!target) {
    state.SkipWithError(target.error().what.c_str());
    return;
  }
  const std::vector<Address> needles = {0x7f0000001010, 0x7f0000002020, 0x7f0000003030};
  std::uint64_t bytes = 0;
  for (auto _ : state) bytes += scan_for_words(**target, needles, 1ULL << 40, {}).bytes;
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

BENCHMARK(copy_with_memcpy)->Unit(benchmark::kMillisecond);
BENCHMARK(scan_live_process)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace aotidbg

BENCHMARK_MAIN();
