// SPDX-License-Identifier: BSD-3-Clause
//
// A Target made in memory by a test: regions with bytes, modules, threads, a signal. It answers as
// a core does: ranges without bytes are errors that name them.
//
//   FakeTarget target;
//   target.map(0x1000, 0x2000, "rw-", "[heap]");
//   target.poke(0x1008, std::uint64_t{42});
//   target.add_thread(7, {{16, 0x401000}});
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/target/target.h"

namespace aotidbg {

class FakeTarget : public Target {
 public:
  // A region of `size` zero bytes that can be read and poked. `permissions` as in /proc/PID/maps:
  // "r-x". Regions may be added in any order and must not overlap. Answers with the region, whose
  // fields a test may change; the reference is good until the next region is added.
  Region& map(Address start, std::uint64_t size, std::string_view permissions = "rw-",
              std::string path = {}, std::uint64_t file_offset = 0);

  // The same, holding `bytes`.
  Region& map_bytes(Address start, std::span<const std::byte> bytes,
                    std::string_view permissions = "rw-", std::string path = {});

  // A region that is mapped and whose bytes the target does not have: every read is an error.
  Region& map_missing(Address start, std::uint64_t size, std::string_view permissions = "rw-",
                      std::string path = {});

  // Changes bytes that are mapped; a test that pokes elsewhere is wrong and aborts.
  void poke_bytes(Address at, std::span<const std::byte> bytes);
  template <class T>
  void poke(Address at, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    poke_bytes(at, std::as_bytes(std::span(&value, 1)));
  }
  void poke_string(Address at, std::string_view text);  // with its NUL

  // Makes [at, at + size) unreadable inside a region that is mapped: a page that was not dumped.
  void forget(Address at, std::uint64_t size);

  Module& add_module(Module module);  // keeps them sorted; reference as with map()
  Thread& add_thread(ThreadId id,
                     std::initializer_list<std::pair<std::size_t, std::uint64_t>> registers = {});
  // Marks the thread as the one that was stopped by a signal.
  void stop(ThreadId id, int signal, int code = 0, std::optional<Address> address = std::nullopt);
  // As a core without NT_SIGINFO: which signal, and nothing more.
  void forget_signal_code(ThreadId id) {
    for (Thread& thread : threads_) {
      if (thread.id == id && thread.signal) thread.signal->code.reset();
    }
  }
  void add_gap(Error gap) { gaps_.push_back(std::move(gap)); }
  void interrupt_after(std::size_t questions) { questions_left_ = questions; }

  ProcessInfo& process_info() { return process_; }
  std::size_t reads() const { return reads_; }  // read() calls so far
  std::uint64_t bytes_read() const { return bytes_read_; }

  Result<void> read(Address at, std::span<std::byte> out) override;
  const ProcessInfo& process() const override { return process_; }
  std::span<const Region> regions() const override { return regions_; }
  std::span<const Module> modules() const override { return modules_; }
  std::span<const Thread> threads() const override { return threads_; }
  std::optional<ThreadId> stopped_thread() const override { return stopped_; }
  std::span<const Error> gaps() const override { return gaps_; }
  bool interrupted() override;

 private:
  struct Block {
    std::vector<std::byte> bytes;
    std::vector<bool> known;
  };
  std::pair<const Address, Block>* block_at(Address at);

  ProcessInfo process_;
  std::vector<Region> regions_;
  std::map<Address, Block> blocks_;
  std::vector<Module> modules_;
  std::vector<Thread> threads_;
  std::optional<ThreadId> stopped_;
  std::vector<Error> gaps_;
  std::optional<std::size_t> questions_left_;
  std::size_t reads_ = 0;
  std::uint64_t bytes_read_ = 0;
};

// Bytes of trivially copyable values, one after the other, for images built by hand.
template <class... T>
std::vector<std::byte> bytes_of(const T&... values) {
  std::vector<std::byte> bytes;
  const auto append = [&bytes](const auto& value) {
    static_assert(std::is_trivially_copyable_v<std::remove_cvref_t<decltype(value)>>);
    const auto view = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), view.begin(), view.end());
  };
  (append(values), ...);
  return bytes;
}

}  // namespace aotidbg
