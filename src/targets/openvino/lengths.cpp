// Operators in OpenVINO that give something of another length.
#include "onnx/graph/ir.h"
#include "onnx/infer/inference.h"
#include "targets/lowering.h"
#include "targets/openvino/tables.h"

namespace sardonyx::targets {
namespace {

std::vector<Attribute> but(const Use& use, std::string_view name) {
  std::vector<Attribute> kept;
  for (const Attribute& attribute : use.attributes)
    if (attribute.name != name) kept.push_back(attribute);
  return kept;
}

// Of a 0-d value; null where it is not known.
std::optional<Expr> element(Value value) {
  const auto known = onnx::contents_of(value.info());
  if (!known || known->size() != 1 || !(*known)[0].known()) return std::nullopt;
  return (*known)[0];
}

std::optional<std::int64_t> constant(Value value) {
  const auto known = element(value);
  if (!known || !known->is_constant()) return std::nullopt;
  return known->value();
}

bool may_go_the_other_way(const Use& use) {
  const auto start = element(use.input(0)), limit = element(use.input(1));
  const auto step = constant(use.input(2));
  if (!start || !limit || !step || *step == 0) return true;
  return symbolic::range(*step > 0 ? *limit - *start : *start - *limit).low < 0;
}

// Before: Range(start, limit, delta)
// After:  Range(start, Max(start, limit), delta), or Min where delta is below 0
std::optional<Values> no_further_than(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const Value start = use.input(0), limit = use.input(1), delta = use.input(2);
  const auto step = constant(delta);
  Value end;
  if (step) {
    end = *step > 0 ? onnx.max({start, limit}) : onnx.min({start, limit});
  } else {
    const Value rises = onnx.greater(delta, onnx.zero(use.dtype()));
    end = onnx.where(rises, onnx.max({start, limit}), onnx.min({start, limit}));
  }
  return onnx.without(rule, use, std::vector{start, end, delta}, {});
}

bool is_uneven(const Use& use) {
  const std::int64_t parts = use.integer("num_outputs", 0);
  if (use.input(1) || parts <= 1 || !use.input(0).has_rank()) return false;
  const Expr size = use.input(0).dim(use.integer("axis", 0));
  return size.known() && !(size.is_constant() && size.value() % parts == 0);
}

// Before: Split<num_outputs = 2>(x)
// After:  Split(x, [ceil(size / 2), the rest])
std::optional<Values> into_lengths(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const std::int64_t parts = use.integer("num_outputs", 0);
  const Expr size = use.input(0).dim(use.integer("axis", 0));
  const Expr part = symbolic::floor_div(size + (parts - 1), parts);
  std::vector<Expr> lengths(static_cast<std::size_t>(parts - 1), part);
  lengths.push_back(size - part * (parts - 1));
  return onnx.without(rule, use, std::vector{use.input(0), onnx.sizes(lengths)},
                      but(use, "num_outputs"));
}

bool is_half_of_real(const Use& use) {
  return use.integer("onesided", 0) != 0 && use.integer("inverse", 0) == 0;
}

// Before: DFT<onesided = 1>(x)
// After:  the first half of DFT(x)
std::optional<Values> half_of_both(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const auto axis = use.input(2) ? constant(use.input(2)) : -2;
  if (!axis) return std::nullopt;
  const Values both = onnx.without(rule, use, use.inputs, but(use, "onesided"));
  const Expr size = both.front().dim(*axis);
  if (!size.known()) return std::nullopt;
  return Values{onnx.slice(both.front(), *axis, 0, symbolic::floor_div(size, 2) + 1)};
}

constexpr Rule kRows[] = {
    {.name = "range-the-other-way",
     .op = Op::kRange,
     .reason = Reason::kWrong,
     .when = may_go_the_other_way,
     .how = no_further_than,
     .why = "a Range whose limit lies before its start is not empty",
     .since = "2026.4.1"},
    {.name = "split-into-uneven-parts",
     .op = Op::kSplit,
     .reason = Reason::kWrong,
     .first = 18,
     .when = is_uneven,
     .how = into_lengths,
     .why = "where num_outputs does not divide the size, every part is empty",
     .since = "2026.4.1"},
    {.name = "half-of-a-spectrum",
     .op = Op::kDFT,
     .reason = Reason::kWrong,
     .first = 20,
     .when = is_half_of_real,
     .how = half_of_both,
     .why = "the onesided transform keeps the axis of size 1 that says that the input is real",
     .since = "2026.4.1"},
};

}  // namespace

Rules openvino_length_rules() { return kRows; }

}  // namespace sardonyx::targets
