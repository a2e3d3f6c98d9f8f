#include "aten/networks/recurrence.h"

#include <limits>

namespace sardonyx::aten {
namespace {

using onnx::Values;

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
  // The input's part of the gates needs no loop.
  const Value gates = gates_of(onnx, x, weights.input, weights.input_bias);
  const Value recurrent = onnx.swap_axes(weights.hidden, 0, 1);
  const Value projection = weights.projection ? onnx.swap_axes(weights.projection, 0, 1) : Value{};
  const Value sequence = backwards ? turned(onnx, gates) : gates;

  onnx::Graph* body = onnx.begin_body("recurrence");
  Values now;
  for (const Value state : states) {
    now.push_back(onnx.body_input("state", state.dtype(), state.shape()));
  }
  const Value from_input =
      onnx.body_input("gates", gates.dtype(), Shape{gates.dim(1), gates.dim(2)});
  Value from_hidden = onnx.matmul(now.front(), recurrent);
  if (weights.hidden_bias) from_hidden = onnx.add(from_hidden, weights.hidden_bias);
  Values next = step(onnx, from_input, from_hidden, now);
  if (projection) next.front() = onnx.matmul(next.front(), projection);
  next.push_back(onnx.identity(next.front()));
  onnx.end_body(next);

  Values found = onnx.scan(states, std::vector<Value>{sequence}, body);
  const Value hidden = found.back();
  found.pop_back();
  // Inference does not look into the loop.
  const Shape own = states.front().shape();
  Emit::set_type(hidden, hidden.dtype(), Shape{x.dim(0), own[0], own[1]});
  for (std::size_t i = 0; i < states.size(); ++i) {
    Emit::set_type(found[i], states[i].dtype(), states[i].shape());
  }
  found.insert(found.begin(), backwards ? turned(onnx, hidden) : hidden);
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

}  // namespace sardonyx::aten
