// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/layout.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace aotidbg {
namespace {

// A version with two classes, of which one differs between variants.
constexpr std::string_view kSmall = R"({
  "torch_version": "9.1.0",
  "classes": {
    "c10::TensorImpl": {"header": "c10/core/TensorImpl.h", "size": 32, "members": {
      "numel_": {"offset": 8, "size": 8, "type": "int64_t"},
      "vptr": {"offset": 0, "size": 8, "type": "void**"},
      "is_contiguous_": {"offset": 16, "size": 1, "bit_offset": 0, "bit_width": 1, "type": "bool"},
      "policy_": {"offset": 16, "size": 1, "bit_offset": 5, "bit_width": 2, "type": "uint8_t"}
    }}
  },
  "variants": {
    "cpu": {"macros": [], "classes": {
      "Model": {"header": "model.h", "size": 16, "members": {
        "kernels_": {"offset": 8, "size": 8, "type": "Kernels*"}
      }}
    }},
    "cuda": {"macros": ["USE_CUDA"], "classes": {
      "Model": {"header": "model.h", "size": 24, "members": {
        "kernels_": {"offset": 16, "size": 8, "type": "Kernels*"}
      }}
    }}
  },
  "enums": {
    "c10::ScalarType": {"header": "ScalarType.h", "values": {"Byte": 0, "Float": 6, "Undefined": 7}}
  },
  "scalar_type_sizes": {"Byte": 1, "Float": 4}
})";

Layout small_layout() {
  auto layout = Layout::parse(kSmall);
  EXPECT_TRUE(layout.has_value()) << layout.error().what;
  return std::move(*layout);
}

// kSmall with the first `from` replaced: what parse says about it, empty if it takes the text.
std::string complaint_after(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto layout = Layout::parse(text);
  return layout ? std::string() : layout.error().what;
}

TEST(Layout, FindsAMemberByClassAndName) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.torch_version(), "9.1.0");
  const ClassLayout& tensor = layout.at("c10::TensorImpl");
  EXPECT_TRUE(tensor.present());
  EXPECT_EQ(tensor.size, 32U);
  EXPECT_EQ(tensor.header, "c10/core/TensorImpl.h");
  EXPECT_EQ(tensor.find("numel_"), (Member{8, 8, 0, 0}));
  EXPECT_EQ(tensor.type_of("numel_"), "int64_t");
}

TEST(Layout, ListsMembersByOffset) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.at("c10::TensorImpl").member_names(),
            (std::vector<std::string_view>{"vptr", "numel_", "is_contiguous_", "policy_"}));
}

TEST(Layout, AMemberThatTheVersionLacksIsAbsentNotAtZero) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.at("c10::TensorImpl").find("storage_"), std::nullopt);
  EXPECT_EQ(layout.at("c10::TensorImpl").type_of("storage_"), std::nullopt);
  const auto required = layout.require_member("c10::TensorImpl", "storage_");
  ASSERT_FALSE(required.has_value());
  EXPECT_EQ(required.error().what, "c10::TensorImpl has no member storage_ in torch 9.1.0");
}

TEST(Layout, AClassThatTheVersionLacksReadsAsEmpty) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.find("c10::StorageImpl"), nullptr);
  EXPECT_FALSE(layout.at("c10::StorageImpl").present());
  EXPECT_EQ(layout.at("c10::StorageImpl").find("data_ptr_"), std::nullopt);
  const auto required = layout.require("c10::StorageImpl", "cpu");
  ASSERT_FALSE(required.has_value());
  EXPECT_EQ(required.error().what,
            "the layouts of torch 9.1.0 (variant cpu) have no c10::StorageImpl");
}

TEST(Layout, TakesTheNewestOfSeveralNames) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.at("c10::TensorImpl").find_any({"element_count_", "numel_", "vptr"}),
            (Member{8, 8, 0, 0}));
  EXPECT_EQ(layout.at("c10::TensorImpl").find_any({"element_count_"}), std::nullopt);
}

TEST(Layout, AVariantHasItsOwnClassAndTheCommonOnes) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.variants(), (std::vector<std::string_view>{"cpu", "cuda"}));
  EXPECT_EQ(layout.require_member("Model", "kernels_", "cpu")->offset, 8U);
  EXPECT_EQ(layout.require_member("Model", "kernels_", "cuda")->offset, 16U);
  EXPECT_EQ(layout.find("c10::TensorImpl", "cuda"), layout.find("c10::TensorImpl"));
}

TEST(Layout, AClassThatDiffersBetweenVariantsHasNoDefault) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.find("Model"), nullptr);
  EXPECT_FALSE(layout.has_variant("xpu"));
  EXPECT_EQ(layout.find("Model", "xpu"), nullptr);
  EXPECT_NE(layout.find("c10::TensorImpl", "xpu"), nullptr);
}

TEST(Layout, TakesTheBitsOfABitField) {
  const Layout layout = small_layout();
  const auto policy = layout.at("c10::TensorImpl").find("policy_");
  ASSERT_TRUE(policy && policy->is_bit_field());
  EXPECT_EQ(policy->bits_of(0b1101'1111), 0b10U);
  EXPECT_EQ(policy->bits_of(0b0010'0000), 0b01U);
  EXPECT_EQ(layout.at("c10::TensorImpl").find("is_contiguous_")->bits_of(0b1111'1110), 0U);
}

TEST(Layout, ANumberThatIsNoEnumeratorHasNoName) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.enum_name("c10::ScalarType", 6), "Float");
  EXPECT_EQ(layout.enum_name("c10::ScalarType", 99), std::nullopt);
  EXPECT_EQ(layout.enum_name("c10::Layout", 0), std::nullopt);
  EXPECT_EQ(layout.enum_value("c10::ScalarType", "Byte"), 0);
  EXPECT_EQ(layout.enum_value("c10::ScalarType", "Double"), std::nullopt);
}

TEST(Layout, OnlyElementTypesHaveASize) {
  const Layout layout = small_layout();
  EXPECT_EQ(layout.scalar_type_size(6), 4U);
  EXPECT_EQ(layout.scalar_type_size(7), std::nullopt);
  EXPECT_EQ(layout.scalar_type_size(-1), std::nullopt);
}

TEST(Layout, StaysValidWhenItIsMoved) {
  Layout layout = small_layout();
  const ClassLayout* before = layout.find("c10::TensorImpl");
  const Layout moved = std::move(layout);
  EXPECT_EQ(moved.find("c10::TensorImpl"), before);
  EXPECT_EQ(before->type_of("numel_"), "int64_t");
}

TEST(LayoutText, RefusesWhatIsNotJson) {
  for (const std::string_view text : {"", "{", "[]", "null", "{\"torch_version\": }"}) {
    const auto layout = Layout::parse(text);
    ASSERT_FALSE(layout.has_value()) << text;
    EXPECT_EQ(layout.error().what, "layout table is malformed: it is not JSON") << text;
    EXPECT_FALSE(layout.error().fix.empty());
  }
}

TEST(LayoutText, RefusesATextThatIsCutShort) {
  for (std::size_t length = 0; length < kSmall.size(); length += 7) {
    EXPECT_FALSE(Layout::parse(kSmall.substr(0, length)).has_value()) << length;
  }
}

TEST(LayoutText, NamesWhatIsMissing) {
  EXPECT_EQ(complaint_after("\"torch_version\"", "\"version\""),
            "layout table is malformed: it names no torch version");
  EXPECT_EQ(complaint_after("\"classes\"", "\"types\""),
            "layout table is malformed: it has no classes");
  EXPECT_EQ(complaint_after("\"size\": 32, ", ""),
            "layout table is malformed: c10::TensorImpl needs a size and members");
  EXPECT_EQ(complaint_after("\"cpu\": {\"macros\": [], \"classes\"", "\"cpu\": {\"types\""),
            "layout table is malformed: variant cpu needs classes");
  EXPECT_EQ(complaint_after("\"values\"", "\"names\""),
            "layout table is malformed: c10::ScalarType needs values");
}

TEST(LayoutText, NamesTheMemberOfAWrongType) {
  const std::string numel =
      "layout table is malformed: c10::TensorImpl::numel_ does not lie inside its class";
  for (const std::string_view bad :
       {"\"8\"", "-8", "8.5", "null", "25", "18446744073709551615", "4294967304"}) {
    EXPECT_EQ(complaint_after("\"offset\": 8, \"size\": 8, \"type\": \"int64_t\"",
                              "\"size\": 8, \"offset\": " + std::string(bad)),
              numel)
        << bad;
  }
  EXPECT_EQ(complaint_after("{\"offset\": 8, \"size\": 8, \"type\": \"int64_t\"}", "8"), numel);
}

TEST(LayoutText, RefusesBitsOutsideTheirBytes) {
  const std::string policy =
      "layout table is malformed: c10::TensorImpl::policy_ does not lie inside its class";
  EXPECT_EQ(
      complaint_after("\"bit_offset\": 5, \"bit_width\": 2", "\"bit_offset\": 7, \"bit_width\": 2"),
      policy);
  EXPECT_EQ(
      complaint_after("\"bit_offset\": 5, \"bit_width\": 2", "\"bit_offset\": 5, \"bit_width\": 0"),
      policy);
  EXPECT_EQ(complaint_after("\"bit_offset\": 5, \"bit_width\": 2", "\"bit_offset\": 5"), policy);
}

TEST(LayoutText, RefusesAClassWithoutASize) {
  for (const std::string_view bad : {"0", "-1", "\"32\"", "1e9", "99999999999"}) {
    EXPECT_EQ(complaint_after("\"size\": 32", "\"size\": " + std::string(bad)),
              "layout table is malformed: c10::TensorImpl needs a size and members")
        << bad;
  }
}

TEST(LayoutText, RefusesAScalarTypeWithoutAValueOrSize) {
  const auto complaint = [](std::string_view name) {
    return "layout table is malformed: scalar type " + std::string(name) +
           " needs a value and a size";
  };
  EXPECT_EQ(complaint_after("\"Float\": 4", "\"Double\": 8"), complaint("Double"));
  EXPECT_EQ(complaint_after("\"Float\": 4", "\"Float\": 0"), complaint("Float"));
  EXPECT_EQ(complaint_after("\"Float\": 6", "\"Float\": 6.5"),
            "layout table is malformed: c10::ScalarType::Float needs a whole number");
}

TEST(LayoutText, AVersionMayHaveNeitherVariantsNorEnums) {
  const auto layout = Layout::parse(R"({"torch_version": "9.1.0", "classes": {}})");
  ASSERT_TRUE(layout.has_value());
  EXPECT_TRUE(layout->variants().empty());
  EXPECT_EQ(layout->find_enum("c10::ScalarType"), nullptr);
}

TEST(EmbeddedLayouts, AllCanBeReadAndNameTheirVersion) {
  ASSERT_FALSE(embedded_layouts().empty());
  for (const EmbeddedLayout& embedded : embedded_layouts()) {
    const auto layout = Layout::parse(embedded.json);
    ASSERT_TRUE(layout.has_value()) << embedded.torch_version << ": " << layout.error().what;
    EXPECT_EQ(layout->torch_version(), embedded.torch_version);
    EXPECT_TRUE(layout->at("c10::TensorImpl").present()) << embedded.torch_version;
    EXPECT_TRUE(layout->has_variant("cpu") && layout->has_variant("cuda"))
        << embedded.torch_version;
  }
}

TEST(EmbeddedLayouts, AreFoundWithAndWithoutABuildSuffix) {
  const EmbeddedLayout* plain = find_embedded_layout("2.13.0");
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(find_embedded_layout("2.13.0+cpu"), plain);
  EXPECT_EQ(find_embedded_layout("2.13"), nullptr);
  EXPECT_EQ(find_embedded_layout("2.13.01"), nullptr);
  EXPECT_EQ(find_embedded_layout(""), nullptr);
}

// Values that were not read from layouts/: offsetof and sizeof, printed by a small program that was
// compiled (g++ 12, -fno-access-control) against the headers of the torch 2.13.0 wheel; of the mmap
// variants, the same plus the one pointer that the macro adds before cubin_dir_. 696 and 312 are
// also what a package that 2.13.0 compiled passes to operator new and delete (disassembly of
// AOTInductorModelContainerCreateWithDevice and AOTInductorModelDelete).
class Torch213 : public testing::Test {
 protected:
  void SetUp() override {
    const EmbeddedLayout* embedded = find_embedded_layout("2.13.0");
    ASSERT_NE(embedded, nullptr);
    auto layout = Layout::parse(embedded->json);
    ASSERT_TRUE(layout.has_value()) << layout.error().what;
    layout_ = std::move(*layout);
  }

  // Offset of a member, or -1.
  std::int64_t offset(std::string_view type, std::string_view member,
                      std::string_view variant = {}) const {
    const auto found = layout_.at(type, variant).find(member);
    return found ? std::int64_t{found->offset} : -1;
  }

  Layout layout_;
};

TEST_F(Torch213, Container) {
  const std::string_view container = "torch::aot_inductor::AOTInductorModelContainer";
  EXPECT_EQ(layout_.at(container).size, 696U);
  EXPECT_EQ(offset(container, "buffers_"), 64);
  EXPECT_EQ(offset(container, "active_idx_"), 304);
  EXPECT_EQ(offset(container, "models_"), 376);
  EXPECT_EQ(offset(container, "pending_models_"), 424);
  EXPECT_EQ(offset(container, "model_exec_mutex_"), 640);
  EXPECT_EQ(offset(container, "constant_blob_"), -1);  // until 2.12
  EXPECT_EQ(layout_.at("torch::aot_inductor::ConstantBufferSet").size, 120U);
  EXPECT_EQ(offset("torch::aot_inductor::ConstantBufferSet", "fold_state"), 112);
}

TEST_F(Torch213, ModelOfEachVariant) {
  const std::string_view model = "torch::aot_inductor::AOTInductorModel";
  struct Expected {
    std::string_view variant;
    std::size_t size;
    std::int64_t cubin_dir, run_finished, device_type, kernels;
  };
  for (const Expected& expected :
       {Expected{"cpu", 312, 248, 289, 292, 304}, Expected{"cuda", 328, 248, 296, 312, 320},
        Expected{"cpu_mmap_self", 320, 256, 297, 300, 312},
        Expected{"cpu_mmap_external", 320, 256, 297, 300, 312},
        Expected{"cuda_mmap_self", 336, 256, 304, 320, 328},
        Expected{"cuda_mmap_external", 336, 256, 304, 320, 328}}) {
    EXPECT_EQ(layout_.at(model, expected.variant).size, expected.size) << expected.variant;
    EXPECT_EQ(offset(model, "cubin_dir_", expected.variant), expected.cubin_dir);
    EXPECT_EQ(offset(model, "run_finished_", expected.variant), expected.run_finished);
    EXPECT_EQ(offset(model, "device_type_", expected.variant), expected.device_type);
    EXPECT_EQ(offset(model, "kernels_", expected.variant), expected.kernels);
  }
  EXPECT_EQ(layout_.at("torch::aot_inductor::AOTInductorModelKernelsBase", "cpu").size, 8U);
  EXPECT_EQ(layout_.at("torch::aot_inductor::AOTInductorModelKernelsBase", "cuda").size, 32U);
}

TEST_F(Torch213, Constants) {
  const std::string_view info = "torch::aot_inductor::AOTInductorModelBase::ConstInfo";
  EXPECT_EQ(layout_.at(info).size, 136U);
  EXPECT_EQ(offset(info, "device_type"), 60);
  EXPECT_EQ(offset(info, "original_fqn"), 120);
  EXPECT_EQ(offset(info, "type"), 132);
  EXPECT_EQ(offset("torch::aot_inductor::ConstantMap::node", "value"), 40);
  EXPECT_EQ(offset("torch::aot_inductor::ConstantMap::node", "hash"), 64);
  EXPECT_EQ(offset("torch::aot_inductor::ConstantHandle", "data_"), 8);
  EXPECT_EQ(layout_.enum_name("torch::aot_inductor::ConstantType", 4), "FoldedConstant");
  EXPECT_EQ(layout_.enum_name("torch::aot_inductor::ConstantState", 2), "FOLDED");
}

TEST_F(Torch213, TensorAndStorage) {
  const ClassLayout& tensor = layout_.at("c10::TensorImpl");
  EXPECT_EQ(tensor.size, 176U);
  EXPECT_EQ(tensor.find("storage_"), (Member{16, 8, 0, 0}));
  EXPECT_EQ(tensor.find("sizes_and_strides_"), (Member{56, 88, 0, 0}));
  EXPECT_EQ(tensor.find("storage_offset_"), (Member{144, 8, 0, 0}));
  EXPECT_EQ(tensor.find("data_type_"), (Member{160, 2, 0, 0}));
  EXPECT_EQ(tensor.find("is_contiguous_"), (Member{165, 1, 0, 1}));
  EXPECT_EQ(tensor.find("custom_sizes_strides_"), (Member{166, 1, 5, 2}));
  EXPECT_EQ(layout_.at("c10::StorageImpl").size, 96U);
  EXPECT_EQ(offset("c10::StorageImpl", "size_bytes_"), 48);
  EXPECT_EQ(offset("c10::StorageImpl", "allocator_"), 72);
  EXPECT_EQ(offset("c10::DataPtr", "device_"), 24);
  EXPECT_EQ(layout_.enum_name("c10::ScalarType", 15), "BFloat16");
  EXPECT_EQ(layout_.scalar_type_size(15), 2U);
  EXPECT_EQ(layout_.enum_name("c10::DeviceType", 20), "PrivateUse1");
  EXPECT_EQ(layout_.enum_name("c10::Layout", 7), "Jagged");
}

TEST_F(Torch213, RunnerAndLoader) {
  const std::string_view runner = "torch::inductor::AOTIModelContainerRunner";
  EXPECT_EQ(layout_.at(runner).size, 200U);
  EXPECT_EQ(offset(runner, "model_so_"), 8);
  EXPECT_EQ(offset(runner, "run_func_"), 40);
  EXPECT_EQ(offset(runner, "container_handle_"), 176);
  EXPECT_EQ(layout_.at("torch::inductor::AOTIModelPackageLoader").size, 104U);
  EXPECT_EQ(offset("torch::inductor::AOTIModelPackageLoader", "runner_"), 32);
  EXPECT_EQ(offset("at::DynamicLibrary", "handle"), 8);
}

// The C++ library of this test lays its containers out as the one that torch was built with
// (libstdc++'s ABI), so the objects of this process can be asked.
TEST_F(Torch213, LibraryContainersAreTheseOnes) {
  const std::string text(100, 'x');
  const auto word_at = [](const void* object, std::int64_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(object) + at, sizeof word);
    return word;
  };
  const auto address = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  };
  EXPECT_EQ(word_at(&text, offset("std::string", "data")), address(text.data()));
  EXPECT_EQ(word_at(&text, offset("std::string", "size")), 100U);

  const std::vector<int> vector(3);
  EXPECT_EQ(word_at(&vector, offset("std::vector", "begin")), address(vector.data()));
  EXPECT_EQ(word_at(&vector, offset("std::vector", "end")), address(vector.data() + 3));

  const auto shared = std::make_shared<std::string>("x");
  EXPECT_EQ(word_at(&shared, offset("std::shared_ptr", "pointer")), address(shared.get()));
  EXPECT_EQ(word_at(&shared, offset("std::shared_ptr", "control")) +
                static_cast<std::uint64_t>(offset("std::shared_ptr::inplace_control", "object")),
            address(shared.get()));

  int owned = 0;
  const std::unique_ptr<void, std::function<void(void*)>> blob(&owned, [](void*) {});
  EXPECT_EQ(word_at(&blob, offset("std::unique_ptr<T, std::function>", "pointer")),
            address(&owned));

  const std::unordered_map<std::string, std::string> map = {{"key", "value"}};
  const auto node = word_at(&map, offset("std::unordered_map", "first_node"));
  EXPECT_EQ(word_at(&map, offset("std::unordered_map", "element_count")), 1U);
  const std::string_view node_class = "std::unordered_map<std::string, std::string>::node";
  EXPECT_EQ(node + static_cast<std::uint64_t>(offset(node_class, "key")),
            address(&map.begin()->first));
  EXPECT_EQ(node + static_cast<std::uint64_t>(offset(node_class, "value")),
            address(&map.begin()->second));

  std::deque<int> deque(1, owned);
  const auto start = offset("std::deque", "start");
  EXPECT_EQ(word_at(&deque, start + offset("std::deque::iterator", "cur")),
            address(&deque.front()));
}

}  // namespace
}  // namespace aotidbg
