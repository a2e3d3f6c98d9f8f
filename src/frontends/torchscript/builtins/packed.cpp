// Layers whose weights are packed for PyTorch's kernels, and whose inputs are quantized by what
// they hold.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/torchscript/recording/quantized.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

constexpr std::int64_t kInt8 = 1, kFloat32 = 6;

// Weight, scale, zero point and bias; nothing where the weight is not quantized.
std::vector<AbstractValue> parameters(GraphRecorder& recorder, const Packed& packed) {
  if (packed.weight.kind != Kind::kQuantized) return {};
  const std::vector<AbstractValue>& parts = packed.weight.held->items;
  if (!parts[3].is_none() && !parts[3].expr.is(0))
    refuse("a weight that is quantized along another axis than its outputs'");
  return {parts[0], scalar_tensor(recorder, parts[1], kFloat32),
          scalar_tensor(recorder, parts[2], kInt8), packed.bias};
}

bool flag(const AbstractValue* datum) {
  return datum && datum->kind == Kind::kBool && datum->expr.is(1);
}

// (x, packed, reduce_range)
std::optional<AbstractValue> linear(GraphRecorder& recorder, const Operands& operands) {
  const Packed packed = unpacked(recorder, operands.find(1, "W_prepack"));
  const AbstractValue x = operands.at(0);
  std::vector<AbstractValue> arguments = parameters(recorder, packed);
  if (arguments.empty()) return recorder.call("aten::linear", {x, packed.weight, packed.bias});
  arguments.insert(arguments.begin(), x);
  arguments.push_back(AbstractValue::of_bool(flag(operands.find(2, "reduce_range"))));
  return recorder.call("packed::linear", std::move(arguments));
}

std::optional<AbstractValue> linear_relu(GraphRecorder& recorder, const Operands& operands) {
  return recorder.call("aten::relu", {*linear(recorder, operands)});
}

// Of both products of a cell; of plain weights as the operators on these take them.
struct CellWeights {
  std::vector<AbstractValue> params;
  bool is_quantized = false;
};

CellWeights cell_weights(GraphRecorder& recorder, const AbstractValue* input,
                         const AbstractValue* hidden) {
  const Packed from_input = unpacked(recorder, input), from_hidden = unpacked(recorder, hidden);
  CellWeights made;
  made.params = parameters(recorder, from_input);
  made.is_quantized = !made.params.empty();
  if (!made.is_quantized) {
    made.params = {from_input.weight, from_hidden.weight};
    if (!from_input.bias.is_none()) {
      made.params.push_back(from_input.bias);
      made.params.push_back(from_hidden.bias);
    }
    return made;
  }
  const std::vector<AbstractValue> second = parameters(recorder, from_hidden);
  made.params.insert(made.params.end(), second.begin(), second.end());
  return made;
}

// What stands between the prefix and the suffix of an operator's name.
std::string own_name(const Operands& operands, std::string_view prefix, std::string_view suffix) {
  return operands.op.substr(prefix.size(), operands.op.size() - prefix.size() - suffix.size());
}

// (input, hx, w_ih, w_hh, b_ih, b_hh), of which the packed weights hold the biases, too.
std::optional<AbstractValue> cell(GraphRecorder& recorder, const Operands& operands) {
  const std::string name = own_name(operands, "quantized::quantized_", "_dynamic");
  CellWeights weights = cell_weights(recorder, operands.find(2, "w_ih"), operands.find(3, "w_hh"));
  std::vector<AbstractValue> arguments = {operands.at(0), operands.at(1)};
  if (!weights.is_quantized) {
    arguments.insert(arguments.end(), weights.params.begin(), weights.params.end());
    return recorder.call("aten::" + name, std::move(arguments));
  }
  arguments.push_back(AbstractValue::of_items(Kind::kList, std::move(weights.params)));
  arguments.push_back(AbstractValue::of_bool(true));
  return recorder.call("packed::" + name, std::move(arguments));
}

// One layer in one direction: (kind, tensors, numbers, integers, packed weights).
CellWeights layer_weights(GraphRecorder& recorder, const AbstractValue& params,
                          bool& reduce_range) {
  const bool is_known = params.kind == Kind::kObject &&
                        params.held->type.ends_with(".CellParamsBase") &&
                        params.held->items.size() == 5 && params.held->items[4].held &&
                        params.held->items[4].held->items.size() == 2;
  const std::string kind = is_known ? params.held->items[0].text : std::string();
  if (kind != "quantized_dynamic" && kind != "quantized_fp16")
    refuse(
        "a recurrent layer whose weights are packed in another way than "
        "quantize_dynamic() does");
  const std::vector<AbstractValue>& integers = params.held->items[3].held->items;
  reduce_range = !integers.empty() && integers.front().expr.is(1);
  const std::vector<AbstractValue>& packed = params.held->items[4].held->items;
  return cell_weights(recorder, &packed[0], &packed[1]);
}

bool holds_packed(const AbstractValue& datum) {
  return datum.kind == Kind::kList && !datum.held->items.empty() &&
         datum.held->items.front().kind == Kind::kObject;
}

// quantized_lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
// batch_first), or (data, batch_sizes, hx, params, ..., bidirectional) of packed sequences.
std::optional<AbstractValue> network(GraphRecorder& recorder, const Operands& operands) {
  const std::string name = own_name(operands, "aten::quantized_", "");
  std::vector<AbstractValue> arguments = operands.positional;
  const auto layers = std::ranges::find_if(arguments, holds_packed);
  if (layers == arguments.end() || arguments.end() - layers < 2)
    refuse("a recurrent layer whose weights are not packed");
  std::vector<AbstractValue> params;
  std::size_t quantized = 0;
  std::optional<bool> reduce_range;
  const std::vector<AbstractValue> each = layers->held->items;
  for (const AbstractValue& layer : each) {
    bool own = false;
    const CellWeights weights = layer_weights(recorder, layer, own);
    if (reduce_range.value_or(own) != own)
      refuse("a recurrent layer of which some weights ask for fewer steps than others");
    reduce_range = own;
    quantized += weights.is_quantized ? 1 : 0;
    params.insert(params.end(), weights.params.begin(), weights.params.end());
  }
  if (quantized != 0 && quantized != each.size())
    refuse("a recurrent layer of which some weights are quantized and some are not");
  const bool has_biases = params.size() == 4 * each.size();
  *layers = AbstractValue::of_items(Kind::kList, std::move(params));
  if (quantized == 0) {
    *(layers + 1) = AbstractValue::of_bool(has_biases);
    return recorder.call("aten::" + name, std::move(arguments));
  }
  arguments.push_back(AbstractValue::of_bool(*reduce_range));
  return recorder.call("packed::" + name, std::move(arguments));
}

}  // namespace

// A convolution's state in archives: ("2", [options, weight], [bias]), where the options are how
// many dimensions n there are, n strides, paddings, dilations and output paddings, the groups, and
// whether it is transposed.
static void read_convolution(GraphRecorder& recorder, Container& held) {
  const std::vector<AbstractValue> tensors = held.items[1].held->items,
                                   biases = held.items[2].held->items;
  std::vector<std::int64_t> options;
  if (held.items[0].text == "2" && tensors.size() == 2 && biases.size() == 1 && tensors[0].stored)
    options = recorder.weights().stored_integers(*tensors[0].stored);
  const std::size_t n = options.empty() || options[0] < 1 || options[0] > 3
                            ? 0
                            : static_cast<std::size_t>(options[0]);
  if (n == 0 || options.size() != 4 * n + 3)
    refuse("packed weights of a convolution in a form that is not known");
  held.items = {tensors[1], biases[0]};
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<AbstractValue> each;
    for (std::size_t j = 0; j < n; ++j)
      each.push_back(AbstractValue::of_int(options[1 + i * n + j]));
    held.items.push_back(AbstractValue::of_items(Kind::kList, std::move(each)));
  }
  held.items.push_back(AbstractValue::of_int(options[4 * n + 1]));
  held.items.push_back(AbstractValue::of_bool(options[4 * n + 2] != 0));
  held.names = {"weight",   "bias",           "stride", "padding",
                "dilation", "output_padding", "groups", "transposed"};
}

Packed unpacked(GraphRecorder& recorder, const AbstractValue* datum) {
  const bool is_class = datum && datum->kind == Kind::kObject &&
                        datum->held->type.starts_with("__torch__.torch.classes.");
  if (is_class && datum->held->names.empty()) {
    Container& held = *datum->held;
    if (held.items.size() == 3 && held.items[1].held && held.items[2].held) {
      read_convolution(recorder, held);
    } else if (held.items.size() == 4 && held.items[1].held &&
               held.items[1].held->items.size() ==
                   1) {  // of an embedding: (version, [weight], ...)
      held.items = {held.items[1].held->items.front(), AbstractValue()};
      held.names = {"weight", "bias"};
    }
  }
  const bool is_packed =
      is_class && datum->held->names.size() >= 2 && datum->held->names[0] == "weight";
  if (!is_packed) refuse("packed weights of a kind that is not known");
  recorder.weights().read_held(*datum);
  const std::vector<AbstractValue>& parts = datum->held->items;
  return {parts.at(0), parts.at(1), {parts.begin() + 2, parts.end()}};
}

void add_packed_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"quantized::linear_dynamic", linear},
      {"quantized::linear_dynamic_fp16", linear},
      {"quantized::linear_relu_dynamic", linear_relu},
      {"quantized::linear_relu_dynamic_fp16", linear_relu},
      {"aten::quantized_lstm", network},
      {"aten::quantized_gru", network},
      {"quantized::quantized_lstm_cell_dynamic", cell},
      {"quantized::quantized_gru_cell_dynamic", cell},
      {"quantized::quantized_rnn_tanh_cell_dynamic", cell},
      {"quantized::quantized_rnn_relu_cell_dynamic", cell},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript
