// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/base_images.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "common/arch/x86_64.h"
#include "common/torch/libtorch.h"
#include "tests/support/core_of_target.h"
#include "tests/support/model_image.h"

namespace aotidbg {
namespace {

constexpr Address kProgram = 0x555500000000;
constexpr Address kLibc = 0x7e0020000000;
constexpr Address kStack = 0x7ffc00000000;
constexpr std::uint64_t kStackSize = 0x1800;
constexpr Address kOtherStacks = 0x7ff000000000;
constexpr std::uint64_t kStackSpacing = 0x100000;

// As map_library lays an image out.
constexpr std::uint64_t kCode = 0x4000;
constexpr std::uint64_t kData = 0x8000;
constexpr std::uint64_t kDynamic = 0x200;
constexpr std::uint64_t kDynamicSize = 8 * sizeof(Elf64_Dyn);
constexpr std::uint64_t kFrameTable = 0x3000;  // a page that map_library leaves empty
constexpr std::uint64_t kFrames = 0x3080;

// From the start of a function to behind its call, which is where its callee returns to.
constexpr std::uint64_t kAfterCall = 0x15;
constexpr std::uint64_t kFunction = 0x40;
constexpr std::int64_t kWildRow = std::int64_t{1} << 33;

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

template <class... T>
void append_values(std::vector<std::byte>& to, const T&... values) {
  append(to, bytes_of(values...));
}

template <class T>
std::vector<std::byte> bytes_in(const std::vector<T>& values) {
  const auto view = std::as_bytes(std::span(values));
  return {view.begin(), view.end()};
}

// Segments as a linker makes them, so that the image counts as loaded, and those in `more`.
void write_program_headers(FakeTarget& target, Address bias, std::uint64_t size,
                           std::vector<Elf64_Phdr> more = {}) {
  const auto part = [](std::uint32_t type, std::uint32_t flags, std::uint64_t at,
                       std::uint64_t bytes) {
    return Elf64_Phdr{type, flags, at, at, at, bytes, bytes, 0x1000};
  };
  std::vector<Elf64_Phdr> headers = {part(PT_LOAD, PF_R, 0, kCode),
                                     part(PT_LOAD, PF_R | PF_X, kCode, kData - kCode),
                                     part(PT_LOAD, PF_R | PF_W, kData, size - kData),
                                     part(PT_DYNAMIC, PF_R, kDynamic, kDynamicSize)};
  headers.insert(headers.end(), more.begin(), more.end());
  target.poke(bias + offsetof(Elf64_Ehdr, e_phnum), static_cast<Elf64_Half>(headers.size()));
  target.poke_bytes(bias + sizeof(Elf64_Ehdr), std::as_bytes(std::span(headers)));
}

// What a function does to the stack pointer, for its FDE (DWARF 5, 6.4.2).
struct FunctionFrame {
  std::uint64_t offset;  // of the function, from the bias
  std::vector<std::uint8_t> program;
};

// .eh_frame_hdr with its search table, and .eh_frame (LSB 5, 10.6).
Elf64_Phdr write_call_frames(FakeTarget& target, Address bias,
                             const std::vector<FunctionFrame>& functions) {
  const auto distance = [](std::uint64_t to, std::uint64_t from) {
    return static_cast<std::int32_t>(to - from);
  };
  std::vector<std::byte> frames;
  const auto finish_entry = [&frames](std::size_t start) {
    frames.resize((frames.size() + 3) / 4 * 4);  // DW_CFA_nop is 0
    const auto length = static_cast<std::uint32_t>(frames.size() - start - 4);
    std::copy_n(bytes_of(length).begin(), 4, frames.begin() + static_cast<std::ptrdiff_t>(start));
  };
  const std::uint8_t common[] = {1,    'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,  // pc-relative, 32 bits
                                 0x0c, 7,   8,                             // CFA is rsp + 8
                                 0x90, 1};  // return address below it
  append_values(frames, std::uint32_t{0}, std::uint32_t{0});
  append(frames, std::as_bytes(std::span(common)));
  finish_entry(0);
  std::vector<std::byte> table;
  for (const FunctionFrame& function : functions) {
    const std::size_t start = frames.size();
    append_values(table, distance(function.offset, kFrameTable),
                  distance(kFrames + start, kFrameTable));
    append_values(frames, std::uint32_t{0}, static_cast<std::uint32_t>(start + 4),
                  distance(function.offset, kFrames + start + 8),
                  static_cast<std::uint32_t>(kFunction), std::uint8_t{0});
    append(frames, std::as_bytes(std::span(function.program)));
    finish_entry(start);
  }
  append_values(frames, std::uint32_t{0});
  std::vector<std::byte> header =
      bytes_of(std::uint8_t{1}, std::uint8_t{0x1b}, std::uint8_t{3}, std::uint8_t{0x3b},
               distance(kFrames, kFrameTable + 4), static_cast<std::uint32_t>(functions.size()));
  append(header, table);
  target.poke_bytes(bias + kFrameTable, header);
  target.poke_bytes(bias + kFrames, frames);
  return {PT_GNU_EH_FRAME, PF_R,          kFrameTable,   kFrameTable,
          kFrameTable,     header.size(), header.size(), 4};
}

void write_call(FakeTarget& target, Address function) {
  target.poke(function + kAfterCall - 5, std::uint8_t{0xe8});
}

// A process whose model was called with an index that leaves its embedding.
class Process {
 public:
  explicit Process(bool weights_loaded = true) {
    make_libtorch(target);
    map_library(
        target, "/opt/app/main", kProgram, 0xa000,
        {{"main", kCode}, {"gomp_team_barrier_wait", kCode + 0x100}, {"_start", kCode + 0x200}});
    for (const std::uint64_t function : {kCode, kCode + 0x100, kCode + 0x200}) {
      write_call(target, kProgram + function);
    }
    for (const Module& module : target.modules()) {
      write_program_headers(target, module.bias, module.end - module.start);
    }
    target.process_info().pid = 4242;
    target.map(kStack, kStackSize, "rw-");
    model.emplace(add_model("model.wrapper.so", 0x7f0000000000, weights_loaded));
  }

  ModelImage add_model(const std::string& name, Address base, bool weights_loaded = true) {
    ModelImageOptions options;
    options.wrapper_name = name;
    options.models = 2;
    options.kernels = {"cpp_fused_embedding_0", "cpp_fused_embedding_0._omp_fn.0",
                       "cpp_fused_addmm_relu_1"};
    const std::vector<float> weights(128, 0.25F);
    const std::vector<std::int64_t> rows = {1, 2, kWildRow, 3};
    options.constants = {
        {.name = "emb_weight", .fqn = "emb.weight", .shape = {16, 8}, .bytes = bytes_in(weights)},
        {.name = "fc_bias",
         .fqn = "fc.bias",
         .dtype = "BFloat16",
         .shape = {2, 3},
         .stride = {1, 2}},
        {.name = "mask", .fqn = "mask", .dtype = "Bool", .shape = {1, 2, 1, 2, 1, 2}},
        {.name = "steps", .fqn = "steps", .dtype = "Int", .shape = {}}};
    options.inputs = {{.name = "arg4_1", .dtype = "Long", .shape = {4}, .bytes = bytes_in(rows)},
                      {.name = "arg5_1", .shape = {4, 8}}};
    for (ImageTensor& constant : options.constants) constant.loaded = weights_loaded;
    ModelImage image(target, *newest_layout(), std::move(options), base);
    // run_impl reserves 0x100 bytes, the entry point saves rbx and reserves 0x78; the kernel's
    // rules are expressions.
    const std::vector<FunctionFrame> frames = {
        {image.run - base, {0x44, 0x0e, 0x90, 0x01, 0x83, 2}},
        {image.run_impl - base, {0x44, 0x0e, 0x88, 0x02}},
        {image.kernels - base, {0x0f, 2, 0x77, 8, 0x16, 6, 2, 0x76, 0}}};
    write_program_headers(target, base, 0x20000, {write_call_frames(target, base, frames)});
    for (const Address function : {image.run, image.run_impl, image.kernels}) {
      write_call(target, function);
    }
    // mov (%rdi,%rsi,4), %eax in the kernel and in its OpenMP body
    for (const Address function : {image.kernels, image.kernels + ModelImage::kKernelSpacing}) {
      target.poke(function + 4, std::uint8_t{0x8b});
      target.poke(function + 5, std::uint16_t{0xb704});
    }
    return image;
  }

  // The stack of a call of the model, from the kernel's return address at `at` up to main.
  void write_call_stack(Address at) {
    ModelImageOptions& options = model->options;
    const Address run_frame = at + 8;
    target.poke(at, model->run_impl + kAfterCall);
    target.poke(run_frame + 0x08, model->models.front());
    ImageTensor buffer{.name = "buf0", .shape = {4, 8}};
    Address slot = run_frame + 0x18;
    for (const Address handle :
         {model->write_tensor(buffer), options.inputs[1].handle, options.inputs[0].handle}) {
      target.poke(slot, model->delete_tensor);
      target.poke(slot + 8, handle);
      slot += 0x10;
    }
    const Address entry_frame = run_frame + 0x108;
    target.poke(entry_frame - 8, model->run + kAfterCall);
    target.poke(entry_frame + 0x08, model->container);
    target.poke(entry_frame + 0x10, model->runner);
    const Address main_frame = entry_frame + 0x90;
    target.poke(main_frame - 8, kProgram + kCode + kAfterCall);
    // The caller's std::vector<at::Tensor>.
    const Address vector = model->allocate(16);
    target.poke(vector, options.inputs[0].impl);
    target.poke(vector + 8, options.inputs[1].impl);
    const std::uint64_t bounds[] = {vector, vector + 16, vector + 16};
    target.poke(main_frame + 0x10, bounds);
    target.poke(main_frame + 0x80, kProgram + kCode + 0x200 + kAfterCall);
  }

  Thread& add_thread(ThreadId id, Address pc, Address stack) {
    Thread& thread = target.add_thread(id);
    for (std::size_t slot = 0; slot < Registers::kCount; ++slot) thread.registers.set(slot, 0);
    set(thread, "rip", pc);
    set(thread, "rsp", stack);
    return thread;
  }

  static void set(Thread& thread, std::string_view name, std::uint64_t value) {
    thread.registers.set(*register_slot(name), value);
  }

  // Registers of the kernel's load of row kWildRow; answers with the address.
  Address index_wildly(Thread& thread) {
    const Address data = model->options.constants[0].data;
    const auto index = static_cast<std::uint64_t>(kWildRow) * 8;
    set(thread, "rdi", data);
    set(thread, "rsi", index);
    return data + index * 4;
  }

  void crash_in_kernel() {
    write_call_stack(kStack + 0x200);
    Thread& thread = add_thread(4242, model->kernels + 4, kStack + 0x200);
    const Address address = index_wildly(thread);
    target.stop(4242, SIGSEGV, SEGV_MAPERR, address);
  }

  // An OpenMP worker dies; the thread that called the model waits for it.
  void crash_in_worker() {
    write_call_stack(kStack + 0x208);
    target.poke(kStack + 0x200, model->kernels + kAfterCall);
    set(add_thread(4242, kProgram + kCode + 0x104, kStack + 0x200), "rbx", 1);
    Thread& worker = add_other_thread(4243);
    set(worker, "rip", model->kernels + ModelImage::kKernelSpacing + 4);
    const Address address = index_wildly(worker);
    target.stop(4243, SIGSEGV, SEGV_MAPERR, address);
  }

  // A handler caught the fault and aborted.
  void crash_and_abort() {
    target.map(kLibc, 0x1000, "r-x", "/usr/lib/x86_64-linux-gnu/libc.so.6");
    const std::uint8_t restorer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    target.poke(kLibc + 0x100, restorer);
    write_call_stack(kStack + 0x1200);
    Thread interrupted;
    const Address address = index_wildly(interrupted);
    // struct rt_sigframe as words: uc_flags, mcontext, siginfo.
    constexpr Address kFrame = kStack + 0x808;
    std::vector<std::uint64_t> words(55, 0);
    words[0] = kLibc + 0x100;
    words[1] = 7;
    words[6 + 8] = *interrupted.registers.get(*register_slot("rdi"));
    words[6 + 9] = *interrupted.registers.get(*register_slot("rsi"));
    words[6 + 15] = kStack + 0x1200;
    words[6 + 16] = model->kernels + 4;
    words[6 + 17] = 0x10246;
    words[6 + 18] = 0x002b000000000033;
    words[6 + 19] = 4;
    words[6 + 20] = 14;
    words[6 + 22] = address;
    words[6 + 23] = kFrame + 0x1c0;
    words[39] = SIGSEGV;
    words[40] = SEGV_MAPERR;
    words[41] = address;
    target.poke_bytes(kFrame, std::as_bytes(std::span(words)));
    add_thread(4242, kLibc + 0x200, kStack + 0x400);
    target.stop(4242, SIGABRT, SI_TKILL);
  }

  void crash_elsewhere() {
    Thread& thread = add_thread(4242, kProgram + kCode + 4, kStack + 0x200);
    target.poke(kProgram + kCode + 4, std::uint16_t{0x078b});  // mov (%rdi), %eax
    set(thread, "rdi", 0x10);
    target.stop(4242, SIGSEGV, SEGV_MAPERR, 0x10);
  }

  void use_missing_weight() {
    write_call_stack(kStack + 0x200);
    set(add_thread(4242, model->kernels + 4, kStack + 0x200), "rsi", 8);
    target.stop(4242, SIGSEGV, SEGV_MAPERR, 0x20);
  }

  Thread& add_other_thread(ThreadId id) {
    const Address stack = kOtherStacks + static_cast<std::uint64_t>(id) * kStackSpacing;
    target.map(stack, 0x400, "rw-");
    target.poke(stack + 0x108, kProgram + kCode + 0x100 + kAfterCall);
    return add_thread(id, kProgram + kCode + 0x104, stack + 0x100);
  }

  // DT_DEBUG, r_debug and the link map, in the program's data; AT_PHDR and AT_ENTRY lead there.
  CoreBuilder::Values write_loader_list() {
    constexpr Address kDebug = kProgram + kData;
    constexpr Address kName = kDebug + 0x800;
    write_program_headers(target, kProgram, 0xa000,
                          {{PT_PHDR, PF_R, 64, 64, 64, 5 * 56, 5 * 56, 8}});
    Elf64_Dyn debug{};
    debug.d_tag = DT_DEBUG;
    debug.d_un.d_ptr = kDebug;
    target.poke(kProgram + kDynamic + 5 * sizeof(Elf64_Dyn), debug);  // in place of DT_NULL
    std::vector<const Module*> modules = {nullptr};
    for (const Module& module : target.modules()) {
      if (module.bias == kProgram) {
        modules.front() = &module;
      } else {
        modules.push_back(&module);
      }
    }
    const auto entry_at = [](std::size_t i) { return kDebug + 0x100 + i * 0x40; };
    target.poke(kDebug + offsetof(struct r_debug, r_map), entry_at(0));
    for (std::size_t i = 0; i < modules.size(); ++i) {
      const Address name = kName + i * 0x40;
      target.poke_string(name, i == 0 ? "" : modules[i]->path);
      const bool is_last = i + 1 == modules.size();
      const std::uint64_t words[] = {modules[i]->bias, name, modules[i]->bias + kDynamic,
                                     is_last ? 0 : entry_at(i + 1), i == 0 ? 0 : entry_at(i - 1)};
      target.poke(entry_at(i), words);
    }
    target.poke_string(kName - 0x40, "/opt/app/main");
    return {{AT_PHDR, kProgram + 64},
            {AT_PHNUM, 5},
            {AT_ENTRY, kProgram + kCode},
            {AT_EXECFN, kName - 0x40}};
  }

  FakeTarget target;
  std::optional<ModelImage> model;
};

BaseImage finish(std::string name, Process& process, const CoreOfTargetOptions& options,
                 std::string verdict, std::size_t models, std::size_t frames) {
  BaseImage image;
  image.name = std::move(name);
  image.bytes = core_of(process.target, options).bytes();
  image.verdict = std::move(verdict);
  image.models = models;
  image.frames = frames;
  for (const auto* list : {&process.model->options.constants, &process.model->options.inputs}) {
    for (const ImageTensor& tensor : *list) image.tensors.push_back(tensor.name);
  }
  if (image.bytes.size() > kLargestImage) {
    std::fprintf(stderr, "base image %s has %zu bytes\n", image.name.c_str(), image.bytes.size());
    std::abort();
  }
  return image;
}

}  // namespace

std::vector<BaseImage> base_images() {
  std::vector<BaseImage> images;
  const CoreBuilder::Values entry = {{AT_ENTRY, kProgram + kCode}};
  {
    Process process;
    process.crash_in_kernel();
    images.push_back(finish("kernel", process, {.auxiliary = entry}, "index_out_of_bounds", 1, 5));
  }
  {
    Process process;
    process.crash_in_kernel();
    const auto auxiliary = process.write_loader_list();
    images.push_back(finish("loader-list", process,
                            {.file_mappings = false, .auxiliary = auxiliary}, "index_out_of_bounds",
                            1, 5));
  }
  {
    Process process;
    process.crash_in_worker();
    constexpr ThreadId kMore = 8;
    for (ThreadId id = 4244; id < 4244 + kMore; ++id) process.add_other_thread(id);
    images.push_back(finish("workers-gcore", process, {.signal_of_each = true, .auxiliary = entry},
                            "index_out_of_bounds", 1, 2));
  }
  {
    Process process(false);
    process.use_missing_weight();
    images.push_back(
        finish("missing-weights", process, {.auxiliary = entry}, "constants_missing", 1, 5));
  }
  {
    Process process;
    process.crash_and_abort();
    images.push_back(finish("handler", process, {.auxiliary = entry}, "index_out_of_bounds", 1, 5));
  }
  {
    Process process;
    process.add_model("other.wrapper.so", 0x7f1000000000);
    process.crash_elsewhere();
    images.push_back(finish("two-models", process, {.auxiliary = entry}, "not_aoti", 2, 1));
  }
  return images;
}

}  // namespace aotidbg
