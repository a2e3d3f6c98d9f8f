#include "onnx/definitions/recurrence.h"

#include <algorithm>
#include <limits>

#include "onnx/definitions/parts.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

Value turned(Emit& onnx, Value x) {
  return onnx.slice(x, 0, -1, std::numeric_limits<std::int64_t>::min(), -1);
}

// What the gate of this number gets, of `count`.
Value gate(Emit& onnx, Value stacked, std::int64_t number, std::int64_t count) {
  const Expr size = symbolic::exact_quotient(stacked.dim(-1), count);
  return onnx.slice(stacked, stacked.rank() - 1, size * number, size * (number + 1));
}

}  // namespace

Value gates_of(Emit& onnx, Value x, Value weight, Value bias) {
  if (x.rank() == 2) return onnx.gemm(x, weight, bias, {.transB = 1});
  const Value product = onnx.matmul(x, onnx.swap_axes(weight, 0, 1));
  return bias ? onnx.add(product, bias) : product;
}

Values recurrence(Emit& onnx, Value x, const RecurrentWeights& weights, const Values& states,
                  bool backwards, const CellStep& step) {
  const Value recurrent = onnx.swap_axes(weights.hidden, 0, 1);
  RecurrentGates gates;
  // The input's part of the gates needs no loop.
  gates.from_input = gates_of(onnx, x, weights.input, weights.input_bias);
  gates.from_hidden = [&](Value hidden) {
    const Value product = onnx.matmul(hidden, recurrent);
    return weights.hidden_bias ? onnx.add(product, weights.hidden_bias) : product;
  };
  if (weights.projection) gates.projection = onnx.swap_axes(weights.projection, 0, 1);
  return recurrence(onnx, gates, states, backwards, step);
}

Values recurrence(Emit& onnx, const RecurrentGates& gates, const Values& states, bool backwards,
                  const CellStep& step) {
  std::vector<Value> sequences = {gates.from_input};
  if (gates.present) sequences.push_back(gates.present);
  if (backwards)
    for (Value& sequence : sequences) sequence = turned(onnx, sequence);
  const auto at_one_time = [&](const char* name, Value sequence) {
    return onnx.body_input(name, sequence.dtype(), Shape{sequence.dim(1), sequence.dim(2)});
  };
  Graph* body = onnx.begin_body("recurrence");
  Values now;
  for (const Value state : states)
    now.push_back(onnx.body_input("state", state.dtype(), state.shape()));
  const Value from_input = at_one_time("gates", gates.from_input);
  const Value present = gates.present ? at_one_time("present", gates.present) : Value();
  const Value hidden = now.front();
  const Value zero = onnx.zero(hidden.dtype());
  const Value from_hidden = gates.from_hidden(present ? onnx.where(present, hidden, zero) : hidden);
  Values next = step(onnx, from_input, from_hidden, now);
  if (gates.projection) next.front() = onnx.matmul(next.front(), gates.projection);
  for (std::size_t i = 0; present && i < next.size(); ++i)
    next[i] = onnx.where(present, next[i], now[i]);
  next.push_back(onnx.identity(next.front()));
  onnx.end_body(next);

  Values found = onnx.scan(states, sequences, body);
  const Value hiddens = found.back();
  found.pop_back();
  // Inference does not look into the loop.
  const Shape own = states.front().shape();
  Emit::set_type(hiddens, hiddens.dtype(), Shape{gates.from_input.dim(0), own[0], own[1]});
  for (std::size_t i = 0; i < states.size(); ++i) {
    Emit::set_type(found[i], states[i].dtype(), states[i].shape());
  }
  found.insert(found.begin(), backwards ? turned(onnx, hiddens) : hiddens);
  return found;
}

// Gates i, f, g, o: c' = f c + i g, h' = o tanh(c').
Values lstm_step(Emit& onnx, Value from_input, Value from_hidden, const Values& states) {
  const Value gates = onnx.add(from_input, from_hidden);
  const Value input = onnx.sigmoid(gate(onnx, gates, 0, 4));
  const Value forget = onnx.sigmoid(gate(onnx, gates, 1, 4));
  const Value candidate = onnx.tanh(gate(onnx, gates, 2, 4));
  const Value output = onnx.sigmoid(gate(onnx, gates, 3, 4));
  const Value cell = onnx.add(onnx.mul(forget, states[1]), onnx.mul(input, candidate));
  return {onnx.mul(output, onnx.tanh(cell)), cell};
}

CellStep plain_step(bool rectified) {
  return [rectified](Emit& onnx, Value from_input, Value from_hidden, const Values&) {
    const Value sum = onnx.add(from_input, from_hidden);
    return Values{rectified ? onnx.relu(sum) : onnx.tanh(sum)};
  };
}

// Gates r, z, n: n = tanh(n_x + r n_h), h' = n + z (h - n).
Values gru_step(Emit& onnx, Value from_input, Value from_hidden, const Values& states) {
  const auto both = [&](std::int64_t number) {
    return onnx.add(gate(onnx, from_input, number, 3), gate(onnx, from_hidden, number, 3));
  };
  const Value reset = onnx.sigmoid(both(0)), update = onnx.sigmoid(both(1));
  const Value candidate = onnx.tanh(
      onnx.add(gate(onnx, from_input, 2, 3), onnx.mul(reset, gate(onnx, from_hidden, 2, 3))));
  return {onnx.add(candidate, onnx.mul(update, onnx.sub(states[0], candidate)))};
}

namespace {

// ONNX's order of the gates, as positions in PyTorch's stack read it back.
struct Cell {
  std::vector<std::int64_t> gates;
  std::size_t states;
  CellStep step;
};

std::optional<Cell> cell_of(const Composite& call, Op op) {
  switch (op) {
    case Op::kLSTM:
      return Cell{{0, 2, 3, 1}, 2, lstm_step};  // i, o, f, c -> i, f, g, o
    case Op::kGRU:
      if (call.integer("linear_before_reset", 0) == 0) return std::nullopt;
      return Cell{{1, 0, 2}, 1, gru_step};  // z, r, h -> r, z, n
    default:
      return Cell{{0}, 1, plain_step(false)};
  }
}

// Entry `direction` of a stack of weights, its gates in PyTorch's order.
Value gates_in_order(Emit& onnx, Value stacked, std::int64_t direction,
                     const std::vector<std::int64_t>& order) {
  const Value one = onnx.select(stacked, 0, direction);
  if (order.size() == 1) return one;
  const Expr size = symbolic::exact_quotient(one.dim(0), static_cast<std::int64_t>(order.size()));
  Values gates;
  for (const std::int64_t gate : order)
    gates.push_back(onnx.slice(one, 0, size * gate, size * (gate + 1)));
  return onnx.concat(gates, 0);
}

RecurrentWeights weights_of(const Composite& call, const Cell& cell, std::int64_t direction) {
  Emit& onnx = call.onnx;
  RecurrentWeights weights{gates_in_order(onnx, call.input(1), direction, cell.gates),
                           gates_in_order(onnx, call.input(2), direction, cell.gates),
                           {},
                           {},
                           {}};
  const Value biases = call.input(3);
  if (!biases) return weights;
  const Expr half = symbolic::exact_quotient(biases.dim(1), 2);
  weights.input_bias = gates_in_order(onnx, onnx.slice(biases, 1, 0, half), direction, cell.gates);
  weights.hidden_bias =
      gates_in_order(onnx, onnx.slice(biases, 1, half, biases.dim(1)), direction, cell.gates);
  return weights;
}

// Sequences of one length, time first, with the functions that every layer of PyTorch has.
bool is_plain(const Composite& call, Op op) {
  const std::size_t peepholes = 7;
  if (call.input(4) || call.input(peepholes) || call.integer("layout", 0) != 0) return false;
  const std::vector<std::string>* functions = call.texts("activations");
  const bool usual = functions == nullptr ||
                     (op == Op::kRNN && std::ranges::all_of(*functions, [](const auto& name) {
                        return name == "Tanh" || name == "Relu";
                      }));
  return usual && call.real("clip", 0) == 0 && call.integer("input_forget", 0) == 0;
}

}  // namespace

std::optional<Values> recurrent(const Composite& call, const Operator& op) {
  if (!call.input(1) || !is_plain(call, op.id)) return std::nullopt;
  std::optional<Cell> cell = cell_of(call, op.id);
  if (!cell) return std::nullopt;
  if (const auto* functions = call.texts("activations"); functions && functions->front() == "Relu")
    cell->step = plain_step(true);
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const std::string direction = call.text("direction", "forward");
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const Expr hidden = call.input(2).dim(2);
  std::vector<Values> parts(cell->states + 1);
  for (std::int64_t d = 0; d < directions; ++d) {
    Values initial;
    for (std::size_t i = 0; i < cell->states; ++i) {
      const Value given = call.input(5 + i);
      initial.push_back(given ? onnx.select(given, 0, d)
                              : onnx.full(Shape{x.dim(1), hidden}, onnx.zero(x.dtype())));
    }
    const bool backwards = d == 1 || direction == "reverse";
    const Values found =
        recurrence(onnx, x, weights_of(call, *cell, d), initial, backwards, cell->step);
    parts[0].push_back(onnx.unsqueeze(found[0], {1}));
    for (std::size_t i = 1; i < found.size(); ++i)
      parts[i].push_back(onnx.unsqueeze(found[i], {0}));
  }
  Values results;
  for (std::size_t i = 0; i < parts.size(); ++i)
    results.push_back(parts[i].size() == 1 ? parts[i].front()
                                           : onnx.concat(parts[i], i == 0 ? 1 : 0));
  return results;
}

}  // namespace sardonyx::onnx
