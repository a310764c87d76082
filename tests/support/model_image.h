// SPDX-License-Identifier: BSD-3-Clause
//
// A process with one AOTInductor model in it, made in a FakeTarget from a layout table: libtorch
// and a wrapper with real dynamic symbol tables, a runner, a container, its models, constants and
// tensors. Everything is written by member name, so that any layout makes a whole process. Tests
// change what they want to see refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/torch/layout.h"
#include "tests/support/fake_target.h"

namespace aotidbg {

struct ImageTensor {
  std::string name = {};
  std::string fqn = {};
  std::string dtype = "Float";  // enumerator of c10::ScalarType
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> stride = {};  // empty: contiguous
  bool loaded = true;                     // constants: false leaves handle and data null
  std::vector<std::byte> bytes = {};      // contents; empty: zeros
  // Filled in by ModelImage.
  Address handle = 0;
  Address impl = 0;
  Address storage = 0;
  Address data = 0;
  Address info = 0;  // constants: their ConstInfo
};

struct ModelImageOptions {
  std::string variant = "cpu";
  std::vector<ImageTensor> constants = {};
  std::vector<ImageTensor> inputs = {};
  std::size_t models = 1;
  std::size_t running = 1;  // of them; the others are available
  std::string wrapper_name = "model.wrapper.so";
  std::vector<std::string> kernels = {};  // symbols of generated code, kKernelSpacing apart
};

class ModelImage {
 public:
  // Several images can share a target; each has its own wrapper, at `base` (1 GiB apart suffices).
  ModelImage(FakeTarget& target, const Layout& layout, ModelImageOptions options,
             Address base = 0x7f0000000000);

  FakeTarget& target;
  const Layout& layout;
  ModelImageOptions options;  // with addresses filled in

  Address wrapper = 0;  // load bias of the wrapper
  Address run = 0;      // AOTInductorModelContainerRun
  Address run_impl = 0;
  Address kernels = 0;  // the first of options.kernels
  static constexpr std::uint64_t kKernelSpacing = 0x100;
  Address delete_tensor = 0;  // delete_tensor_object
  Address kernels_vtable = 0;
  Address runner = 0;
  Address container = 0;
  std::vector<Address> models;
  Address constants_array = 0;  // std::vector<ConstantHandle> of buffer 0

  // Writes a member of an object by name.
  void set(std::string_view class_name, Address object, std::string_view member,
           std::uint64_t value);
  Address address_of(std::string_view class_name, Address object, std::string_view member) const;

  // Allocates zeroed bytes on the image's heap, 16-byte aligned.
  Address allocate(std::uint64_t size);
  Address write_tensor(ImageTensor& tensor);  // answers with a handle

 private:
  void make_modules(Address base);
  void make_models();
  void make_container();
  void make_runner();
  Address write_text(std::string_view text);             // read-only data of the wrapper
  void write_string(Address at, std::string_view text);  // a std::string
  void write_vector(Address at, Address begin, std::uint64_t bytes);
  Member member(std::string_view class_name, std::string_view name) const;
  std::uint64_t size_of(std::string_view class_name) const;

  Address heap_ = 0;
  Address heap_next_ = 0;
  Address heap_end_ = 0;
  Address text_next_ = 0;
  Address map_ = 0;
};

// Where make_libtorch puts the address points of vtables.
struct LibtorchImage {
  Address tensor_vtable = 0;
  Address storage_vtable = 0;
  Address runner_vtable = 0;
};

// libtorch_cpu.so (aoti_torch_abi_version, the runner's vtable) and libc10.so in the target, once.
LibtorchImage make_libtorch(FakeTarget& target, std::string_view version = "2.13.0");

// A shared library in memory: an ELF header, program headers and a dynamic section with symbols,
// their strings and a GNU hash table. `symbols` are (name, offset from the bias). Answers with the
// module.
Module& map_library(FakeTarget& target, const std::string& path, Address bias, std::uint64_t size,
                    const std::vector<std::pair<std::string, std::uint64_t>>& symbols);

}  // namespace aotidbg
