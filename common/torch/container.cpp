// SPDX-License-Identifier: BSD-3-Clause
#include "common/torch/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "common/target/record.h"
#include "common/torch/object.h"
#include "common/torch/residency.h"

namespace aotidbg {
namespace {

constexpr std::string_view kContainer = "torch::aot_inductor::AOTInductorModelContainer";
constexpr std::string_view kModel = "torch::aot_inductor::AOTInductorModel";
constexpr std::string_view kParamInfo = "torch::aot_inductor::AOTInductorModelBase::ParamInfo";
constexpr std::string_view kConstInfo = "torch::aot_inductor::AOTInductorModelBase::ConstInfo";
constexpr std::string_view kConstantHandle = "torch::aot_inductor::ConstantHandle";
constexpr std::string_view kBlob = "std::unique_ptr<T, std::function>";
constexpr std::uint64_t kMaxModels = 4096;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "TensorConstant" is "tensor_constant", "FOLDED" is "folded".
std::string snake_case(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts_word = std::isupper(static_cast<unsigned char>(name[i])) != 0 && i > 0 &&
                             std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (starts_word) result += '_';
    result += name[i];
  }
  return lower(result);
}

// Everything that reading one container passes around.
struct ContainerReader {
  Memory& memory;
  ObjectReader objects;
  Container& container;

  Result<void> read_names(const Object& object);
  Result<void> read_models(const Object& object);
  Result<void> read_pools(const Object& object);
  Result<void> read_buffers(const Object& object);
  Result<void> check_models_share(const Object& object);
  Result<Model> read_model(Address at) const;
};

template <class T>
tl::unexpected<Error> pass(const Result<T>& failed) {
  return tl::unexpected(failed.error());
}

Result<void> ContainerReader::read_names(const Object& object) {
  auto inputs = objects.strings(object, "input_names_");
  if (!inputs) return pass(inputs);
  auto outputs = objects.strings(object, "output_names_");
  if (!outputs) return pass(outputs);
  container.input_names = std::move(*inputs);
  container.output_names = std::move(*outputs);
  return {};
}

Result<Model> ContainerReader::read_model(Address at) const {
  const auto object = objects.read(kModel, at);
  if (!object) return pass(object);
  const auto kernels = objects.unique_pointer(*object, "kernels_");
  if (!kernels) return pass(kernels);
  const auto vtable = memory.read_pointer(*kernels);
  if (!vtable) return pass(vtable);
  // AOTInductorModelKernels is local to its wrapper, and so is its vtable.
  if (!container.wrapper->module->contains(*vtable)) {
    return fail("no model is here: its kernels are not those of a loaded wrapper", at);
  }
  const auto type = object->signed_number("device_type_");
  const auto index = object->signed_number("device_idx_");
  if (!type || !index) return fail("this layout table cannot read a model's device", at);
  if (!objects.layout().enum_name("c10::DeviceType", *type)) {
    return fail(fmt::format("no model is here: {} is no device type", *type), at);
  }
  Model model;
  // On the CPU it is a bool, set when run() returned (model_base.h); elsewhere an event.
  const auto type_of_finished = object->layout().type_of("run_finished_");
  model.finished = type_of_finished == "bool" && object->number("run_finished_").value_or(0) == 1;
  model.at = at;
  model.kernels = *kernels;
  model.device_type = static_cast<int>(*type);
  model.device_index = static_cast<int>(*index);
  return model;
}

Result<void> ContainerReader::read_models(const Object& object) {
  const auto addresses = objects.pointers(object, "models_");
  if (!addresses) return pass(addresses);
  if (addresses->empty() || addresses->size() > kMaxModels) {
    return fail(fmt::format("no container is here: it has {} models", addresses->size()),
                object.address());
  }
  for (const Address at : *addresses) {
    const auto model = read_model(at);
    if (!model) return pass(model);
    container.models.push_back(*model);
  }
  container.evidence.push_back(fmt::format("kernels of {} model(s) belong to {}",
                                           container.models.size(),
                                           container.wrapper->module->name()));
  // model_container.h: in_spec_ = models_[0]->in_spec_.c_str()
  const auto spec = object.number("in_spec_");
  const auto first = objects.read(kModel, container.models.front().at);
  if (!spec || !first) return fail("this layout table cannot read a container's specs");
  const auto own = objects.part(*first, "in_spec_", "std::string").and_then([](const Object& text) {
    return text.number("data");
  });
  if (!own) return pass(own);
  if (*own != *spec) {
    return fail("no container is here: its specs are not those of its first model",
                object.address());
  }
  container.evidence.emplace_back("its specs are those of its first model");
  return {};
}

Result<void> ContainerReader::read_pools(const Object& object) {
  const auto available = objects.pointers(object, "available_models_");
  if (!available) return pass(available);
  const auto pending = objects.deque_of_pointers(object, "pending_models_");
  if (!pending) return pass(pending);
  const auto is_known = [&](Address at) {
    return std::any_of(container.models.begin(), container.models.end(),
                       [&](const Model& model) { return model.at == at; });
  };
  for (const auto* pool : {&*available, &*pending}) {
    if (!std::all_of(pool->begin(), pool->end(), is_known)) {
      return fail("no container is here: a pool holds a model that is not its own",
                  object.address());
    }
  }
  const auto in = [](const std::vector<Address>& pool, Address at) {
    return std::find(pool.begin(), pool.end(), at) != pool.end();
  };
  for (Model& model : container.models) {
    // A pending model that has finished waits for nothing but to be taken again.
    const bool is_pending = in(*pending, model.at);
    model.use = in(*available, model.at) || (is_pending && model.finished) ? Model::Use::idle
                : is_pending                                               ? Model::Use::pending
                                                                           : Model::Use::running;
  }
  container.evidence.emplace_back("its pools hold models of its own");
  return {};
}

Result<void> ContainerReader::read_buffers(const Object& object) {
  // 2.13 on: two ConstantBufferSets and the index of the active one (pytorch #184781).
  const auto sets = object.address_of("buffers_");
  if (!sets) return pass(sets);
  const auto active = object.signed_number("active_idx_");
  if (!active) return pass(active);
  if (*active != 0 && *active != 1) {
    return fail(fmt::format("no container is here: buffer {} is active", *active),
                object.address());
  }
  container.active_buffer = static_cast<int>(*active);
  const auto set_class = objects.class_layout("torch::aot_inductor::ConstantBufferSet");
  if (!set_class) return pass(set_class);
  for (std::size_t i = 0; i < container.buffers.size(); ++i) {
    const auto set = Object::read(memory, **set_class, *sets + i * (*set_class)->size);
    if (!set) return pass(set);
    ConstantBuffer& buffer = container.buffers[i];
    const auto blob = objects.unique_pointer(*set, "blob", kBlob);
    const auto map = objects.shared_pointer(*set, "map");
    const auto array = objects.shared_pointer(*set, "array");
    const auto state = set->number("fold_state");
    if (!blob || !map || !array || !state) {
      return fail("this layout table cannot read ConstantBufferSet", set->address());
    }
    buffer.blob = *blob;
    buffer.map = *map;
    buffer.array = *array;
    const auto name = objects.layout().enum_name("torch::aot_inductor::ConstantState",
                                                 static_cast<std::int64_t>(*state));
    if (!name) {
      return fail(fmt::format("no container is here: {} is no fold state", *state), set->address());
    }
    buffer.fold_state = lower(std::string(*name));
  }
  container.blob_bytes = object.number("blob_size_").value_or(0);
  return {};
}

Result<void> ContainerReader::check_models_share(const Object& object) {
  const ConstantBuffer& active =
      container.buffers[static_cast<std::size_t>(container.active_buffer)];
  for (const Model& model : container.models) {
    const auto shared = objects.read(kModel, model.at).and_then([&](const Object& found) {
      return objects.shared_pointer(found, "constants_map_");
    });
    if (!shared) return pass(shared);
    if (*shared != active.map) {
      return fail("no container is here: a model uses other constants than its container",
                  object.address());
    }
  }
  container.evidence.emplace_back("its models use its active constants");
  return {};
}

// The wrapper that a container belongs to: names in ParamInfo and ConstInfo point into its
// read-only data.
const Wrapper* wrapper_of(const ObjectReader& objects, std::span<const Wrapper> wrappers,
                          Address container_at) {
  const auto container = objects.read(kContainer, container_at);
  if (!container) return nullptr;
  const auto models = objects.vector(*container, "models_", sizeof(Address));
  if (!models || models->count == 0 || models->count > kMaxModels) return nullptr;
  const auto model_at = objects.memory().read_pointer(models->begin);
  if (!model_at) return nullptr;
  const auto base = objects.class_layout("torch::aot_inductor::AOTInductorModelBase");
  if (!base) return nullptr;
  const auto model = Object::read(objects.memory(), **base, *model_at);
  if (!model) return nullptr;
  for (const std::string_view member : {"inputs_info_", "outputs_info_", "constants_info_"}) {
    const auto info_class =
        objects.class_layout(member == "constants_info_" ? kConstInfo : kParamInfo);
    if (!info_class) continue;
    const auto infos = objects.vector(*model, member, (*info_class)->size);
    if (!infos || infos->count == 0) continue;
    const auto name =
        objects.read((*info_class)->name, infos->begin).and_then([](const Object& info) {
          return info.number("name");
        });
    if (!name) continue;
    if (const Wrapper* found = wrapper_at(wrappers, *name)) return found;
  }
  return nullptr;
}

Result<Container> try_variant(Memory& memory, const Wrapper& wrapper, const std::string& variant,
                              Address at) {
  Container container;
  container.at = at;
  container.wrapper = &wrapper;
  container.variant = variant;
  ContainerReader reader{memory, ObjectReader(memory, *wrapper.layout, variant), container};
  const auto object = reader.objects.read(kContainer, at);
  if (!object) return pass(object);
  for (const auto step :
       {&ContainerReader::read_models, &ContainerReader::read_pools, &ContainerReader::read_buffers,
        &ContainerReader::check_models_share, &ContainerReader::read_names}) {
    if (auto done = (reader.*step)(*object); !done) return pass(done);
  }
  return container;
}

void resolve_handle(Memory& memory, const Libtorch& libtorch, Constant& constant) {
  if (constant.handle == 0) return;
  auto tensor = read_tensor_handle(memory, libtorch, constant.handle);
  if (tensor) {
    constant.tensor = std::move(*tensor);
  } else {
    constant.problem = tensor.error().what;
  }
}

Result<Constant> read_constant(const ObjectReader& objects, Address at) {
  const auto info = objects.read(kConstInfo, at);
  if (!info) return pass(info);
  Memory& memory = objects.memory();
  Constant constant;
  constant.name = info->number("name")
                      .and_then([&](Address text) { return memory.read_c_string(text); })
                      .value_or("");
  if (const auto fqn = info->number("original_fqn"); fqn && *fqn != 0) {
    constant.fqn = memory.read_c_string(*fqn).value_or("");
  }
  auto shape = objects.integers(*info, "shape");
  if (!shape) return pass(shape);
  auto stride = objects.integers(*info, "stride");
  if (!stride) return pass(stride);
  constant.shape = std::move(*shape);
  constant.stride = std::move(*stride);
  constant.scalar_type = info->signed_number("dtype").value_or(-1);
  constant.dtype = dtype_name(objects.layout(), constant.scalar_type);
  constant.bytes = info->number("data_size").value_or(0);
  constant.device_type = info->signed_number("device_type").value_or(-1);
  constant.from_folded = info->number("from_folded").value_or(0) != 0;
  constant.type = info->signed_number("type").value_or(0);
  if (const auto type =
          objects.layout().enum_name("torch::aot_inductor::ConstantType", constant.type)) {
    constant.kind = snake_case(*type);
  }
  return constant;
}

// The names that the container's own map gives to handles: they are on the heap, where the
// wrapper's read-only data, which ConstInfo points to, may not be in a core.
std::map<Address, std::string> names_by_handle(const ObjectReader& objects, Address map) {
  std::map<Address, std::string> names;
  const auto header = objects.read("std::unordered_map", map);
  if (!header) return names;
  Address node = header->number("first_node").value_or(0);
  while (node != 0 && names.size() < ObjectReader::kMaxElements) {
    const auto entry = objects.read("torch::aot_inductor::ConstantMap::node", node);
    if (!entry) break;
    const auto name =
        entry->address_of("key").and_then([&](Address key) { return objects.string(key); });
    const auto handle =
        objects.part(*entry, "value", "torch::aot_inductor::MaybeOwningAtenTensorHandle")
            .and_then([](const Object& value) { return value.number("handle_"); });
    if (!name || !handle || !names.emplace(*handle, *name).second) break;
    node = entry->number("next").value_or(0);
  }
  return names;
}

Result<Container> decode_container(Memory& memory, std::span<const Wrapper> wrappers, Address at) {
  if (at == 0 || at % alignof(void*) != 0) return fail("no container is here", at);
  std::optional<Error> first_failure;
  for (const Wrapper& candidate : wrappers) {
    if (candidate.layout == nullptr) continue;
    for (const std::string& variant : candidate.variants) {
      const ObjectReader objects(memory, *candidate.layout, variant);
      if (wrapper_of(objects, wrappers, at) != &candidate) continue;
      auto container = try_variant(memory, candidate, variant, at);
      if (container) return container;
      if (!first_failure) first_failure = container.error();
    }
  }
  if (first_failure) return tl::unexpected(*first_failure);
  return fail("no container is here: its names do not lie in a loaded wrapper", at);
}

}  // namespace

std::size_t Container::count(Model::Use use) const {
  return static_cast<std::size_t>(std::count_if(
      models.begin(), models.end(), [&](const Model& model) { return model.use == use; }));
}

Result<Container> read_container(Memory& memory, std::span<const Wrapper> wrappers, Address at) {
  return tentatively(memory, [&] { return decode_container(memory, wrappers, at); });
}

Result<std::vector<Constant>> read_constants(Memory& memory, const Libtorch& libtorch,
                                             const Container& container, int buffer) {
  const ObjectReader objects(memory, *container.wrapper->layout, container.variant);
  const auto info_class = objects.class_layout(kConstInfo);
  const auto handle_class = objects.class_layout(kConstantHandle);
  if (!info_class) return pass(info_class);
  if (!handle_class) return pass(handle_class);
  const auto infos =
      objects.read(kModel, container.models.front().at).and_then([&](const Object& model) {
        return objects.vector(model, "constants_info_", (*info_class)->size);
      });
  if (!infos) return pass(infos);
  const Address array = container.buffers.at(static_cast<std::size_t>(buffer)).array;
  const auto handles = array == 0 ? Sequence{} : objects.vector(array, (*handle_class)->size);
  if (!handles) return pass(handles);
  std::vector<Constant> constants;
  for (std::uint64_t i = 0; i < infos->count; ++i) {
    auto constant = read_constant(objects, infos->begin + i * (*info_class)->size);
    if (!constant) return pass(constant);
    if (i < handles->count) {
      const auto handle = objects.read(kConstantHandle, handles->begin + i * (*handle_class)->size);
      if (!handle) return pass(handle);
      constant->handle = handle->number("handle_").value_or(0);
      constant->data = handle->number("data_").value_or(0);
      resolve_handle(memory, libtorch, *constant);
    }
    constants.push_back(std::move(*constant));
  }
  const auto is_nameless = [](const Constant& constant) { return constant.name.empty(); };
  if (std::any_of(constants.begin(), constants.end(), is_nameless)) {
    const auto names =
        names_by_handle(objects, container.buffers.at(static_cast<std::size_t>(buffer)).map);
    for (std::size_t i = 0; i < constants.size(); ++i) {
      if (!is_nameless(constants[i])) continue;
      const auto found = names.find(constants[i].handle);
      constants[i].name = found != names.end() ? found->second : fmt::format("constant #{}", i);
    }
  }
  return constants;
}

}  // namespace aotidbg
