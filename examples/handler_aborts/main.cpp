// SPDX-License-Identifier: BSD-3-Clause
//
// The program has a SIGSEGV handler that prints a line and aborts, as many crash reporters do: the
// process dies of SIGABRT, and the fault is in the signal frame that the handler was called on.
//   stack      the handler runs on the faulting thread's own stack
//   altstack   it runs on an alternate stack, so the faulting frames lie elsewhere
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "common/example.h"

static void report(int, siginfo_t*, void*) {
  constexpr char kLine[] = "fatal: segmentation fault\n";
  if (write(STDERR_FILENO, kLine, sizeof(kLine) - 1) < 0) _exit(1);
  std::abort();
}

int main(int, char** argv) {
  static char alternate[256 * 1024];
  struct sigaction action = {};
  action.sa_sigaction = report;
  action.sa_flags = SA_SIGINFO;
  if (argv[2] == std::string("altstack")) {
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof(alternate);
    sigaltstack(&stack, nullptr);
    action.sa_flags |= SA_ONSTACK;
  }
  sigaction(SIGSEGV, &action, nullptr);

  Loader loader(argv[1]);
  at::Tensor x = at::ones({8, 64});
  at::Tensor idx = at::arange(8, at::kLong);
  idx.data_ptr<int64_t>()[3] = int64_t{1} << 33;
  return survived(loader.run({x, idx}));
}
