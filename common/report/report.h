// SPDX-License-Identifier: BSD-3-Clause
//
// What a command answers, as plain structs: the analysis fills them, the renderers (text, JSON)
// read them and nothing else. Field names follow the JSON contract, docs/report.schema.json.
//
// An optional that is empty means "not known"; why, and what would bring it, is then an entry in
// `unknowns`. Addresses are hex strings in JSON; sizes, shapes and counts are numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aotidbg {

struct Unknown {
  std::string what;  // what is not known
  std::string why;
  std::string fix;  // the setting, file or flag that would bring it
};

enum class Confidence {
  certain,  // every link was read from the process or its files
  likely,   // one inference, named in the evidence
  possible,
};

enum class Residency { host, device, managed, pinned, file, unmapped, null, unknown };

enum class How { found, assumed, absent };

struct LibtorchReport {
  std::optional<std::string> version;  // "2.13.0"
  std::optional<std::string> layout;   // the layout table in use: "2.13.0"
  How how = How::absent;
  std::vector<std::string> evidence;
};

struct TargetReport {
  std::string kind;  // live, core, snapshot, gpu_core
  std::optional<std::string> executable;
  std::optional<std::int64_t> pid;
  std::vector<std::string> files;
  LibtorchReport libtorch;
};

struct Verdict {
  std::string code;  // docs/report.schema.json lists them
  Confidence confidence = Confidence::possible;
  std::string text;
  std::vector<std::string> evidence;
  std::vector<std::string> next;
};

// What a tensor is to the model: a constant, an input, a buffer of the running call.
struct TensorName {
  std::string kind;                // constant, input, buffer
  std::string name;                // in the generated code: emb_weight, arg3_1
  std::optional<std::string> fqn;  // in the user's model: emb.weight
};

struct OwnerReport {
  TensorName tensor;
  std::string relation;                // inside, past_end, before_start, null
  std::optional<std::uint64_t> bytes;  // distance from the nearest end, or offset inside
  std::optional<std::vector<std::int64_t>> index;  // element, one number a dimension
  std::vector<std::string> candidates;             // names, where which one it was is not known
};

struct FaultReport {
  std::optional<std::string> signal;  // SIGSEGV
  std::optional<std::string> code;    // SEGV_MAPERR
  std::optional<std::uint64_t> address;
  std::optional<std::string> access;  // read, write, execute
  std::optional<std::uint64_t> pc;
  std::optional<std::int64_t> thread;
  std::optional<std::string> instruction;
  std::optional<std::string> operand;  // base, index and their values, for people
  std::optional<OwnerReport> owner;
};

struct SourceLocation {
  std::string file;
  int line = 0;
};

struct KernelArgument {
  std::string parameter;
  std::optional<std::string> type;
  std::optional<std::string> value;
  std::optional<TensorName> tensor;
};

struct KernelReport {
  std::string name;
  std::string kind;  // cpp, triton, extern, const_fold, unknown
  std::string device;
  std::optional<SourceLocation> location;
  std::optional<SourceLocation> call_site;
  std::optional<std::vector<KernelArgument>> arguments;
  std::optional<std::vector<std::string>> source_nodes;
  std::optional<std::vector<std::string>> aten;
  bool faulting = false;
  std::optional<std::uint64_t> address;  // where its code starts
  std::optional<std::uint64_t> size;     // bytes of its code; a PC is matched with it
};

// Metadata of one tensor, and where its bytes are.
struct TensorReport {
  std::optional<std::string> dtype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::vector<std::int64_t>> stride;
  std::optional<std::uint64_t> storage_bytes;  // of the whole storage
  std::optional<std::int64_t> storage_offset;  // in elements
  std::optional<std::string> device;           // cpu, cuda:0
  std::optional<std::uint64_t> data;           // address of element 0
  std::optional<std::uint64_t> address;        // of the TensorImpl
  Residency residency = Residency::unknown;
  std::optional<std::string> where;  // heap, wrapper.so, the mapping's name
};

struct InputReport {
  std::string name;
  int position = 0;
  std::optional<TensorReport> expected;  // needs the package
  std::optional<TensorReport> actual;
  std::optional<std::string> found_by;  // for people: caller's vector, handle in run_impl's frame
  std::vector<std::string> mismatches;
};

struct ConstantReport {
  std::string name;
  std::optional<std::string> fqn;
  std::optional<std::string> dtype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::vector<std::int64_t>> stride;
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> declared_device;
  Residency residency = Residency::unknown;
  std::optional<std::string> where;
  std::optional<std::uint64_t> data;
  std::optional<std::uint64_t> handle;
  std::optional<std::string> kind;   // parameter, buffer, tensor_constant, folded_constant
  std::optional<std::string> state;  // ready, missing, dangling, folded, inactive
  std::vector<std::string> mismatches;
  std::vector<std::string> values;  // first values, when asked for
};

struct PoolReport {
  std::uint64_t size = 0;
  std::uint64_t running = 0;
  std::uint64_t idle = 0;
  std::uint64_t pending = 0;
};

struct ConstantBufferReport {
  std::optional<int> active;              // 0 or 1
  std::optional<std::string> fold_state;  // none, initialized, folded, unknown
  std::optional<std::uint64_t> bytes;     // of the constants' blob
};

struct ModelReport {
  std::optional<std::uint64_t> container;
  std::optional<std::uint64_t> runner;
  std::optional<std::uint64_t> running_model;  // the AOTInductorModel of the call in flight
  std::optional<std::string> wrapper;
  std::optional<std::string> package;
  std::optional<std::string> build_id;
  std::optional<std::string> compiled_for;  // cpu, cuda, xpu, mps
  std::optional<std::string> loaded_on;
  std::optional<std::string> layout;
  How layout_how = How::absent;
  std::vector<std::string> evidence;
  std::optional<std::string> found_by;  // stack, scan
  std::optional<PoolReport> pool;
  std::optional<ConstantBufferReport> constant_buffer;
  std::vector<std::string> inputs;  // names, in order
  std::vector<std::string> outputs;
  std::vector<ConstantReport> constants;
};

struct FrameReport {
  std::uint64_t pc = 0;
  std::optional<std::string> function;
  std::optional<std::string> module;
  std::optional<std::string> file;
  std::optional<int> line;
  bool inlined = false;
  std::string how;  // registers, cfi, frame_pointer, scan
};

struct ThreadReport {
  std::int64_t id = 0;
  std::string role;  // faulting, waiting, runner, worker, other
  std::vector<FrameReport> frames;
  std::optional<std::string> stopped;  // why the stack ends early
};

// `aoti tensor`: one tensor with values read from it.
struct TensorValues {
  TensorReport tensor;
  std::optional<TensorName> name;
  std::vector<std::string> first;  // first values, formatted by dtype
  std::optional<std::string> min, max;
  std::optional<std::uint64_t> nan_count, inf_count;
  std::uint64_t read = 0;  // elements that were read for min, max and counts
  std::uint64_t elements = 0;
};

// `aoti doctor`: one ELF file of the process, and whether the analysis had it.
struct FileReport {
  std::string path;
  std::string state;  // used, assumed (right name, not proved to be the same), missing
  std::optional<std::string> build_id;
  std::optional<std::string> problem;
};

// `aoti doctor`: what the target itself lacks.
struct GapReport {
  std::string what;
  std::optional<std::uint64_t> at;
  std::string fix;
};

// `aoti snapshot show`: what is in a snapshot, before it is shared.
struct SnapshotPart {
  std::string purpose;  // objects, modules, loader, quoted, values, stacks
  std::uint64_t ranges = 0;
  std::uint64_t bytes = 0;
};

struct SnapshotReport {
  std::string saved_from;  // core, live
  std::string tool;        // version of aotidbg that saved it
  bool with_values = false;
  std::vector<SnapshotPart> parts;
  struct Quoted {
    std::string what;
    std::string value;
  };
  std::vector<Quoted> quoted;
  std::vector<std::string> command_line;
  std::uint64_t threads = 0;
  std::uint64_t modules = 0;
  std::uint64_t answers = 0;
};

// The answer of `aoti inspect`; the other commands show parts of it.
struct Report {
  std::string tool_version;
  std::string host;  // "lldb 19.1.7"
  TargetReport target;
  Verdict verdict;
  std::optional<FaultReport> fault;
  std::optional<KernelReport> kernel;
  std::vector<InputReport> inputs;
  std::vector<ModelReport> models;
  std::vector<ThreadReport> threads;
  std::vector<Unknown> unknowns;
};

}  // namespace aotidbg
