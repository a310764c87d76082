// SPDX-License-Identifier: BSD-3-Clause
// Two inlined calls around a call of the test's own function. Lines are marked where a test
// expects them: it searches this file for the marks.
#define EXPORT __attribute__((visibility("default")))

namespace fixture {
namespace {

volatile int sink;

__attribute__((always_inline)) inline void innermost(void (*callback)()) {
  callback();  // mark: innermost
  sink = 1;
}

struct Middle {
  template <class T>
  __attribute__((always_inline)) static void call(void (*callback)(), T) {
    innermost(callback);  // mark: middle
    sink = 2;
  }
};

__attribute__((noinline)) void local_function(void (*callback)()) {
  callback();  // mark: local
  sink = 3;
}

}  // namespace

EXPORT __attribute__((noinline)) void run(void (*callback)(), int) {
  Middle::call(callback, 1);  // mark: outermost
  sink = 4;
}

EXPORT void run_local(void (*callback)()) {
  local_function(callback);
  sink = 5;
}

}  // namespace fixture

extern "C" EXPORT void fixture_run(void (*callback)()) {
  fixture::run(callback, 0);
  fixture::sink = 6;
}

extern "C" EXPORT void fixture_run_local(void (*callback)()) {
  fixture::run_local(callback);
  fixture::sink = 7;
}

extern "C" EXPORT int fixture_data[16] = {1};
