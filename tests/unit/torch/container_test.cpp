// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/container.h"

#include <gtest/gtest.h>

#include <span>

#include "common/torch/runner.h"
#include "tests/support/model_image.h"

namespace aotidbg {
namespace {

constexpr std::string_view kContainer = "torch::aot_inductor::AOTInductorModelContainer";
constexpr std::string_view kModel = "torch::aot_inductor::AOTInductorModel";
constexpr std::string_view kConstInfo = "torch::aot_inductor::AOTInductorModelBase::ConstInfo";
constexpr std::string_view kRunner = "torch::inductor::AOTIModelContainerRunner";

ModelImageOptions two_constants() {
  ModelImageOptions options;
  options.constants = {{.name = "emb_weight", .fqn = "emb.weight", .shape = {1000, 64}},
                       {.name = "scale", .fqn = "scale", .shape = {1}}};
  options.inputs = {{.name = "arg2_1", .dtype = "Long", .shape = {8}},
                    {.name = "arg3_1", .shape = {8, 64}}};
  return options;
}

class ContainerTest : public testing::TestWithParam<std::string> {
 protected:
  ContainerTest() { make_libtorch(target); }

  // The image of GetParam()'s variant, and what recognises it.
  ModelImage& make(ModelImageOptions options = two_constants()) {
    options.variant = GetParam();
    image.emplace(target, *newest_layout(), std::move(options));
    libtorch = recognise_libtorch(target);
    wrappers = find_wrappers(target, libtorch.layout);
    return *image;
  }
  Result<Container> read() { return read_container(target, wrappers, image->container); }

  FakeTarget target;
  std::optional<ModelImage> image;
  Libtorch libtorch;
  std::vector<Wrapper> wrappers;
};

// The stream type says cpu for every image, so only its variants are told apart here.
INSTANTIATE_TEST_SUITE_P(Variants, ContainerTest,
                         testing::Values("cpu", "cpu_mmap_self", "cpu_mmap_external"),
                         [](const auto& variant) { return variant.param; });

TEST_P(ContainerTest, RecognisesTheRunningTorchByItsCode) {
  make();
  EXPECT_EQ(libtorch.version, "2.13.0");
  EXPECT_FALSE(libtorch.assumed);
}

TEST_P(ContainerTest, RecognisesTheWrappersLayoutByTheSizeItDeletes) {
  make();
  ASSERT_EQ(wrappers.size(), 1U);
  EXPECT_FALSE(wrappers[0].assumed);
  EXPECT_EQ(wrappers[0].compiled_for, "cpu");
  EXPECT_EQ(wrappers[0].delete_tensor, image->delete_tensor);
}

TEST_P(ContainerTest, DecodesModelsPoolsAndNames) {
  auto options = two_constants();
  options.models = 3;
  options.running = 1;
  make(options);
  const auto container = read();
  ASSERT_TRUE(container) << container.error().what;
  EXPECT_EQ(container->models.size(), 3U);
  EXPECT_EQ(container->count(Model::Use::running), 1U);
  EXPECT_EQ(container->count(Model::Use::idle), 2U);
  EXPECT_EQ(container->input_names, (std::vector<std::string>{"arg2_1", "arg3_1"}));
  EXPECT_EQ(container->buffers[0].fold_state, "folded");
}

TEST_P(ContainerTest, DecodesConstantsWithTheirTensors) {
  make();
  const auto container = read();
  ASSERT_TRUE(container) << container.error().what;
  const auto constants = read_constants(target, libtorch, *container, 0);
  ASSERT_TRUE(constants) << constants.error().what;
  ASSERT_EQ(constants->size(), 2U);
  const Constant& weight = (*constants)[0];
  EXPECT_EQ(weight.name, "emb_weight");
  EXPECT_EQ(weight.fqn, "emb.weight");
  EXPECT_EQ(weight.dtype, "float32");
  EXPECT_EQ(weight.shape, (std::vector<std::int64_t>{1000, 64}));
  EXPECT_EQ(weight.bytes, 256000U);
  EXPECT_EQ(weight.kind, "parameter");
  EXPECT_EQ(weight.data, image->options.constants[0].data);
  ASSERT_TRUE(weight.tensor);
  EXPECT_EQ(weight.tensor->sizes, weight.shape);
  EXPECT_EQ(weight.tensor->device, "cpu");
}

TEST_P(ContainerTest, LeavesAConstantThatWasNeverLoadedWithoutHandle) {
  auto options = two_constants();
  options.constants[1].loaded = false;
  make(options);
  const auto container = read();
  ASSERT_TRUE(container) << container.error().what;
  const auto constants = read_constants(target, libtorch, *container, 0);
  ASSERT_TRUE(constants);
  EXPECT_NE((*constants)[0].handle, 0U);
  EXPECT_EQ((*constants)[1].handle, 0U);
  EXPECT_FALSE((*constants)[1].tensor);
}

TEST_P(ContainerTest, RefusesAContainerWhoseSpecsAreNotItsModels) {
  ModelImage& model = make();
  model.set(kContainer, model.container, "in_spec_", 0x1234);
  EXPECT_FALSE(read());
}

TEST_P(ContainerTest, RefusesAFreedModelWhoseKernelsAreGone) {
  ModelImage& model = make();
  model.set(kModel, model.models[0], "kernels_", 0);
  EXPECT_FALSE(read());
}

TEST_P(ContainerTest, RefusesKernelsWithTheVtableOfAnotherModule) {
  ModelImage& model = make();
  const Address kernels = model.allocate(16);
  target.poke(kernels, Address{0x7e0000008010});
  model.set(kModel, model.models[0], "kernels_", kernels);
  EXPECT_FALSE(read());
}

TEST_P(ContainerTest, RefusesAPoolWithAModelOfSomebodyElse) {
  auto options = two_constants();
  options.running = 0;
  ModelImage& model = make(options);
  const Address list = model.allocate(8);
  target.poke(list, model.container);
  const Address pool = model.address_of(kContainer, model.container, "available_models_");
  model.set("std::vector", pool, "begin", list);
  model.set("std::vector", pool, "end", list + 8);
  model.set("std::vector", pool, "end_of_storage", list + 8);
  EXPECT_FALSE(read());
}

TEST_P(ContainerTest, RefusesHugeAndBackwardVectors) {
  ModelImage& model = make();
  const Address models = model.address_of(kContainer, model.container, "models_");
  model.set("std::vector", models, "end", ~0ULL & ~7ULL);
  model.set("std::vector", models, "end_of_storage", ~0ULL & ~7ULL);
  EXPECT_FALSE(read());
  model.set("std::vector", models, "end", 8);
  EXPECT_FALSE(read());
}

TEST_P(ContainerTest, RefusesADequeWhoseNodesRunBackwards) {
  ModelImage& model = make();
  const Address deque = model.address_of(kContainer, model.container, "pending_models_");
  const Address finish = model.address_of("std::deque", deque, "finish");
  model.set("std::deque::iterator", finish, "node", 0x10);
  EXPECT_FALSE(read());
}

TEST_P(ContainerTest, RefusesAnActiveBufferThatDoesNotExist) {
  ModelImage& model = make();
  model.set(kContainer, model.container, "active_idx_", 7);
  EXPECT_FALSE(read());
}

TEST_P(ContainerTest, RefusesConstantsWhoseShapeVectorIsTorn) {
  ModelImage& model = make();
  const auto container = read();
  ASSERT_TRUE(container);
  const Address shape = model.address_of(kConstInfo, model.options.constants[0].info, "shape");
  model.set("std::vector", shape, "end", 3);
  EXPECT_FALSE(read_constants(target, libtorch, *container, 0));
}

TEST_P(ContainerTest, SaysWhichPageIsMissing) {
  ModelImage& model = make();
  target.forget(model.models[0], 8);
  const auto container = read();
  ASSERT_FALSE(container);
  EXPECT_FALSE(container.error().what.empty());
}

TEST_P(ContainerTest, KeepsAConstantWhoseTensorIsOverwritten) {
  ModelImage& model = make();
  target.poke(model.options.constants[0].impl, Address{0xdead});
  const auto container = read();
  ASSERT_TRUE(container);
  const auto constants = read_constants(target, libtorch, *container, 0);
  ASSERT_TRUE(constants);
  EXPECT_FALSE((*constants)[0].tensor);
  EXPECT_FALSE((*constants)[0].problem.empty());
}

TEST_P(ContainerTest, FindsTheRunnerByScanningAndOnlyTheLiveOne) {
  ModelImage& model = make();
  // A stale copy: the vtable and a container pointer, but nothing to run.
  const Address stale = model.allocate(512);
  const auto vtable = target.read_pointer(model.runner);
  target.poke(stale, *vtable);
  model.set(kRunner, stale, "container_handle_", model.container);
  const ScanResult scan = scan_for_words(target, libtorch.runner_vtables, 1ULL << 30, {});
  EXPECT_TRUE(scan.complete);
  std::vector<Address> live;
  for (const Address hit : scan.hits) {
    const auto runner = read_runner(target, libtorch, hit);
    if (runner && wrapper_at(wrappers, runner->run) != nullptr) live.push_back(hit);
  }
  EXPECT_EQ(live, std::vector<Address>{model.runner});
}

TEST_P(ContainerTest, StopsAScanAtItsBudgetAndSaysSo) {
  make();
  const ScanResult scan = scan_for_words(target, libtorch.runner_vtables, 4096, {});
  EXPECT_FALSE(scan.complete);
}

TEST_P(ContainerTest, StopsAScanWhenTheUserInterrupts) {
  make();
  target.interrupt_after(1);
  EXPECT_FALSE(scan_for_words(target, libtorch.runner_vtables, 1ULL << 40, {}).complete);
}

TEST(Libtorch, SaysThatAnUnknownVersionIsReadWithAnAssumedLayout) {
  FakeTarget target;
  make_libtorch(target, "9.1.0");
  const Libtorch libtorch = recognise_libtorch(target);
  EXPECT_EQ(libtorch.version, "9.1.0");
  EXPECT_TRUE(libtorch.assumed);
  EXPECT_NE(libtorch.layout, nullptr);
}

TEST(Libtorch, IsAbsentFromAProcessWithoutIt) {
  FakeTarget target;
  const Libtorch libtorch = recognise_libtorch(target);
  EXPECT_EQ(libtorch.cpu, nullptr);
  EXPECT_TRUE(libtorch.version.empty());
  EXPECT_TRUE(libtorch.runner_vtables.empty());
}

}  // namespace
}  // namespace aotidbg
