// SPDX-License-Identifier: BSD-3-Clause
//
// aotidbg_fuzz: damages cores of a crashed model and asks everything of them. Ends with 0 when
// every mutant was examined within its limits and every answer kept its rules. The first fatal one
// (a sanitizer's report, a hang, too much memory) ends it with ASan's own status.
//
//   aotidbg_fuzz --count 2000 --seed 1 --keep worst     the worst twenty are written there
//   aotidbg_fuzz --seed 1 --only 1234 --keep one        one mutant again
//   aotidbg_fuzz --count 100000 --damage headers        headers and notes alone
//   aotidbg_fuzz --count 1 --commit hang                shows that a fault is noticed; also hoard,
//   overrun
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/base_images.h"
#include "tests/fuzz/examination.h"
#include "tests/fuzz/limits.h"
#include "tests/fuzz/mutator.h"
#include "tests/support/core_builder.h"

namespace aotidbg {
namespace {

constexpr std::size_t kWorst = 20;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t count = 2000;
  std::uint64_t first = 0;
  std::string commit;  // a fault that the first mutant is made to be guilty of
  Damage damage = Damage::anywhere;
  std::string keep;  // empty: nothing is written but a fatal mutant, into the current folder
};

// "--count 10": true when `text` is a number.
bool parse_number(std::string_view text, std::uint64_t& value) {
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
  return done.ec == std::errc() && done.ptr == text.data() + text.size() && !text.empty();
}

std::optional<Arguments> parse(std::span<char*> words) {
  Arguments arguments;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string_view name = words[i];
    const std::string_view value = words[i + 1];
    bool fine = false;
    if (name == "--seed") fine = parse_number(value, arguments.seed);
    if (name == "--count") fine = parse_number(value, arguments.count);
    if (name == "--first") fine = parse_number(value, arguments.first);
    if (name == "--only") {
      fine = parse_number(value, arguments.first);
      arguments.count = 1;
    }
    if (name == "--commit") {
      arguments.commit = value;
      fine = value == "hang" || value == "hoard" || value == "overrun";
    }
    if (name == "--damage") {
      if (value == "headers") arguments.damage = Damage::headers;
      fine = value == "headers" || value == "anywhere";
    }
    if (name == "--keep") {
      arguments.keep = value;
      fine = !value.empty();
    }
    if (!fine) return std::nullopt;
  }
  if (words.size() % 2 != 0) return std::nullopt;
  return arguments;
}

// What the analysis must never do, to show that it would not go unnoticed.
void commit_fault(std::string_view fault) {
  if (fault == "hang") {
    for (volatile bool more = true; more;) continue;
  }
  if (fault == "hoard") {
    std::vector<std::vector<std::byte>> hoard;
    for (;;) hoard.emplace_back(std::size_t{1} << 20);
  }
  if (fault == "overrun") {
    const std::vector<std::byte> few(8);
    const volatile std::byte* const data = few.data();
    fmt::print("{}\n", std::to_integer<int>(data[few.size()]));
  }
}

// A file in memory, opened by its path as any core is.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("aotidbg-fuzz", MFD_CLOEXEC)) {
    path_ = fmt::format("/proc/self/fd/{}", descriptor_);
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }
  bool write(std::span<const std::byte> bytes) const {
    return ::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                        0) == static_cast<ssize_t>(bytes.size());
  }

 private:
  int descriptor_;
  std::string path_;
};

struct Mutant {
  std::uint64_t number = 0;
  Cost cost;
};

class Fuzzer {
 public:
  explicit Fuzzer(Arguments arguments) : arguments_(std::move(arguments)), images_(base_images()) {
    for (const BaseImage& image : images_) mutators_.emplace_back(image.bytes, arguments_.damage);
  }

  // What the images are made for has to be found in them, or the damage would meet nothing.
  bool images_are_understood() const {
    bool fine = true;
    for (const BaseImage& image : images_) {
      Random random(0);
      if (!file_.write(image.bytes)) return false;
      if (!arguments_.keep.empty()) {
        write_file(fmt::format("{}/base-{}.core", arguments_.keep, image.name), image.bytes);
      }
      begin_mutant(image.name, image.bytes);
      const auto examined = examine_core(file_.path(), image.tensors, random, Depth::everything);
      const Cost cost = end_mutant();
      const bool good = examined && examined->verdict == image.verdict &&
                        examined->models == image.models && examined->frames == image.frames;
      if (examined) {
        fmt::print(
            "{:<16} {:>5} bytes, {}: {} models, {} constants, {} frames, {:.0f} ms, {} KiB\n",
            image.name, image.bytes.size(), examined->verdict, examined->models,
            examined->constants, examined->frames, cost.seconds * 1e3, cost.memory >> 10);
      }
      if (good) continue;
      fine = false;
      fmt::print("  should be {}: {} models, {} frames{}\n", image.verdict, image.models,
                 image.frames, examined ? "" : "; " + examined.error().what);
    }
    std::fflush(stdout);
    return fine;
  }

  bool run() {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < arguments_.count; ++i) {
      if (!try_mutant(arguments_.first + i)) return false;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    summarise(spent.count());
    return keep_worst() && faults_ == 0;
  }

 private:
  Depth depth() const {
    return arguments_.damage == Damage::headers ? Depth::target : Depth::everything;
  }
  std::size_t image_of(std::uint64_t number) const { return number % images_.size(); }

  // Every mutant has a generator of its own, so that any of them can be had alone.
  std::vector<std::byte> mutant(std::uint64_t number, Random& random) const {
    std::seed_seq seed{static_cast<std::uint32_t>(arguments_.seed),
                       static_cast<std::uint32_t>(arguments_.seed >> 32),
                       static_cast<std::uint32_t>(number),
                       static_cast<std::uint32_t>(number >> 32)};
    random.seed(seed);
    return mutators_[image_of(number)].mutate(random);
  }

  std::string name_of(std::uint64_t number) const {
    return fmt::format("--seed {} --only {}{} ({})", arguments_.seed, number,
                       arguments_.damage == Damage::headers ? " --damage headers" : "",
                       images_[image_of(number)].name);
  }

  bool try_mutant(std::uint64_t number) {
    Random random;
    const auto bytes = mutant(number, random);
    if (!file_.write(bytes)) {
      fmt::print(stderr, "cannot write {}\n", file_.path());
      return false;
    }
    begin_mutant(name_of(number), bytes);
    commit_fault(arguments_.commit);
    const auto examined =
        examine_core(file_.path(), images_[image_of(number)].tensors, random, depth());
    const Cost cost = end_mutant();
    if (!examined) {
      ++faults_;
      fmt::print("FAULT {}: {}\n", name_of(number), examined.error().what);
      if (!arguments_.keep.empty()) {
        write_file(fmt::format("{}/fault-{}.core", arguments_.keep, number), bytes);
      }
    } else {
      count(*examined);
    }
    mutants_.push_back({number, cost});
    return true;
  }

  void count(const Examined& examined) {
    ++verdicts_[examined.opened ? examined.verdict : "(refused)"];
    with_model_ += examined.models != 0 ? 1 : 0;
    with_values_ += examined.constants != 0 ? 1 : 0;
    with_owner_ += examined.has_owner ? 1 : 0;
  }

  void summarise(double seconds) {
    if (mutants_.empty()) return;
    fmt::print("{} mutants of seed {} in {:.1f} s: {} faults\n", mutants_.size(), arguments_.seed,
               seconds, faults_);
    fmt::print("a model was found in {}, values were read in {}, the fault had an owner in {}\n",
               with_model_, with_values_, with_owner_);
    for (const auto& [verdict, number] : verdicts_) fmt::print("  {:<20} {}\n", verdict, number);
    const auto by = [this](auto value) {
      return *std::max_element(
          mutants_.begin(), mutants_.end(),
          [&](const Mutant& a, const Mutant& b) { return value(a) < value(b); });
    };
    const Mutant slowest = by([](const Mutant& m) { return m.cost.seconds; });
    const Mutant largest = by([](const Mutant& m) { return static_cast<double>(m.cost.memory); });
    fmt::print("slowest: {:.0f} ms of processor time, {}\n", slowest.cost.seconds * 1e3,
               name_of(slowest.number));
    fmt::print("largest: {:.1f} MiB, {}\n", static_cast<double>(largest.cost.memory) / (1 << 20),
               name_of(largest.number));
  }

  // Ten that took longest, and the ten others that took most memory.
  bool keep_worst() {
    if (arguments_.keep.empty()) return true;
    const auto order = [this](auto before, std::size_t skipped) {
      const auto first = mutants_.begin() + static_cast<std::ptrdiff_t>(skipped);
      const std::size_t wanted = std::min(kWorst / 2, mutants_.size() - skipped);
      std::partial_sort(first, first + static_cast<std::ptrdiff_t>(wanted), mutants_.end(), before);
      return skipped + wanted;
    };
    const std::size_t slow =
        order([](const Mutant& a, const Mutant& b) { return a.cost.seconds > b.cost.seconds; }, 0);
    const std::size_t worst =
        order([](const Mutant& a, const Mutant& b) { return a.cost.memory > b.cost.memory; }, slow);
    for (std::size_t i = 0; i < worst; ++i) {
      const Mutant& bad = mutants_[i];
      Random random;
      const std::string path = fmt::format("{}/worst-{:02}.core", arguments_.keep, i + 1);
      write_file(path, mutant(bad.number, random));
      fmt::print("{}: {:.0f} ms, {:.1f} MiB, {}\n", path, bad.cost.seconds * 1e3,
                 static_cast<double>(bad.cost.memory) / (1 << 20), name_of(bad.number));
    }
    return true;
  }

  Arguments arguments_;
  std::vector<BaseImage> images_;
  std::vector<Mutator> mutators_;  // of the images
  MemoryFile file_;
  std::vector<Mutant> mutants_;
  std::map<std::string, std::size_t> verdicts_;
  std::size_t faults_ = 0, with_model_ = 0, with_values_ = 0, with_owner_ = 0;
};

int run(std::span<char*> words) {
  const auto arguments = parse(words);
  if (!arguments) {
    fmt::print(stderr,
               "usage: aotidbg_fuzz [--count N] [--seed N] [--first N] [--only N] "
               "[--damage anywhere|headers] "
               "[--keep FOLDER] [--commit hang|hoard|overrun]\n");
    return 2;
  }
  if (!arguments->keep.empty()) std::filesystem::create_directories(arguments->keep);
  guard_process(arguments->keep.empty() ? "." : arguments->keep);
  Fuzzer fuzzer(*arguments);
  if (!fuzzer.images_are_understood()) return 1;
  return fuzzer.run() ? 0 : 1;
}

}  // namespace
}  // namespace aotidbg

int main(int argc, char** argv) { return aotidbg::run({argv + 1, argv + argc}); }
