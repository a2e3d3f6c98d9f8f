// Layers of networks.
#include <algorithm>

#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

bool normalises_nothing(const Use& use) {
  const Value x = use.input(0);
  if (!x.has_rank()) return false;
  const std::int64_t axis = use.integer("axis", -1);
  for (std::int64_t i = axis < 0 ? axis + x.rank() : axis; i < x.rank(); ++i)
    if (x.dim(i).is(0)) return true;
  return false;
}

// Sizes of batches are taken to be at least 1; those that depend on data may be 0.
bool may_attend_to_nothing(const Use& use) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (const Value x = use.input(i);
        !x.has_rank() || std::ranges::any_of(x.shape(), onnx::may_be_zero))
      return true;
  return false;
}

std::optional<Values> unchanged(const Use& use, const Rule&) {
  if (use.outputs > 1) return std::nullopt;
  return Values{use.input(0)};
}

constexpr DTypeSet kDouble = onnx::dtype_bit(kFloat64);

constexpr Rule kRows[] = {
    {.name = "attention-of-nothing",
     .op = Op::kAttention,
     .reason = Reason::kFails,
     .when = may_attend_to_nothing,
     .how = by_definition,
     .why = "a batch of none, or no query, is refused when the model runs",
     .since = "1.31"},
    {.name = "group-normalization",
     .op = Op::kGroupNormalization,
     .reason = Reason::kSlow,
     .how = by_definition,
     .why = "it spells GroupNormalization out by statistics of its own, and has a kernel for the "
            "InstanceNormalization that it is",
     .since = "1.31"},
    {.name = "layer-normalization-of-nothing",
     .op = Op::kLayerNormalization,
     .reason = Reason::kFails,
     .when = normalises_nothing,
     .how = unchanged,
     .why = "it normalises at least one element",
     .since = "1.31"},
    {.name = "lstm-in-double",
     .op = Op::kLSTM,
     .reason = Reason::kLacks,
     .types = kDouble,
     .how = by_definition,
     .why = "a kernel for float64 is registered, which refuses when it runs",
     .since = "1.31"},
    {.name = "gru-in-double",
     .op = Op::kGRU,
     .reason = Reason::kLacks,
     .types = kDouble,
     .how = by_definition,
     .why = "a kernel for float64 is registered, which refuses when it runs",
     .since = "1.31"},
    {.name = "rnn-in-double",
     .op = Op::kRNN,
     .reason = Reason::kLacks,
     .types = kDouble,
     .how = by_definition,
     .why = "there is no kernel for float64",
     .since = "1.31"},
};

}  // namespace

Rules network_rules() { return kRows; }

}  // namespace sardonyx::targets
