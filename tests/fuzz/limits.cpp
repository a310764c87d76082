// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/limits.h"

#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

// sanitizer/allocator_interface.h, which GCC does not install.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                              void (*)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void*);
}

// One allocation of more than all that a mutant may have ends the run with the stack that asked for
// it. The runtime, a library of its own, has to see these.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "max_allocation_size_mb=256:quarantine_size_mb=16:handle_abort=1:malloc_context_size=20";
}
extern "C" __attribute__((visibility("default"))) const char* __ubsan_default_options() {
  return "print_stacktrace=1";
}

namespace aotidbg {
namespace {

// Everything that is needed after the heap may be broken.
struct LastWords {
  std::array<char, 256> name{};
  std::array<char, 512> path{};
  std::span<const std::byte> bytes;
  bool in_mutant = false;
};
LastWords last_words;
std::atomic<std::int64_t> allocated{0};  // since the mutant began, so it may fall below 0
std::atomic<std::int64_t> most_allocated{0};
double started = 0;

void say(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

template <std::size_t size>
void keep_text(std::array<char, size>& to, const std::string& text) {
  to.fill(0);
  std::memcpy(to.data(), text.data(), std::min(text.size(), size - 1));
}

void write_last_words() {
  if (!last_words.in_mutant) return;
  last_words.in_mutant = false;
  say("\nfatal mutant: ");
  say(last_words.name.data());
  const int file = ::open(last_words.path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const auto& bytes = last_words.bytes;
  if (file >= 0 && ::write(file, bytes.data(), bytes.size()) >= 0) {
    say("\nwritten to ");
    say(last_words.path.data());
  }
  say("\n");
}

// ASan catches abort() and prints the stack.
[[noreturn]] void give_up(std::string_view why) {
  say(why);
  write_last_words();
  std::abort();
}

void took_too_long(int) {
  std::signal(SIGPROF, SIG_IGN);
  give_up("\nthe mutant takes longer than it may\n");
}

void count_malloc(const volatile void*, std::size_t size) {
  const std::int64_t now = allocated += static_cast<std::int64_t>(size);
  if (now <= most_allocated) return;
  most_allocated = now;
  if (now < static_cast<std::int64_t>(kMostMemory) || !last_words.in_mutant) return;
  give_up("\nthe mutant allocates more than it may\n");
}

void count_free(const volatile void* at) {
  if (at == nullptr) return;
  allocated -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(at));
}

double processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void set_timer(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

void guard_process(const std::string& folder) {
  keep_text(last_words.path, folder + "/fatal.core");
  __sanitizer_set_death_callback(write_last_words);
  __sanitizer_install_malloc_and_free_hooks(count_malloc, count_free);
  std::signal(SIGPROF, took_too_long);
}

void begin_mutant(const std::string& name, std::span<const std::byte> bytes) {
  keep_text(last_words.name, name);
  last_words.bytes = bytes;
  allocated = 0;
  most_allocated = 0;
  last_words.in_mutant = true;
  started = processor_time();
  set_timer(kMostSeconds);
}

Cost end_mutant() {
  set_timer(0);
  last_words.in_mutant = false;
  return {processor_time() - started, static_cast<std::size_t>(most_allocated.load())};
}

}  // namespace aotidbg
