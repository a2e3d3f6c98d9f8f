#include "targets/onnxruntime/fusions/angle_tables.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/graph/recipe.h"
#include "rewriting/rewrite.h"

namespace sardonyx::targets {
namespace {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;
using rewriting::made_by;

// What a table is made of; two of one form are the same.
struct Form {
  ValueInfo* frequencies = nullptr;
  bool sine = false;
  float scale = 1;
  DType dtype = DType::kFloat32;
  std::int64_t rows = 0;

  friend bool operator==(const Form&, const Form&) = default;
};

class AngleTable : public onnx::Derivation {
 public:
  explicit AngleTable(Form form) : form_(form) {}

  const Form& form() const { return form_; }

  // In float32 as programs compute it, some rows at a time.
  void put(std::size_t /*part*/, const Tensor& source, const Sink& sink) const override {
    constexpr std::int64_t kRows = 256;
    const auto frequencies = source.reals();
    if (!frequencies) return;
    const auto size = static_cast<std::size_t>(base::bit_width(form_.dtype) / 8);
    std::vector<std::byte> bytes;
    for (std::int64_t first = 0; first < form_.rows; first += kRows) {
      const std::int64_t end = std::min(first + kRows, form_.rows);
      bytes.resize(static_cast<std::size_t>(end - first) * frequencies->size() * size);
      std::byte* at = bytes.data();
      for (std::int64_t position = first; position < end; ++position)
        for (const double frequency : *frequencies) {
          onnx::store_real(form_.dtype, element(position, static_cast<float>(frequency)), at);
          at += size;
        }
      sink(bytes);
    }
  }

 private:
  double element(std::int64_t position, float frequency) const {
    const float angle = static_cast<float>(position) * frequency;
    return static_cast<double>((form_.sine ? std::sin(angle) : std::cos(angle)) * form_.scale);
  }

  Form form_;
};

// The table of another layer.
ValueInfo* made_before(const Form& form, const onnx::Model& model) {
  for (ValueInfo* each : model.initializers) {
    if (each->constant == nullptr) continue;
    const onnx::Derived* step = onnx::derivation_of(*each->constant);
    const auto* table =
        step == nullptr ? nullptr : dynamic_cast<const AngleTable*>(step->how.get());
    if (table != nullptr && table->form() == form) return each;
  }
  return nullptr;
}

// Of [batch, sequence], whatever axes of 1 stand around it.
bool is_positions(const ValueInfo* value, const rewriting::Feeds& feeds) {
  const auto index = rewriting::affine_index_of(value, feeds);
  if (!index || !(index->start == feeds.past)) return false;
  std::vector<std::int64_t> steps = index->steps;
  std::erase(steps, 0);
  return steps == std::vector<std::int64_t>{1};
}

// One for each angle of a position.
bool is_frequencies(const ValueInfo* value) {
  return value->constant != nullptr && value->dtype == DType::kFloat32 && value->has_rank &&
         !value->shape.empty() && value->shape.back().is(value->constant->element_count());
}

// Steps over what only adds axes, or repeats rows for a batch.
const Node* maker(const ValueInfo* value) {
  const Node* node = value == nullptr ? nullptr : value->producer;
  while (node != nullptr && node->domain.empty() &&
         (node->is(Op::kUnsqueeze) || node->is(Op::kExpand) || node->is(Op::kSqueeze)))
    node = node->input(0)->producer;
  return node != nullptr && node->domain.empty() ? node : nullptr;
}

std::optional<float> number(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr || value->constant->element_count() != 1)
    return std::nullopt;
  const auto reals = value->constant->reals();
  return reals ? std::optional(static_cast<float>(reals->front())) : std::nullopt;
}

std::optional<Form> form_of(const ValueInfo* value, const rewriting::Feeds& feeds) {
  Form form{.dtype = value->dtype};
  const Node* node = maker(value);
  if (node != nullptr && node->is(Op::kCast) && node->input(0)->dtype == DType::kFloat32)
    node = maker(node->input(0));
  if (node != nullptr && node->is(Op::kMul)) {
    const std::size_t side = number(node->input(0)) ? 1 : 0;
    const auto scale = number(node->input(1 - side));
    if (!scale) return std::nullopt;
    form.scale = *scale;
    node = maker(node->input(side));
  }
  if (node == nullptr || (!node->is(Op::kCos) && !node->is(Op::kSin))) return std::nullopt;
  form.sine = node->is(Op::kSin);
  const Node* product = maker(node->input(0));
  if (product == nullptr || !product->is(Op::kMul)) return std::nullopt;
  const std::size_t side = is_frequencies(product->input(0)) ? 0 : 1;
  form.frequencies = product->input(side);
  if (!is_frequencies(form.frequencies) || !is_positions(product->input(1 - side), feeds) ||
      form.frequencies->shape.size() > value->shape.size())
    return std::nullopt;
  return form;
}

// The constant that rows are picked from by their position.
ValueInfo* picked_from(const ValueInfo* value, const rewriting::Feeds& feeds) {
  const Node* gather = maker(value);
  if (gather == nullptr || !gather->is(Op::kGather) || gather->int_or("axis", 0) != 0)
    return nullptr;
  ValueInfo* const table = gather->input(0);
  const bool is_table = table->constant != nullptr && table->constant->dims.size() == 2;
  return is_table && is_positions(gather->input(1), feeds) ? table : nullptr;
}

}  // namespace

ValueInfo* angle_table(ValueInfo* value, std::int64_t rows, const rewriting::Feeds& feeds,
                       rewriting::RuleContext& context, rewriting::Patch& patch) {
  if (ValueInfo* table = picked_from(value, feeds)) return table;
  auto form = form_of(value, feeds);
  if (!form) return nullptr;
  form->rows = rows;
  if (ValueInfo* before = made_before(*form, context.model())) return before;
  ValueInfo* const frequencies = form->frequencies;
  const std::int64_t width = frequencies->constant->element_count();
  if (frequencies->is_weight) patch.fold_in(frequencies);
  return patch.weight(
      frequencies->name + (form->sine ? "_sines" : "_cosines"),
      onnx::derived(*frequencies->constant, {.how = std::make_shared<const AngleTable>(*form),
                                             .part = 0,
                                             .dtype = form->dtype,
                                             .dims = {rows, width}}));
}

}  // namespace sardonyx::targets
