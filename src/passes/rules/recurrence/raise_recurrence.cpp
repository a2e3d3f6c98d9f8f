// Before: h, c, ys = Loop(length, true, h0, c0) {
//           i, f, g, o = Split(Add(Gemm(Gather(x, t), w, b), Gemm(h, r, d)))
//           c = Add(Mul(Sigmoid(f), c), Mul(Sigmoid(i), Tanh(g)))
//           h = Mul(Sigmoid(o), Tanh(c)) }
// After:  ys, h, c = LSTM(x, w', r', b', , h0, c0)
// Also GRU, with the reset gate before or behind the product, and plain cells; Scan, forwards and
// backwards; gates by one product or several, of the input and the state joined, or of the whole
// sequence before the loop; and an operator that runs for one step in each run. The loop must run
// for the whole of the sequence and give nothing else. A sequence may be empty, of which the
// standard says nothing: then one step of zeros is computed, and left out again.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "onnx/emit/emit.h"
#include "onnx/operators/operator.h"
#include "passes/rules/recurrence/cells.h"
#include "passes/rules/recurrence/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Attribute;
using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

std::string named(const std::string& stem, Op op) {
  return stem + "_" + std::string(onnx::operator_of(op).name);
}

bool is_used(const ValueInfo* value) { return value != nullptr && onnx::has_uses(value); }

// A part of a value along an axis, or a number in each place.
struct Part {
  ValueInfo* value;
  Range range;
  double number = 0;
};

// Puts weights together as ONNX's operators take them.
class Weights {
 public:
  Weights(Patch& patch, const Cell& cell, std::string name)
      : patch_(patch), cell_(cell), name_(std::move(name)) {}

  ValueInfo* matrix(Factor Gate::* factor) {
    const bool transposed = (cell_.gates.front().*factor).transposed;
    const std::int64_t axis = transposed ? 0 : 1;
    std::vector<Part> parts;
    for (const Gate& gate : cell_.gates) {
      const Factor& own = gate.*factor;
      if (own.transposed != transposed) patch_.fail("its weights lie in different ways");
      ValueInfo* rows = cut(own.weight, 1 - axis, own.rows);
      parts.push_back({rows, own.columns});
    }
    ValueInfo* stacked = stack(parts, axis);
    if (!transposed)
      stacked = node(Op::kTranspose, {stacked}, {{"perm", std::vector<std::int64_t>{1, 0}, {}}});
    return node(Op::kUnsqueeze, {stacked, patch_.ints({0})});
  }

  // Null where nothing is added.
  ValueInfo* biases() {
    std::vector<std::vector<Summand>> input, hidden;
    for (const Gate& gate : cell_.gates) {
      const std::size_t first =
          gate.reset_after ? gate.summands.size() : std::min<std::size_t>(gate.summands.size(), 1);
      const auto middle = gate.summands.begin() + static_cast<std::ptrdiff_t>(first);
      input.emplace_back(gate.summands.begin(), middle);
      hidden.emplace_back(middle, gate.summands.end());
      hidden.back().insert(hidden.back().end(), gate.inner.begin(), gate.inner.end());
    }
    const auto none = [](const auto& each) { return each.empty(); };
    if (std::ranges::all_of(input, none) && std::ranges::all_of(hidden, none)) return nullptr;
    ValueInfo* both = node(Op::kConcat, {sum(input), sum(hidden)}, {{"axis", std::int64_t{0}, {}}});
    return node(Op::kUnsqueeze, {both, patch_.ints({0})});
  }

 private:
  ValueInfo* node(Op op, std::vector<ValueInfo*> inputs, std::vector<Attribute> attributes = {}) {
    return patch_.node(op, std::move(inputs), std::move(attributes), named(name_, op));
  }

  ValueInfo* cut(ValueInfo* value, std::int64_t axis, Range range) {
    if (value == nullptr || value->shape[static_cast<std::size_t>(axis)].is(range.size))
      return value;
    return node(Op::kSlice, {value, patch_.ints({range.start}),
                             patch_.ints({range.start + range.size}), patch_.ints({axis})});
  }

  // The gates' parts of the j-th of what is added to each, summed over j.
  ValueInfo* sum(const std::vector<std::vector<Summand>>& summands) {
    std::size_t most = 1;
    for (const auto& each : summands) most = std::max(most, each.size());
    ValueInfo* total = nullptr;
    for (std::size_t j = 0; j < most; ++j) {
      std::vector<Part> parts;
      for (const auto& each : summands) {
        const Summand own = j < each.size() ? each[j] : Summand{};
        ValueInfo* value = own.value;
        if (value != nullptr && value->shape.size() == 2)
          value = node(Op::kSqueeze, {value, patch_.ints({0})});
        parts.push_back({value, own.columns, own.number});
      }
      ValueInfo* stacked = stack(parts, 0);
      total = total == nullptr ? stacked : node(Op::kAdd, {total, stacked});
    }
    return total;
  }

  ValueInfo* stack(const std::vector<Part>& parts, std::int64_t axis) {
    std::vector<ValueInfo*> gates = split(parts, axis);
    if (gates.empty())
      for (const Part& part : parts)
        gates.push_back(part.value != nullptr ? cut(part.value, axis, part.range)
                                              : patch_.constant(onnx::Tensor::filled(
                                                    DType::kFloat32, {cell_.size}, part.number)));
    // sigmoid(-x) is 1 - sigmoid(x).
    if (cell_.turned) gates.front() = node(Op::kNeg, {gates.front()});
    return gates.size() == 1 ? gates.front() : node(Op::kConcat, gates, {{"axis", axis, {}}});
  }

  // Where the parts are all that there is of one value, or nothing.
  std::vector<ValueInfo*> split(const std::vector<Part>& parts, std::int64_t axis) {
    ValueInfo* whole = parts.front().value;
    if (whole == nullptr || parts.size() == 1) return {};
    std::vector<Part> sorted = parts;
    std::ranges::sort(sorted, {}, [](const Part& each) { return each.range.start; });
    std::int64_t end = 0;
    for (const Part& part : sorted) {
      if (part.value != whole || part.range.start != end) return {};
      end += part.range.size;
    }
    if (!whole->shape[static_cast<std::size_t>(axis)].is(end)) return {};
    const std::vector<std::int64_t> sizes(parts.size(), cell_.size);
    const auto made = patch_.nodes(Op::kSplit, {whole, patch_.ints(sizes)}, {{"axis", axis, {}}},
                                   named(name_, Op::kSplit), parts.size());
    std::vector<ValueInfo*> found;
    for (const Part& part : parts)
      if (!made.empty())
        found.push_back(made[static_cast<std::size_t>(part.range.start / cell_.size)]);
    return found;
  }

  Patch& patch_;
  const Cell& cell_;
  std::string name_;
};

// Why the loop that a cell was found in is more than this cell, or nothing.
const char* reason_against(const StepLoop& loop, const Cell& cell) {
  const bool has_cells = cell.op == Op::kLSTM;
  const auto& states = loop.states();
  for (std::size_t i = 0; i < states.size(); ++i)
    if (i != cell.hidden && !(has_cells && i == cell.cells) && is_used(states[i].result))
      return "the loop carries something else as well";
  for (const StepLoop::Stack& stack : loop.stacks())
    if (stack.each != states[cell.hidden].after || stack.steps.axis < 0 || stack.steps.axis > 1 ||
        stack.steps.backwards != cell.input.backwards)
      return "the loop gives something else of each step";
  const ValueInfo* x = cell.input.sequence;
  if (!x->has_rank || x->shape.size() != 3 || cell.input.axis < 0 || cell.input.axis > 1)
    return "its input is no sequence of rows";
  const symbolic::Expr batch = x->shape[static_cast<std::size_t>(1 - cell.input.axis)];
  for (const std::size_t i : {cell.hidden, has_cells ? cell.cells : cell.hidden}) {
    const ValueInfo* initial = states[i].initial;
    if (initial->dtype != DType::kFloat32) return "it does not compute in float32";
    if (!initial->has_rank || initial->shape.size() != 2 || !(initial->shape[0] == batch) ||
        !initial->shape[1].is(cell.size))
      return "the first states are not seen to have the batch of the input";
  }
  return onnx::may_be_zero(batch) ? "the batch may be empty" : nullptr;
}

// Nodes need not have names.
const std::string& name_of(const Node* node) {
  const auto first =
      std::ranges::find_if(node->outputs, [](const ValueInfo* each) { return each != nullptr; });
  return (*first)->name;
}

// The operator in the place of the loop.
class Raised {
 public:
  Raised(Patch& patch, Node* node, const StepLoop& loop, const Cell& cell)
      : patch_(patch), name_(name_of(node)), loop_(loop), cell_(cell) {}

  void replace() {
    ValueInfo* x = cell_.input.sequence;
    const symbolic::Expr length = x->shape[static_cast<std::size_t>(cell_.input.axis)];
    may_be_empty_ = !symbolic::certainly_less(symbolic::Expr(0), length);
    if (cell_.input.axis == 1) x = turned(x);
    if (may_be_empty_) x = begun(x);
    const auto made = run(x);
    if (made.empty()) return;
    if (loop_.stacks().empty()) patch_.omit(made[0]);
    for (const StepLoop::Stack& stack : loop_.stacks()) replace_stack(stack, made[0]);
    replace_state(cell_.hidden, made[1]);
    if (cell_.op == Op::kLSTM) replace_state(cell_.cells, made[2]);
  }

 private:
  ValueInfo* node(Op op, std::vector<ValueInfo*> inputs, std::vector<Attribute> attributes = {}) {
    return patch_.node(op, std::move(inputs), std::move(attributes), named(name_, op));
  }
  ValueInfo* turned(ValueInfo* x) {
    return node(Op::kTranspose, {x}, {{"perm", std::vector<std::int64_t>{1, 0, 2}, {}}});
  }
  ValueInfo* unsqueezed(ValueInfo* x) { return node(Op::kUnsqueeze, {x, patch_.ints({0})}); }
  ValueInfo* squeezed(ValueInfo* x, std::int64_t axis) {
    return node(Op::kSqueeze, {x, patch_.ints({axis})});
  }

  // With one step of zeros where there is none.
  ValueInfo* begun(ValueInfo* x) {
    length_ = node(Op::kShape, {x}, {{"start", std::int64_t{0}, {}}, {"end", std::int64_t{1}, {}}});
    is_empty_ = node(Op::kEqual, {length_, patch_.ints({0})});
    ValueInfo* step =
        node(Op::kConcat,
             {patch_.ints({0, 0, 0}), patch_.cast(is_empty_, DType::kInt64), patch_.ints({0, 0})},
             {{"axis", std::int64_t{0}, {}}});
    return node(Op::kPad, {x, step});
  }

  std::vector<ValueInfo*> run(ValueInfo* x) {
    std::vector<ValueInfo*> inputs{x};
    std::vector<Attribute> attributes;
    if (const Node* whole = cell_.whole) {
      inputs.insert(inputs.end(), {whole->input(1), whole->input(2), whole->input(3), nullptr});
      for (const Attribute& each : whole->attributes)
        if (each.name != "direction") attributes.push_back(each);
    } else {
      Weights weights(patch_, cell_, name_);
      inputs.insert(inputs.end(), {weights.matrix(&Gate::input), weights.matrix(&Gate::hidden),
                                   weights.biases(), nullptr});
      attributes.push_back({"hidden_size", cell_.size, {}});
      if (cell_.op == Op::kRNN)
        attributes.push_back({"activations", std::vector<std::string>{cell_.activation}, {}});
      if (cell_.op == Op::kGRU && cell_.gates.back().reset_after)
        attributes.push_back({"linear_before_reset", std::int64_t{1}, {}});
    }
    if (cell_.input.backwards) attributes.push_back({"direction", std::string("reverse"), {}});
    inputs.push_back(unsqueezed(loop_.states()[cell_.hidden].initial));
    if (cell_.op == Op::kLSTM) {
      inputs.push_back(unsqueezed(loop_.states()[cell_.cells].initial));
      if (cell_.whole != nullptr && cell_.whole->input(7) != nullptr)
        inputs.push_back(cell_.whole->input(7));
    }
    return patch_.nodes(cell_.op, std::move(inputs), std::move(attributes), named(name_, cell_.op),
                        cell_.op == Op::kLSTM ? 3 : 2);
  }

  void replace_stack(const StepLoop::Stack& stack, ValueInfo* hiddens) {
    ValueInfo* result = squeezed(hiddens, 1);
    if (may_be_empty_)
      result = node(Op::kSlice, {result, patch_.ints({0}), length_, patch_.ints({0})});
    if (stack.steps.axis == 1) result = turned(result);
    patch_.replace(stack.steps.sequence, result);
  }

  void replace_state(std::size_t index, ValueInfo* last) {
    const StepLoop::State& state = loop_.states()[index];
    if (!is_used(state.result)) return patch_.omit(last);
    ValueInfo* result = squeezed(last, 0);
    if (may_be_empty_) result = node(Op::kWhere, {is_empty_, state.initial, result});
    patch_.replace(state.result, result);
  }

  Patch& patch_;
  std::string name_;
  const StepLoop& loop_;
  const Cell& cell_;
  bool may_be_empty_ = false;
  ValueInfo *length_ = nullptr, *is_empty_ = nullptr;
};

bool raise(Node* node, RuleContext& context) {
  const auto loop = StepLoop::of(node);
  if (!loop) return false;
  for (std::size_t i = 0; i < loop->states().size(); ++i) {
    const auto cell = cell_of(*loop, i);
    if (!cell) continue;
    if (const char* reason = reason_against(*loop, *cell)) return context.decline(node, reason);
    Patch patch(context, node);
    Raised(patch, node, *loop, *cell).replace();
    return patch.apply();
  }
  return false;
}

constexpr Op kRoots[] = {Op::kLoop, Op::kScan};

}  // namespace

const Rule kRaiseRecurrence = {"raise-recurrence", kRoots, raise, 14};

}  // namespace sardonyx::passes
