#include "passes/transposition/transpose_sinking.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "onnx/fold/folders.h"
#include "onnx/gen/op.h"
#include "onnx/graph/recipe.h"
#include "onnx/operators/traits.h"

namespace sardonyx::passes {
namespace {

using onnx::Attribute;
using onnx::Node;
using onnx::Op;
using onnx::Trait;
using onnx::ValueInfo;
using Kind = Transposed::Input;
using IsOperand = std::function<bool(const ValueInfo*)>;
using Ints = std::vector<std::int64_t>;

enum class Family : std::uint8_t {
  kElementwise,  // all inputs broadcast
  kFirstInput,   // elementwise in the first, the others being numbers
  kAxis,         // along one axis; of the inputs, the first is the operand
  kConcat,       // along one axis; all inputs are operands
  kReduction,
  kPad,
  kSlice,
  kResize,
  kRows,  // along the last axis; other inputs have no more axes than a row's
  kTile,
  kQuantized,
};

struct Entry {
  Op op;
  Family family;
  std::int64_t axis = 0;  // of those along one, where nothing is said
};

// Others are by their traits.
constexpr Entry kEntries[] = {
    {Op::kConcat, Family::kConcat},
    {Op::kDequantizeLinear, Family::kQuantized},
    {Op::kLayerNormalization, Family::kRows},
    {Op::kLogSoftmax, Family::kAxis, -1},
    {Op::kMatMul, Family::kRows},
    {Op::kPRelu, Family::kElementwise},
    {Op::kPad, Family::kPad},
    {Op::kQuantizeLinear, Family::kQuantized},
    {Op::kRMSNormalization, Family::kRows},
    {Op::kResize, Family::kResize},
    {Op::kSlice, Family::kSlice},
    {Op::kSoftmax, Family::kAxis, -1},
    {Op::kSplit, Family::kAxis},
    {Op::kTile, Family::kTile},
};

static_assert(std::ranges::is_sorted(kEntries, {}, &Entry::op));

std::optional<Ints> ints_of(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr || value->is_disputed) return std::nullopt;
  return value->constant->ints();
}

// One number, which broadcasts alike whatever the order of axes.
bool is_number(const ValueInfo* value, std::size_t rank) {
  return value->has_rank && value->shape.size() <= rank &&
         std::ranges::all_of(value->shape, [](symbolic::Expr dim) { return dim.is(1); });
}

std::optional<Entry> entry_of(Op op) {
  if (onnx::has_trait(op, Trait::kBroadcasts)) return Entry{op, Family::kElementwise};
  if (onnx::has_trait(op, Trait::kPointwise)) return Entry{op, Family::kFirstInput};
  if (onnx::has_trait(op, Trait::kReduces)) return Entry{op, Family::kReduction};
  const auto* found = std::ranges::lower_bound(kEntries, op, {}, &Entry::op);
  if (found == std::end(kEntries) || found->op != op) return std::nullopt;
  return *found;
}

bool refers_to_attributes(const Node* node) {
  return std::ranges::any_of(node->attributes,
                             [](const Attribute& each) { return !each.reference.empty(); });
}

// Whether those of the axes that are left stand in the order that they had.
template <class IsLeft>
bool in_order(const Perm& perm, const IsLeft& is_left) {
  std::int64_t last = -1;
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (!is_left(i)) continue;
    if (perm[i] < last) return false;
    last = perm[i];
  }
  return true;
}

class Turning {
 public:
  Turning(const Node* node, const Perm& perm, const IsOperand& is_operand)
      : node_(node), perm_(perm), is_operand_(is_operand) {
    result_.inputs.resize(node->inputs.size());
    result_.attributes = node->attributes;
  }

  std::optional<Transposed> of(const Entry& entry) {
    if (!dispatch(entry)) return std::nullopt;
    return std::move(result_);
  }

 private:
  std::size_t rank() const { return perm_.size(); }

  bool dispatch(const Entry& entry) {
    switch (entry.family) {
      case Family::kElementwise:
        return broadcast();
      case Family::kFirstInput:
        return operand(0);
      case Family::kAxis:
        return operand(0) && set_axis("axis", entry.axis);
      case Family::kConcat:
        for (std::size_t i = 0; i < node_->inputs.size(); ++i)
          if (!operand(i)) return false;
        return set_axis("axis", 0);
      case Family::kReduction:
        return operand(0) && node_->int_or("keepdims", 1) != 0 && reduction_axes();
      case Family::kPad:
        return operand(0) && pads();
      case Family::kSlice:
        return operand(0) && slice_axes();
      case Family::kResize:
        return operand(0) && sizes();
      case Family::kRows:
        return operand(0) && keeps_rows();
      case Family::kTile:
        return operand(0) && reorder(1);
      case Family::kQuantized:
        return operand(0) && scales();
    }
    return false;
  }

  bool operand(std::size_t i) {
    const ValueInfo* value = node_->input(i);
    result_.inputs[i].kind = Kind::kOperand;
    return value != nullptr && is_operand_(value);
  }

  bool broadcast() {
    for (std::size_t i = 0; i < node_->inputs.size(); ++i) {
      const ValueInfo* value = node_->input(i);
      if (value == nullptr) return false;
      if (is_operand_(value)) {
        result_.inputs[i].kind = Kind::kOperand;
      } else if (is_number(value, rank())) {
        result_.inputs[i].kind = Kind::kSame;
      } else if (value->constant != nullptr && !value->is_disputed &&
                 value->constant->dims.size() <= rank() && base::bit_width(value->dtype) >= 8 &&
                 value->constant->strings.empty()) {
        result_.inputs[i].kind = Kind::kConstant;
      } else {
        return false;
      }
    }
    return true;
  }

  // The axis of the untransposed tensor; nothing for one that there is not.
  std::optional<std::int64_t> axis_of(std::int64_t axis) const {
    const auto count = static_cast<std::int64_t>(rank());
    if (axis < 0) axis += count;
    if (axis < 0 || axis >= count) return std::nullopt;
    return perm_[static_cast<std::size_t>(axis)];
  }

  bool axes_of(Ints& axes) const {
    for (std::int64_t& axis : axes) {
      const auto moved = axis_of(axis);
      if (!moved) return false;
      axis = *moved;
    }
    return true;
  }

  void set(std::string name, Attribute::Data data) {
    std::erase_if(result_.attributes, [&](const Attribute& each) { return each.name == name; });
    result_.attributes.push_back({std::move(name), std::move(data), {}});
  }

  bool set_axis(const char* name, std::int64_t otherwise) {
    const auto axis = axis_of(node_->int_or(name, otherwise));
    if (axis) set(name, *axis);
    return axis.has_value();
  }

  bool numbers(std::size_t i, Ints values) {
    if (i >= result_.inputs.size()) result_.inputs.resize(i + 1);
    result_.inputs[i] = {Kind::kNumbers, std::move(values)};
    return true;
  }

  bool reduction_axes() {
    if (node_->input(1) == nullptr) return node_->find("axes") == nullptr;
    auto axes = ints_of(node_->input(1));
    return axes && axes_of(*axes) && numbers(1, std::move(*axes));
  }

  bool pads() {
    if (node_->input(3) != nullptr) {
      auto axes = ints_of(node_->input(3));
      return axes && axes_of(*axes) && numbers(3, std::move(*axes));
    }
    const auto given = ints_of(node_->input(1));
    if (!given || given->size() != 2 * rank()) return false;
    Ints moved(given->size());
    for (std::size_t i = 0; i < rank(); ++i) {
      const auto to = static_cast<std::size_t>(perm_[i]);
      moved[to] = (*given)[i];
      moved[rank() + to] = (*given)[rank() + i];
    }
    return numbers(1, std::move(moved));
  }

  bool slice_axes() {
    Ints axes;
    if (node_->input(3) != nullptr) {
      const auto given = ints_of(node_->input(3));
      if (!given) return false;
      axes = *given;
    } else {
      const ValueInfo* starts = node_->input(1);
      if (starts == nullptr || !starts->has_rank || starts->shape.size() != 1 ||
          !starts->shape[0].is_constant())
        return false;
      axes.resize(static_cast<std::size_t>(starts->shape[0].value()));
      std::iota(axes.begin(), axes.end(), 0);
    }
    return axes_of(axes) && numbers(3, std::move(axes));
  }

  // A constant input of one entry an axis.
  bool reorder(std::size_t i) {
    const ValueInfo* value = node_->input(i);
    if (value == nullptr || value->constant == nullptr || value->is_disputed ||
        value->constant->dims != Ints{static_cast<std::int64_t>(rank())})
      return false;
    const auto given = value->constant->ints();
    if (!given) return false;
    Ints moved(given->size());
    for (std::size_t k = 0; k < rank(); ++k)
      moved[static_cast<std::size_t>(perm_[k])] = (*given)[k];
    return numbers(i, std::move(moved));
  }

  // Kernels that interpolate take the axes of an image where they stand last, and linear ones of an
  // image [N, height, width, C] too; nearest neighbors are found along any axes.
  bool stays_an_image() const {
    const std::string mode = node_->string_or("mode", "nearest");
    if (mode == "nearest") return true;
    const ValueInfo *x = node_->input(0), *y = node_->output();
    if (!x->has_rank || y == nullptr || !y->has_rank || y->shape.size() != rank()) return false;
    bool trailing = true, before_channels = mode == "linear" && rank() == 4;
    for (std::size_t i = 0; i < rank(); ++i) {
      if (x->shape[i].known() && x->shape[i] == y->shape[i]) continue;
      const auto to = static_cast<std::size_t>(perm_[i]);
      trailing = trailing && (mode == "linear" ? to >= 2 : to + 2 >= rank());
      before_channels = before_channels && to != 0 && to + 1 != rank();
    }
    return trailing || before_channels || rank() < 4;
  }

  bool sizes() {
    if (node_->input(1) != nullptr && !is_empty(node_->input(1))) return false;  // roi
    if (!stays_an_image()) return false;
    if (const auto* given = node_->ints("axes")) {
      Ints axes = *given;
      if (!axes_of(axes)) return false;
      set("axes", std::move(axes));
      return true;
    }
    if (node_->input(3) != nullptr) return reorder(3);
    // Scales are real; axes say in which order they stand.
    const ValueInfo* scales = node_->input(2);
    if (scales == nullptr || !scales->has_rank || scales->shape.size() != 1 ||
        !scales->shape[0].is(static_cast<std::int64_t>(rank())))
      return false;
    set("axes", perm_);
    return true;
  }

  // Each row is worked on for itself: multiplied with one matrix, or normalized.
  bool keeps_rows() const {
    const auto last = static_cast<std::int64_t>(rank()) - 1;
    if (perm_.back() != last || node_->outputs.size() != 1) return false;
    const bool is_product = node_->is(Op::kMatMul);
    const std::int64_t axis = is_product ? last : node_->int_or("axis", -1);
    if (axis != last && axis != -1) return false;
    for (std::size_t i = 1; i < node_->inputs.size(); ++i) {
      const ValueInfo* other = node_->input(i);
      if (other != nullptr &&
          (!other->has_rank || other->is_disputed || other->shape.size() != (is_product ? 2U : 1U)))
        return false;
    }
    return true;
  }

  static bool is_empty(const ValueInfo* value) {
    return value->constant != nullptr && value->constant->element_count() == 0;
  }

  bool scales() {
    const ValueInfo* scale = node_->input(1);
    if (scale == nullptr || !scale->has_rank || node_->int_or("block_size", 0) != 0) return false;
    if (scale->shape.empty()) return true;
    return scale->shape.size() == 1 && set_axis("axis", 1);
  }

  const Node* node_;
  const Perm& perm_;
  const IsOperand& is_operand_;
  Transposed result_;
};

// The constant with its axes as the untransposed operands have them.
ValueInfo* transposed_constant(rewriting::Patch& patch, ValueInfo* value, const Perm& perm) {
  const onnx::Tensor& tensor = *value->constant;
  Ints dims(perm.size() - tensor.dims.size(), 1);
  dims.insert(dims.end(), tensor.dims.begin(), tensor.dims.end());
  Perm back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  if (!value->is_weight && tensor.is_materialized() && tensor.contiguous()) {
    const Ints strides = onnx::folding::row_major(dims);
    Ints to, steps;
    for (const std::int64_t axis : back) {
      to.push_back(dims[static_cast<std::size_t>(axis)]);
      steps.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    return patch.constant(onnx::folding::strided(tensor, std::move(to), 0, steps));
  }
  patch.fold_in(value);
  return patch.weight(value->name + "_turned",
                      onnx::permuted(*onnx::with_dims(tensor, std::move(dims)), back));
}

}  // namespace

std::optional<Perm> perm_of(const Node* node) {
  if (node == nullptr || !node->is(Op::kTranspose) || node->output() == nullptr ||
      node->input(0) == nullptr || !node->input(0)->has_rank || node->input(0)->is_disputed)
    return std::nullopt;
  const std::size_t rank = node->input(0)->shape.size();
  if (refers_to_attributes(node)) return std::nullopt;
  Perm perm(rank);
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (const auto* given = node->ints("perm")) perm = *given;
  if (perm.size() != rank) return std::nullopt;
  for (std::size_t i = 0; i < rank; ++i)
    if (std::ranges::find(perm, static_cast<std::int64_t>(i)) == perm.end()) return std::nullopt;
  return perm;
}

Perm joined(const Perm& first, const Perm& second) {
  Perm both;
  for (const std::int64_t axis : second) both.push_back(first[static_cast<std::size_t>(axis)]);
  return both;
}

bool changes_nothing(const Perm& perm) { return std::ranges::is_sorted(perm); }

std::optional<Ints> lost_axes(const Node* node, const Perm& perm) {
  const auto rank = static_cast<std::int64_t>(perm.size());
  Ints axes;
  const bool finds_position = onnx::has_trait(node->op, Trait::kFindsPosition);
  if (finds_position) {
    axes = {node->int_or("axis", 0)};
  } else if (const auto given = ints_of(node->input(1)); given && !given->empty()) {
    axes = *given;
  }
  const bool reduces = finds_position || onnx::has_trait(node->op, Trait::kReduces);
  if (!(node->is(Op::kSqueeze) || (reduces && node->int_or("keepdims", 1) == 0)) || axes.empty() ||
      refers_to_attributes(node))
    return std::nullopt;
  std::vector<bool> lost(perm.size(), false);
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    lost[static_cast<std::size_t>(axis)] = true;
    axis = perm[static_cast<std::size_t>(axis)];
  }
  return in_order(perm, [&](std::size_t i) { return !lost[i]; }) ? std::optional(axes)
                                                                 : std::nullopt;
}

bool moves_no_element(const ValueInfo* transposed, const Perm& perm) {
  return transposed->has_rank && transposed->shape.size() == perm.size() &&
         in_order(perm, [&](std::size_t i) { return !transposed->shape[i].is(1); });
}

std::optional<Transposed> transposed(const Node* node, const Perm& perm,
                                     const IsOperand& is_operand) {
  const auto entry = entry_of(node->op);
  if (!entry || node->inputs.empty() || refers_to_attributes(node) ||
      std::ranges::find(node->outputs, nullptr) != node->outputs.end())
    return std::nullopt;
  return Turning(node, perm, is_operand).of(*entry);
}

bool put_behind(Node* node, const Perm& perm, const Transposed& how,
                const std::vector<ValueInfo*>& operands, rewriting::RuleContext& context) {
  rewriting::Patch patch(context, node);
  std::vector<ValueInfo*> inputs;
  for (std::size_t i = 0; i < how.inputs.size(); ++i) {
    const Transposed::Other& each = how.inputs[i];
    switch (each.kind) {
      case Kind::kOperand:
        inputs.push_back(operands[i]);
        break;
      case Kind::kSame:
        inputs.push_back(node->input(i));
        break;
      case Kind::kConstant:
        inputs.push_back(transposed_constant(patch, node->input(i), perm));
        break;
      case Kind::kNumbers:
        inputs.push_back(patch.ints(each.numbers));
        break;
    }
  }
  const std::string name = node->output()->name + "_turned";
  const std::vector<ValueInfo*> made =
      patch.nodes(node->op, std::move(inputs), how.attributes, name, node->outputs.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    ValueInfo* const output = node->outputs[i];
    patch.replace(output,
                  patch.node(Op::kTranspose, {made[i]}, {{"perm", perm, {}}}, output->name));
  }
  return patch.apply();
}

}  // namespace sardonyx::passes
