// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/tensor.h"

#include <gtest/gtest.h>

#include "common/torch/residency.h"
#include "tests/support/model_image.h"

namespace aotidbg {
namespace {

constexpr std::string_view kTensor = "c10::TensorImpl";
constexpr std::string_view kShape = "c10::impl::SizesAndStrides";

class TensorTest : public testing::Test {
 protected:
  TensorTest() : libtorch_image(make_libtorch(target)) {
    image.emplace(target, *newest_layout(),
                  ModelImageOptions{.inputs = {{.name = "x", .shape = {4, 8}}}});
    libtorch = recognise_libtorch(target);
  }
  Result<Tensor> read(Address handle) { return read_tensor_handle(target, libtorch, handle); }
  Address impl() const { return image->options.inputs[0].impl; }
  Address handle() const { return image->options.inputs[0].handle; }

  FakeTarget target;
  LibtorchImage libtorch_image;
  std::optional<ModelImage> image;
  Libtorch libtorch;
};

TEST_F(TensorTest, ReadsMetadataAndStorage) {
  const auto tensor = read(handle());
  ASSERT_TRUE(tensor) << tensor.error().what;
  EXPECT_EQ(tensor->dtype, "float32");
  EXPECT_EQ(tensor->sizes, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(tensor->strides, (std::vector<std::int64_t>{8, 1}));
  EXPECT_EQ(tensor->storage_bytes, 128U);
  EXPECT_EQ(tensor->data(), image->options.inputs[0].data);
  EXPECT_EQ(tensor->extent(), 128U);
}

TEST_F(TensorTest, ReadsMoreDimensionsThanFitInline) {
  ImageTensor many{.name = "many", .dtype = "Half", .shape = {1, 2, 1, 2, 1, 2, 3}};
  const auto tensor = read(image->write_tensor(many));
  ASSERT_TRUE(tensor) << tensor.error().what;
  EXPECT_EQ(tensor->sizes, many.shape);
  EXPECT_EQ(tensor->strides, many.stride);
  EXPECT_EQ(tensor->dtype, "float16");
}

TEST_F(TensorTest, ReadsAScalarAndAnEmptyTensor) {
  ImageTensor scalar{.name = "scalar", .dtype = "Double"};
  ImageTensor empty{.name = "empty", .shape = {0, 3}};
  const auto one = read(image->write_tensor(scalar));
  ASSERT_TRUE(one) << one.error().what;
  EXPECT_EQ(one->elements, 1);
  EXPECT_EQ(one->extent(), 8U);
  const auto none = read(image->write_tensor(empty));
  ASSERT_TRUE(none) << none.error().what;
  EXPECT_EQ(none->extent(), 0U);
}

TEST_F(TensorTest, GivesTheExtentOfAStrideZeroTensorAsWhatItReaches) {
  ImageTensor expanded{.name = "expanded", .shape = {1000, 4}, .stride = {0, 1}};
  const auto tensor = read(image->write_tensor(expanded));
  ASSERT_TRUE(tensor) << tensor.error().what;
  EXPECT_EQ(tensor->extent(), 16U);
}

TEST_F(TensorTest, AddsTheStorageOffset) {
  image->set(kTensor, impl(), "storage_offset_", 3);
  const auto tensor = read(handle());
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->data(), image->options.inputs[0].data + 12);
}

TEST_F(TensorTest, RefusesWhatIsNoTensor) {
  const struct {
    std::string_view member;
    std::uint64_t value;
  } wrong[] = {{"vptr", 0x41414141},       {"combined_refcount_", 0}, {"numel_", 33},
               {"storage_offset_", ~0ULL}, {"data_type_", 250},       {"storage_", 0x10}};
  for (const auto& [member, value] : wrong) {
    const auto original =
        target.read_value<std::uint64_t>(image->address_of(kTensor, impl(), member));
    image->set(kTensor, impl(), member, value);
    EXPECT_FALSE(read(handle())) << member;
    target.poke(image->address_of(kTensor, impl(), member), *original);
    ASSERT_TRUE(read(handle())) << member;
  }
}

TEST_F(TensorTest, RefusesAbsurdDimensionCountsAndSizes) {
  const Address shape = image->address_of(kTensor, impl(), "sizes_and_strides_");
  image->set(kShape, shape, "size_", 1ULL << 60);
  EXPECT_FALSE(read(handle()));
  image->set(kShape, shape, "size_", 2);
  target.poke(image->address_of(kShape, shape, "inlineStorage_"), std::int64_t{-1});
  EXPECT_FALSE(read(handle()));
}

TEST_F(TensorTest, RefusesNullMisalignedAndUnmappedHandles) {
  EXPECT_FALSE(read(0));
  EXPECT_FALSE(read(0x10));
  EXPECT_FALSE(read_tensor_impl(target, libtorch, impl() + 4));
}

TEST_F(TensorTest, NamesElementTypesAsPythonDoes) {
  const Layout& layout = *newest_layout();
  EXPECT_EQ(dtype_name(layout, 15), "bfloat16");
  EXPECT_EQ(dtype_name(layout, 11), "bool");
  EXPECT_EQ(dtype_name(layout, 24), "float8_e4m3fn");
  EXPECT_EQ(dtype_name(layout, 999), "");
}

TEST_F(TensorTest, NamesDevices) {
  const Layout& layout = *newest_layout();
  EXPECT_EQ(device_name(layout, 0, -1), "cpu");
  EXPECT_EQ(device_name(layout, 1, 0), "cuda:0");
}

TEST(Residency, TellsHeapFileGuardAndNothing) {
  FakeTarget target;
  target.map(0x10000, 0x1000, "rw-", "[heap]");
  target.map(0x20000, 0x1000, "r--", "/data/weights.blob");
  target.map(0x30000, 0x1000, "---");
  EXPECT_EQ(place_of(target, 0x10010).where, "heap");
  EXPECT_EQ(place_of(target, 0x20010).kind, Place::Kind::file);
  EXPECT_EQ(place_of(target, 0x20010).where, "weights.blob");
  EXPECT_EQ(place_of(target, 0x30010).kind, Place::Kind::guard);
  EXPECT_EQ(place_of(target, 0x40000).kind, Place::Kind::unmapped);
  EXPECT_EQ(place_of(target, 0).kind, Place::Kind::null);
  EXPECT_TRUE(is_readable(target, 0x10000, 0x1000));
  EXPECT_FALSE(is_readable(target, 0x10000, 0x1001));
  EXPECT_FALSE(is_readable(target, 0x30000, 1));
  EXPECT_FALSE(is_readable(target, ~0ULL - 4, 100));
}

}  // namespace
}  // namespace aotidbg
