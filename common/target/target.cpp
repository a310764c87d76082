// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/target.h"

#include <algorithm>
#include <csignal>

namespace aotidbg {

namespace {

// The last element that starts at or below `at`, when it contains it.
template <class Range>
auto* find_containing(const Range& sorted, Address at) {
  auto after = std::upper_bound(sorted.begin(), sorted.end(), at,
                                [](Address value, const auto& item) { return value < item.start; });
  using Item = std::remove_reference_t<decltype(*after)>;
  if (after == sorted.begin()) return static_cast<Item*>(nullptr);
  Item& item = *std::prev(after);
  return item.contains(at) ? &item : nullptr;
}

}  // namespace

bool is_fault_signal(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
         number == SIGTRAP;
}

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));  // npos + 1 is 0: the whole of it
}

std::string Module::name() const { return file_name(path); }

const Region* Target::region_at(Address at) const { return find_containing(regions(), at); }

// A file that is mapped twice can lie inside the hull of its other mapping, so the last start below
// `at` need not be the owner: walk back over the few modules that start before it.
const Module* Target::module_at(Address at) const {
  const std::span<const Module> all = modules();
  auto after = std::upper_bound(all.begin(), all.end(), at, [](Address value, const Module& item) {
    return value < item.start;
  });
  while (after != all.begin()) {
    --after;
    if (after->contains(at)) return &*after;
  }
  return nullptr;
}

const Thread* Target::thread(ThreadId id) const {
  for (const Thread& thread : threads()) {
    if (thread.id == id) return &thread;
  }
  return nullptr;
}

}  // namespace aotidbg
