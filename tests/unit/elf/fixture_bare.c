// SPDX-License-Identifier: BSD-3-Clause
// Functions that no call frame information describes: one chains %rbp, one has no frame pointer.
#define EXPORT __attribute__((visibility("default"), noinline))

volatile int bare_sink;

__attribute__((optimize("no-omit-frame-pointer"))) EXPORT void bare_with_frame(void (*callback)(void)) {
  volatile int room[8] = {0};
  callback();
  bare_sink = room[1];
}

__attribute__((optimize("omit-frame-pointer"))) EXPORT void bare_without_frame(void (*callback)(void)) {
  volatile int room[8] = {0};
  callback();
  bare_sink = room[1];
}
