// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/call.h"

#include <gtest/gtest.h>

#include "common/crash/tensors.h"
#include "tests/support/model_image.h"

namespace aotidbg {
namespace {

constexpr Address kStack = 0x7ffd00000000;
constexpr std::string_view kRunImpl =
    "_ZN5torch12aot_inductor16AOTInductorModel8run_implEPP16AtenTensorOpaqueS4_"
    "PvP23AOTIProxyExecutor"
    "Opaque";

ModelImageOptions embedding() {
  ModelImageOptions options;
  options.constants = {{.name = "emb_weight", .fqn = "emb.weight", .shape = {1000, 64}}};
  options.inputs = {{.name = "arg1_1", .dtype = "Long", .shape = {8}},
                    {.name = "arg2_1", .shape = {8, 64}}};
  return options;
}

// A thread inside a model: kernel, run_impl, the container's entry point, a runner of libtorch,
// main; each frame has 0x100 bytes of stack.
class CallTest : public testing::Test {
 protected:
  CallTest() {
    make_libtorch(target);
    target.map(kStack, 0x2000, "rw-", "[stack]");
    image.emplace(target, *newest_layout(), embedding());
    libtorch = recognise_libtorch(target);
    wrappers = find_wrappers(target, libtorch.layout);
    stack.thread = 7;
    push(image->wrapper + 0x4600, "cpp_fused_embedding_0");
    push(image->wrapper + 0x4510, kRunImpl);
    push(image->run + 8, "AOTInductorModelContainerRun");
    push(0x7e0000004000, "_ZN5torch8inductor24AOTIModelContainerRunner8run_implEv");
    push(0x400000, "main");
  }

  void push(Address pc, std::string_view symbol) {
    NamedFrame frame;
    frame.frame.pc = pc;
    frame.frame.activation = true;
    frame.frame.stack_pointer = kStack + 0x100 * stack.frames.size();
    frame.stack_end = kStack + 0x100 * (stack.frames.size() + 1);
    frame.module = target.module_at(pc);
    if (!symbol.empty()) frame.symbol = Symbol{std::string(symbol), pc, 0x40};
    stack.frames.push_back(std::move(frame));
  }
  // A word at `offset` of the stack of frame `index`.
  void put(std::size_t index, std::uint64_t offset, std::uint64_t word) {
    target.poke(kStack + 0x100 * index + offset, word);
  }
  void put_handle(std::uint64_t offset, Address handle) {
    put(1, offset, image->delete_tensor);
    put(1, offset + 8, handle);
  }
  // The caller's std::vector<at::Tensor>, in main's frame.
  void put_vector(std::uint64_t offset, const std::vector<Address>& impls) {
    const Address elements = image->allocate(8 * impls.size());
    for (std::size_t i = 0; i < impls.size(); ++i) target.poke(elements + 8 * i, impls[i]);
    put(4, offset, elements);
    put(4, offset + 8, elements + 8 * impls.size());
    put(4, offset + 16, elements + 8 * impls.size());
  }
  Result<Container> container() {
    return container_of(target, wrappers, *call_on(stack, wrappers), stack);
  }
  CallTensors tensors() {
    return find_call_tensors(target, libtorch, *container(), *call_on(stack, wrappers), stack);
  }
  const ImageTensor& input(std::size_t i) const { return image->options.inputs[i]; }

  FakeTarget target;
  std::optional<ModelImage> image;
  Libtorch libtorch;
  std::vector<Wrapper> wrappers;
  NamedStack stack;
};

TEST_F(CallTest, IsInTheKernelThatRunImplCalls) {
  const auto kernel = find_kernel(stack, wrappers);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->name, "cpp_fused_embedding_0");
  EXPECT_EQ(kernel->kind, RunningKernel::Kind::cpp);
  const auto call = call_on(stack, wrappers);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->run_impl, 1U);
  EXPECT_EQ(call->entry, 2U);
}

TEST_F(CallTest, IsInAnOpThatRunImplCallsThroughTheShim) {
  stack.frames[0].symbol->name = "aoti_torch_cpu_addmm_out";
  stack.frames[0].frame.pc = 0x7e0000004010;
  const auto kernel = find_kernel(stack, wrappers);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->name, "aoti_torch_cpu_addmm_out");
  EXPECT_EQ(kernel->kind, RunningKernel::Kind::extern_op);
}

TEST_F(CallTest, OfAnOpenMpWorkerHasAKernelAndNoRunImpl) {
  stack.frames.erase(stack.frames.begin() + 1, stack.frames.end());
  stack.frames[0].symbol->name = "cpp_fused_embedding_0._omp_fn.0";
  const auto kernel = find_kernel(stack, wrappers);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->name, "cpp_fused_embedding_0");
  EXPECT_TRUE(kernel->is_openmp_body);
  EXPECT_FALSE(call_on(stack, wrappers));
}

TEST_F(CallTest, IsNotSeenInAProgramsOwnFunctionOfThatName) {
  stack.frames[0].frame.pc = 0x400010;
  stack.frames.erase(stack.frames.begin() + 1, stack.frames.begin() + 3);
  EXPECT_FALSE(find_kernel(stack, wrappers));
  EXPECT_FALSE(call_on(stack, wrappers));
}

TEST_F(CallTest, FindsItsContainerInARegisterOrOnTheStack) {
  EXPECT_FALSE(container());
  put(2, 0x40, image->container);
  const auto on_stack = container();
  ASSERT_TRUE(on_stack) << on_stack.error().what;
  EXPECT_EQ(on_stack->at, image->container);
  put(2, 0x40, 0);
  stack.frames[2].frame.registers.set(1, image->container);
  EXPECT_TRUE(container());
}

TEST_F(CallTest, DoesNotTakeAnotherPackagesContainer) {
  const ModelImage other(target, *newest_layout(), embedding(), 0x7f0100000000);
  wrappers = find_wrappers(target, libtorch.layout);
  put(2, 0x40, other.container);
  EXPECT_FALSE(container());
  put(2, 0x48, image->container);
  const auto found = container();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, image->container);
}

TEST_F(CallTest, KnowsItsModelFromTheStack) {
  put(2, 0x40, image->container);
  const auto call = call_on(stack, wrappers);
  EXPECT_FALSE(model_of(target, *container(), *call, stack));
  put(1, 0x80, image->models[0]);
  EXPECT_EQ(model_of(target, *container(), *call, stack), 0U);
}

TEST_F(CallTest, TakesInputsFromTheCallersVector) {
  put(2, 0x40, image->container);
  put_vector(0x20, {input(0).impl, input(1).impl});
  const auto found = tensors();
  ASSERT_EQ(found.inputs.size(), 2U);
  ASSERT_TRUE(found.inputs[0].tensor);
  EXPECT_EQ(found.inputs[0].name, "arg1_1");
  EXPECT_EQ(found.inputs[0].tensor->impl, input(0).impl);
  EXPECT_FALSE(found.inputs[0].name_assumed);
  EXPECT_EQ(found.inputs[1].tensor->impl, input(1).impl);
}

TEST_F(CallTest, PrefersTheVectorWhoseTensorsRunImplHoldsToo) {
  put(2, 0x40, image->container);
  ImageTensor other{.name = "other", .shape = {4}};
  image->write_tensor(other);
  put_vector(0x20, {other.impl, other.impl});  // of another call
  put_vector(0x60, {input(0).impl, input(1).impl});
  put_handle(0x80, input(0).handle);
  const auto found = tensors();
  ASSERT_TRUE(found.inputs[0].tensor);
  EXPECT_EQ(found.inputs[0].tensor->impl, input(0).impl);
}

TEST_F(CallTest, BelievesNeitherOfTwoVectorsThatNothingTellsApart) {
  put(2, 0x40, image->container);
  ImageTensor other{.name = "other", .shape = {4}};
  image->write_tensor(other);
  put_vector(0x20, {other.impl, other.impl});
  put_vector(0x60, {input(0).impl, input(1).impl});
  const auto found = tensors();
  EXPECT_FALSE(found.inputs[0].tensor);
  EXPECT_EQ(found.inputs[0].problem, "several vectors of the caller may be the inputs");
}

TEST_F(CallTest, OnlyAssumesNamesFromTheOrderOfHandles) {
  put(2, 0x40, image->container);
  put_handle(0xa0, input(0).handle);
  put_handle(0x80, input(1).handle);
  const auto found = tensors();
  ASSERT_TRUE(found.inputs[0].tensor);
  EXPECT_EQ(found.inputs[0].tensor->impl, input(0).impl);
  EXPECT_TRUE(found.inputs[0].name_assumed);
}

TEST_F(CallTest, CountsHandlesThatHoldNoInputAsBuffers) {
  put(2, 0x40, image->container);
  ImageTensor buffer{.name = "buf0", .shape = {8, 64}};
  const Address handle = image->write_tensor(buffer);
  put_vector(0x20, {input(0).impl, input(1).impl});
  put_handle(0xa0, handle);
  put_handle(0x80, input(1).handle);
  put_handle(0x60, 0);  // released
  const auto found = tensors();
  ASSERT_EQ(found.buffers.size(), 1U);
  EXPECT_EQ(found.buffers[0].impl, buffer.impl);
}

TEST_F(CallTest, IsKnownByItsWrapperAloneWhereSymbolsAreGone) {
  Wrapper inferred = infer_wrapper(*wrappers[0].module, image->run, libtorch.layout);
  wrappers = {inferred};
  for (NamedFrame& frame : stack.frames) frame.symbol.reset();
  const auto call = call_on(stack, wrappers);
  ASSERT_TRUE(call);
  EXPECT_FALSE(call->run_impl);
  EXPECT_EQ(call->entry, 2U);
  put(2, 0x40, image->container);
  const auto found = container();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_TRUE(found->wrapper->assumed);
}

}  // namespace
}  // namespace aotidbg
