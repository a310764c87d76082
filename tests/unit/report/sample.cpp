// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/report/sample.h"

#include <fmt/format.h>

namespace aotidbg::sample {
namespace {

ConstantReport constant(const char* name, const char* fqn, std::vector<std::int64_t> shape,
                        std::vector<std::int64_t> stride, std::uint64_t data) {
  ConstantReport made;
  made.name = name;
  made.fqn = fqn;
  made.dtype = "float32";
  made.bytes = 4;
  for (const std::int64_t size : shape) *made.bytes *= static_cast<std::uint64_t>(size);
  made.shape = std::move(shape);
  made.stride = std::move(stride);
  made.declared_device = "cpu";
  made.residency = Residency::host;
  made.where = "heap";
  made.data = data;
  made.handle = data + 8;
  made.kind = "parameter";
  made.state = "ready";
  return made;
}

InputReport input(const char* name, int position, const char* dtype,
                  std::vector<std::int64_t> shape, std::vector<std::int64_t> stride,
                  std::uint64_t data) {
  InputReport made;
  made.name = name;
  made.position = position;
  TensorReport actual;
  actual.dtype = dtype;
  actual.shape = std::move(shape);
  actual.stride = std::move(stride);
  actual.device = "cpu";
  actual.data = data;
  actual.residency = Residency::host;
  actual.where = "heap";
  made.actual = std::move(actual);
  made.found_by = "the caller's vector";
  return made;
}

FrameReport frame(std::uint64_t pc, const char* function, const char* module, const char* file,
                  int line, const char* how) {
  FrameReport made;
  made.pc = pc;
  made.function = function;
  made.module = module;
  if (file != nullptr) made.file = file;
  if (line > 0) made.line = line;
  made.how = how;
  return made;
}

constexpr const char* kWrapper = "cb3iqlmpxe4wpcwtnq5wvyojnchkbuvgp6xxkmn2dhymszdz3ljz.wrapper.so";
constexpr const char* kWrapperCpp =
    "cb3iqlmpxe4wpcwtnq5wvyojnchkbuvgp6xxkmn2dhymszdz3ljz.wrapper.cpp";
constexpr const char* kKernelCpp = "colrvm6bvwtnq5wvyojnchkbuvgp6xxkmn2dhymszdz3ljzcc3.kernel.cpp";

}  // namespace

OwnerReport owner(TensorName tensor, const char* relation, std::optional<std::uint64_t> bytes,
                  std::optional<std::vector<std::int64_t>> index) {
  OwnerReport made;
  made.tensor = std::move(tensor);
  made.relation = relation;
  made.bytes = bytes;
  made.index = std::move(index);
  return made;
}

Report embedding_crash(std::uint64_t base) {
  Report report;
  report.tool_version = "0.1.0";
  report.host = "lldb 19.1.7";
  report.target.kind = "core";
  report.target.executable = "run2";
  report.target.pid = 3863;
  report.target.files = {"core2"};
  report.target.libtorch = {"2.13.0", "2.13.0", How::found, {"torch/version.py says 2.13.0"}};
  const TensorName weight{"constant", "emb_weight", "emb.weight"};

  report.verdict.code = "index_out_of_bounds";
  report.verdict.confidence = Confidence::likely;
  report.verdict.text =
      "cpp_fused_add_embedding_0 read row 8589934592 of constant emb.weight, which has 1000 rows: "
      "input arg3_1[3] holds that index";
  report.verdict.evidence = {
      "the base register rsi holds the first byte of emb.weight",
      "the index register rax times 4 is 8589934592 rows of 64 floats",
      "input arg3_1[3] holds 8589934592 (found by search, not by the kernel's own load)"};
  report.verdict.next = {"check the indices that the caller passes in arg3_1",
                         "compile with aot_inductor.assert_indirect_indexing to have it reported"};

  FaultReport fault;
  fault.signal = "SIGSEGV";
  fault.code = "SEGV_MAPERR";
  fault.address = base + 0x20000000000;
  fault.access = "read";
  fault.pc = base + 0x1234;
  fault.thread = 3863;
  fault.instruction = "vmovups zmm1, [rsi+rax*4]";
  fault.operand = fmt::format("rsi = {:#x}, rax = 549755813888", base);
  fault.owner = owner(weight, "past_end", 2199022999552, {{8589934592, 0}});
  report.fault = fault;

  KernelReport kernel;
  kernel.name = "cpp_fused_add_embedding_0";
  kernel.kind = "cpp";
  kernel.device = "cpu";
  kernel.location = SourceLocation{kKernelCpp, 24};
  kernel.call_site = SourceLocation{kWrapperCpp, 930};
  kernel.arguments = {
      {"in_ptr0", "const int64_t*", fmt::format("{:#x}", base + 0x100),
       TensorName{"input", "arg3_1", std::nullopt}},
      {"in_ptr1", "const float*", fmt::format("{:#x}", base), weight},
      {"out_ptr0", "float*", std::nullopt, TensorName{"buffer", "buf0", std::nullopt}}};
  kernel.source_nodes = {"embedding", "add"};
  kernel.aten = {"aten.embedding", "aten.add"};
  kernel.faulting = true;
  kernel.address = base + 0x1000;
  kernel.size = 0x800;
  report.kernel = kernel;

  report.inputs = {input("arg3_1", 0, "int64", {8}, {1}, base + 0x100),
                   input("arg4_1", 1, "float32", {8, 64}, {64, 1}, base + 0x200)};

  ModelReport model;
  model.container = base + 0x2000;
  model.runner = base + 0x3000;
  model.running_model = base + 0x4000;
  model.wrapper = kWrapper;
  model.package = "m2";
  model.build_id = "6f1d2c3b4a5968778695a4b3c2d1e0f901234567";
  model.compiled_for = "cpu";
  model.loaded_on = "cpu";
  model.layout = "2.13.0";
  model.layout_how = How::found;
  model.evidence = {"exports AOTInductorModelContainerRunSingleThreaded"};
  model.found_by = "stack";
  model.pool = PoolReport{1, 1, 0, 0};
  model.constant_buffer = ConstantBufferReport{0, "folded", 264320};
  model.inputs = {"arg3_1", "arg4_1"};
  model.outputs = {"output0"};
  model.constants = {constant("emb_weight", "emb.weight", {1000, 64}, {64, 1}, base),
                     constant("fc_weight", "fc.weight", {32, 64}, {64, 1}, base + 0x40000),
                     constant("fc_bias", "fc.bias", {32}, {1}, base + 0x42000),
                     constant("scale", "scale", {1}, {1}, base + 0x42080)};
  report.models = {model};

  ThreadReport thread;
  thread.id = 3863;
  thread.role = "faulting";
  thread.frames = {
      frame(base + 0x1234, kernel.name.c_str(), kWrapper, kKernelCpp, 24, "registers"),
      frame(base + 0x5234, "torch::aot_inductor::AOTInductorModel::run_impl", kWrapper, kWrapperCpp,
            930, "cfi"),
      frame(base + 0x6234,
            "torch::aot_inductor::AOTInductorModelBase<torch::aot_inductor::AOTInductorModel>::run",
            kWrapper, "model_base.h", 410, "cfi"),
      frame(base + 0x7234, "AOTInductorModelContainerRun", kWrapper, "interface.cpp", 98, "cfi"),
      frame(base + 0x8234, "torch::inductor::AOTIModelContainerRunner::run_impl", "libtorch_cpu.so",
            nullptr, 0, "cfi"),
      frame(base + 0x9234, "main", "run2", nullptr, 0, "frame_pointer"),
      frame(base + 0xa234, "__libc_start_main", "libc.so.6", nullptr, 0, "cfi")};
  FrameReport inlined = thread.frames[0];
  inlined.function = "_mm512_add_ps";
  inlined.inlined = true;
  thread.frames.insert(thread.frames.begin(), inlined);
  thread.frames[1].how = "registers";
  report.threads = {thread};
  report.unknowns = {{"what the inputs should be",
                      "the package was not given and is not beside the process",
                      "give it with --package FILE"}};
  return report;
}

Report not_aoti() {
  Report report;
  report.tool_version = "0.1.0";
  report.host = "aotidbg";
  report.target.kind = "core";
  report.verdict.code = "not_aoti";
  report.verdict.confidence = Confidence::certain;
  report.verdict.text = "the crash has no AOTI part: it lies in main of a.out";
  return report;
}

Report hostile() {
  const std::string bad = "a\x1b[31mred\n\xff\xc0\xaf\xed\xa0\x80z \xe2\x80\xae" +
                          std::string(1, '\0') + "\xc2\x9b" + std::string(300, 'x');
  Report report = embedding_crash();
  report.host = bad;
  report.target.executable = bad;
  report.target.files = {bad};
  report.target.libtorch.version = bad;
  report.verdict.text = bad;
  report.verdict.evidence = {bad};
  report.verdict.next = {bad};
  report.fault->signal = bad;
  report.fault->instruction = bad;
  report.fault->operand = bad;
  report.fault->owner->tensor = {bad, bad, bad};
  report.kernel->name = bad;
  report.kernel->device = bad;
  report.kernel->location->file = bad;
  report.kernel->arguments = {{bad, bad, bad, TensorName{bad, bad, bad}}};
  report.kernel->aten = {bad};
  report.inputs[0].name = bad;
  report.inputs[0].mismatches = {bad};
  report.models[0].package = bad;
  report.models[0].wrapper = bad;
  report.models[0].evidence = {bad};
  report.models[0].inputs = {bad};
  report.models[0].constants[0].name = bad;
  report.models[0].constants[0].fqn = bad;
  report.models[0].constants[0].where = bad;
  report.models[0].constants[0].mismatches = {bad};
  report.models[0].constants[0].values = {bad};
  report.threads[0].frames[0].function = bad;
  report.threads[0].frames[0].module = bad;
  report.threads[0].frames[0].file = bad;
  report.threads[0].stopped = bad;
  report.unknowns = {{bad, bad, bad}};
  return report;
}

Report large() {
  Report report = embedding_crash();
  std::vector<ConstantReport>& constants = report.models[0].constants;
  constants.clear();
  for (int i = 0; i < 300; ++i) {
    const std::string fqn = fmt::format("layers.{}.attention.weight", i);
    const std::string name = fmt::format("layers_{}_attention_weight", i);
    constants.push_back(constant(name.c_str(), fqn.c_str(), {64, 64}, {64, 1}, 0x7f0000000000));
    if (i % 33 != 7) continue;
    constants.back().state = "missing";
    constants.back().data.reset();
    constants.back().residency = Residency::null;
    constants.back().where.reset();
  }
  report.inputs.clear();
  for (int i = 0; i < 40; ++i) {
    const std::string name = fmt::format("arg{}_1", i);
    report.inputs.push_back(input(name.c_str(), i, "float32", {8, 64}, {64, 1}, 0x7f0000001000));
  }
  report.inputs[31].mismatches = {"dtype float64, expected float32"};
  for (int i = 0; i < 19; ++i) {
    report.unknowns.push_back({fmt::format("thing {}", i), "it is not there", "bring it"});
  }
  for (int i = 0; i < 30; ++i) report.verdict.evidence.push_back(fmt::format("clue {}", i));
  std::vector<FrameReport>& frames = report.threads[0].frames;
  while (frames.size() < 100) frames.insert(frames.begin() + 2, frames[1]);
  const FrameReport innermost = frames[1];  // of a physical frame, not an inlined one
  for (int i = 0; i < 63; ++i) {
    report.threads.push_back({3864 + i, "worker", {innermost}, std::nullopt});
  }
  return report;
}

TensorValues tensor() {
  const Report report = embedding_crash();
  TensorValues values;
  values.tensor = *report.inputs[0].actual;
  values.tensor.storage_bytes = 64;
  values.tensor.storage_offset = 0;
  values.tensor.address = 0x562640005000;
  values.name = TensorName{"input", "arg3_1", std::nullopt};
  values.first = {"1", "2", "3", "8589934592"};
  values.min = "1";
  values.max = "8589934592";
  values.nan_count = 0;
  values.inf_count = 0;
  values.read = 8;
  values.elements = 8;
  return values;
}

}  // namespace aotidbg::sample
