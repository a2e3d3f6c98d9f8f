#include "frontends/torchscript/values/objects.h"

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/diagnostic.h"
#include "frontends/archive/storages.h"
#include "frontends/archive/zip.h"

namespace sardonyx::torchscript {
namespace {

using archive::Pickle;
using archive::PickleItem;
using base::DType;
using Item = PickleItem::Kind;

constexpr int kDeepest = 500;
// The only attribute of objects whose state code of their own restores: that state.
constexpr const char* kUnrestored = "(state)";
constexpr std::uint64_t kMaxValues = 10'000'000;

// Weights that PyTorch packs for its kernels, whose state is a tuple.
bool is_packed(std::string_view type) {
  return type.starts_with("__torch__.torch.classes.") && type.ends_with("ParamsBase");
}

[[noreturn]] void refuse(const std::string& what) {
  base::fail("SX1110", "the archive's objects hold " + what,
             "save the module again with torch.jit.save");
}

class Objects {
 public:
  Objects(const Pickle& pickle, const std::string& folder) : pickle_(pickle), folder_(folder) {}

  AbstractValue read(const PickleItem& item) {
    // What several refer to stays one.
    if (const auto known = known_.find(&item); known != known_.end()) {
      if (open_.contains(&item)) refuse("a list that holds itself");
      return known->second;
    }
    if (++depth_ > kDeepest) refuse("what is nested too deep");
    AbstractValue made = build(item);
    --depth_;
    if (made.held) known_.emplace(&item, made);
    return made;
  }

 private:
  AbstractValue build(const PickleItem& item) {
    switch (item.kind) {
      case Item::kNone:
        return {};
      case Item::kBool:
        return AbstractValue::of_bool(item.integer != 0);
      case Item::kInteger:
        return AbstractValue::of_int(item.integer);
      case Item::kFloat:
        return AbstractValue::of_real(item.real);
      case Item::kText:
        return AbstractValue::of_text(item.text);
      case Item::kSequence:
        return items(item, item.tuple ? AbstractValue::Kind::kTuple : AbstractValue::Kind::kList);
      case Item::kDictionary:
        return items(item, AbstractValue::Kind::kDict);
      case Item::kCall:
        return call(item);
      default:
        refuse("what is no value of a module");
    }
  }

  AbstractValue items(const PickleItem& item, AbstractValue::Kind kind) {
    AbstractValue made = AbstractValue::of_items(kind, {});
    known_.emplace(&item, made);
    open_.insert(&item);
    std::uint64_t values = 1;
    for (const std::uint32_t index : item.items) {
      made.held->items.push_back(read(pickle_.at(index)));
      values += values_in(made.held->items.back());
      if (values > kMaxValues) refuse("lists in each other that come to ten million values");
    }
    open_.erase(&item);
    values_[made.held.get()] = values;
    return made;
  }

  // What several lists hold counts as often as they do: who walks through it meets it so often.
  std::uint64_t values_in(const AbstractValue& datum) const {
    const auto found = values_.find(datum.held.get());
    return found == values_.end() ? 1 : found->second;
  }

  AbstractValue call(const PickleItem& item) {
    const PickleItem* callable = pickle_.item(item, 0);
    const PickleItem* arguments = pickle_.item(item, 1);
    if (!callable || !arguments || callable->kind != Item::kGlobal) refuse("a call of no function");
    const std::string& name = callable->text;
    if (name.starts_with("__torch__")) return object(item, name);
    if (name == "torch._utils _rebuild_tensor_v2") return tensor(*arguments);
    if (name == "builtins complex") return complex(pickle_, *arguments);
    if (name == "torch device") return device(*arguments);
    if (name == "torch._utils _rebuild_qtensor") return quantized(*arguments);
    const PickleItem* first = pickle_.item(*arguments, 0);
    if (first && name.starts_with("torch.jit._pickle build_")) return read(*first);
    if (first && name == "torch.jit._pickle restore_type_tag") return read(*first);
    refuse("an object made by " + archive::printable(name));
  }

  static AbstractValue complex(const Pickle& pickle, const PickleItem& arguments) {
    const PickleItem *real = pickle.item(arguments, 0), *imaginary = pickle.item(arguments, 1);
    if (!real || !imaginary || real->kind != Item::kFloat || imaginary->kind != Item::kFloat)
      refuse("a complex number of what are no numbers");
    return AbstractValue::of_complex({real->real, imaginary->real});
  }

  // ("cuda", 0) or ("cpu",)
  AbstractValue device(const PickleItem& arguments) const {
    const PickleItem *type = pickle_.item(arguments, 0), *index = pickle_.item(arguments, 1);
    if (!type || type->kind != Item::kText) refuse("a device of no type");
    AbstractValue made;
    made.kind = AbstractValue::Kind::kDevice;
    made.text = type->text;
    if (index && index->kind == Item::kInteger) made.text += ":" + std::to_string(index->integer);
    return made;
  }

  AbstractValue object(const PickleItem& item, const std::string& name) {
    AbstractValue made = AbstractValue::of_items(AbstractValue::Kind::kObject, {});
    known_.emplace(&item, made);
    made.held->type = name;
    const std::size_t space = made.held->type.find(' ');
    made.held->type.replace(space, 1, ".");
    const PickleItem* state = pickle_.item(item, 2);
    // A member of an enumeration is made of its value.
    if (const PickleItem* value = pickle_.item(item, 1); value->kind != Item::kSequence) {
      made.held->names = {"value"};
      made.held->items = {read(*value)};
    }
    if (!state) return made;
    if (is_packed(made.held->type) && state->kind == Item::kSequence) {
      for (const std::uint32_t index : state->items)
        made.held->items.push_back(read(pickle_.at(index)));
      if (made.held->type.ends_with(".LinearPackedParamsBase") && state->items.size() == 2)
        made.held->names = {"weight", "bias"};
      return made;
    }
    if (state->kind != Item::kDictionary) {
      made.held->names = {kUnrestored};
      made.held->items = {read(*state)};
      return made;
    }
    for (std::size_t i = 0; i + 1 < state->items.size(); i += 2) {
      const PickleItem& key = *pickle_.item(*state, i);
      if (key.kind != Item::kText) refuse("an attribute without a name");
      made.held->names.push_back(key.text);
      made.held->items.push_back(read(*pickle_.item(*state, i + 1)));
    }
    return made;
  }

  // (storage, offset, sizes, strides, (scheme, scale, zero point[, axis]), ...)
  AbstractValue quantized(const PickleItem& arguments) {
    const PickleItem* how = pickle_.item(arguments, 4);
    const PickleItem* scheme = how ? pickle_.item(*how, 0) : nullptr;
    const bool has_axis = scheme && scheme->text.starts_with("torch per_channel_");
    const bool is_known = has_axis || (scheme && scheme->text.starts_with("torch per_tensor_"));
    if (!is_known || how->items.size() < (has_axis ? 4U : 3U))
      refuse("a tensor that is quantized in no way that is known");
    std::vector<AbstractValue> parts = {tensor(arguments), read(*pickle_.item(*how, 1)),
                                        read(*pickle_.item(*how, 2)),
                                        has_axis ? read(*pickle_.item(*how, 3)) : AbstractValue()};
    AbstractValue made = AbstractValue::of_items(AbstractValue::Kind::kQuantized, std::move(parts));
    made.held->names = {"", "scale", "zero_point", "axis"};
    return made;
  }

  // (storage, offset, sizes, strides, ...)
  AbstractValue tensor(const PickleItem& arguments) {
    auto stored = std::make_shared<StoredTensor>();
    const PickleItem* persistent = pickle_.item(arguments, 0);
    const PickleItem* offset = pickle_.item(arguments, 1);
    const PickleItem* id = persistent && persistent->kind == Item::kPersistent
                               ? pickle_.item(*persistent, 0)
                               : nullptr;
    const PickleItem* type = id ? pickle_.item(*id, 1) : nullptr;
    const PickleItem* key = id ? pickle_.item(*id, 2) : nullptr;
    if (!type || type->kind != Item::kGlobal || !key || key->kind != Item::kText || !offset ||
        offset->kind != Item::kInteger || !integers(pickle_.item(arguments, 2), stored->shape) ||
        !integers(pickle_.item(arguments, 3), stored->strides))
      refuse("a tensor that is not described as plain ones are");
    const std::optional<DType> dtype = archive::dtype_of_storage(type->text);
    if (!dtype) refuse("a storage of " + archive::printable(type->text));
    stored->dtype = *dtype;
    stored->offset = offset->integer;
    stored->storage = folder_ + key->text;
    AbstractValue made;
    made.kind = AbstractValue::Kind::kStored;
    made.stored = std::move(stored);
    return made;
  }

  bool integers(const PickleItem* item, std::vector<std::int64_t>& into) const {
    if (!item || item->kind != Item::kSequence) return false;
    for (const std::uint32_t index : item->items) {
      if (pickle_.at(index).kind != Item::kInteger) return false;
      into.push_back(pickle_.at(index).integer);
    }
    return true;
  }

  const Pickle& pickle_;
  const std::string& folder_;
  std::unordered_map<const PickleItem*, AbstractValue> known_;
  std::unordered_set<const PickleItem*> open_;  // lists that are being read
  std::unordered_map<const Container*, std::uint64_t> values_;
  int depth_ = 0;
};

class Names {
 public:
  // Attributes of modules first: what a list holds again is the same weight.
  void give_attributes(const AbstractValue& datum, const std::string& path) {
    if (datum.kind != AbstractValue::Kind::kObject || is_unrestored(datum) ||
        !visited_.insert(datum.held.get()).second)
      return;
    for (std::size_t i = 0; i < datum.held->names.size(); ++i) {
      const AbstractValue& item = datum.held->items[i];
      const std::string name =
          path.empty() ? datum.held->names[i] : path + "." + datum.held->names[i];
      if (item.stored) name_tensor(*item.stored, name);
      give_attributes(item, name);
    }
  }

  void give(const AbstractValue& datum, const std::string& path) {
    if (datum.stored) name_tensor(*datum.stored, path);
    if (!datum.held || is_unrestored(datum) || !seen_.insert(datum.held.get()).second) return;
    datum.held->outlives_call = true;
    if (datum.kind == AbstractValue::Kind::kObject) datum.held->path = path;
    for (std::size_t i = 0; i < datum.held->items.size(); ++i) {
      const std::string name =
          i < datum.held->names.size() ? datum.held->names[i] : std::to_string(i);
      const bool has_both = !path.empty() && !name.empty();
      give(datum.held->items[i], path + (has_both ? "." : "") + name);
    }
  }

 private:
  void name_tensor(StoredTensor& tensor, const std::string& path) {
    if (!tensor.name.empty()) return;
    const auto key = std::tie(tensor.storage, tensor.offset, tensor.shape, tensor.strides);
    tensor.name = names_.try_emplace(key, path).first->second;
  }

  using View =
      std::tuple<std::string, std::int64_t, std::vector<std::int64_t>, std::vector<std::int64_t>>;
  std::map<View, std::string> names_;
  std::unordered_set<const Container*> visited_;
  std::unordered_set<const Container*> seen_;
};

}  // namespace

bool is_unrestored(const AbstractValue& datum) {
  return datum.kind == AbstractValue::Kind::kObject && datum.held->names.size() == 1 &&
         datum.held->names.front() == kUnrestored;
}

AbstractValue read_object(const Pickle& pickle, const std::string& folder) {
  return Objects(pickle, folder).read(pickle.root());
}

void name_parts(const AbstractValue& root) {
  Names names;
  names.give_attributes(root, {});
  names.give(root, {});
}

}  // namespace sardonyx::torchscript
