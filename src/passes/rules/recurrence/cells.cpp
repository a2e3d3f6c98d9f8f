#include "passes/rules/recurrence/cells.h"

#include <array>
#include <utility>

#include "passes/constant_ints.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

using Pair = std::array<const ValueInfo*, 2>;

// The operands of this operator, in both orders.
std::vector<Pair> operands(const ValueInfo* value, Op op) {
  const Node* node = rewriting::made_by(value, op);
  if (node == nullptr || node->inputs.size() != 2) return {};
  const ValueInfo *a = without_identity(node->input(0)), *b = without_identity(node->input(1));
  return {{a, b}, {b, a}};
}

// b of a - b.
const ValueInfo* taken_from(const ValueInfo* difference, const ValueInfo* a) {
  const Node* node = rewriting::made_by(difference, Op::kSub);
  if (node == nullptr || without_identity(node->input(0)) != a) return nullptr;
  return without_identity(node->input(1));
}

// z of 1 - z.
const ValueInfo* rest_of_one(const ValueInfo* difference) {
  const Node* node = rewriting::made_by(difference, Op::kSub);
  if (node == nullptr || rewriting::number_of(node->input(0)) != 1) return nullptr;
  return without_identity(node->input(1));
}

// The operand that is not `factor`.
const ValueInfo* times(const ValueInfo* product, const ValueInfo* factor) {
  for (const auto& [a, b] : operands(product, Op::kMul))
    if (a == factor) return b;
  return nullptr;
}

// What has an axis of one in front, and what it has it in front of.
const ValueInfo* with_axis(const ValueInfo* value, Op op) {
  const Node* node = rewriting::made_by(without_identity(value), op);
  if (node == nullptr || known_int(node->input(1)) != 0) return nullptr;
  return without_identity(node->input(0));
}

// Of an operator that runs one step and begins with the loop's states.
std::optional<Cell> one_step(const StepLoop& loop, std::size_t hidden) {
  const auto& states = loop.states();
  const ValueInfo* last = with_axis(states[hidden].after, Op::kSqueeze);
  const Node* node = last == nullptr ? nullptr : last->producer;
  if (node == nullptr || !(node->is(Op::kLSTM) || node->is(Op::kGRU) || node->is(Op::kRNN)) ||
      last->index != 1 || node->string_or("direction", "forward") != "forward" ||
      node->int_or("layout", 0) != 0 || node->input(0) == nullptr || node->input(4) != nullptr ||
      node->input(5) == nullptr ||
      with_axis(node->input(5), Op::kUnsqueeze) != states[hidden].before)
    return std::nullopt;
  for (const std::size_t weight : {1U, 2U, 3U, 7U})
    if (node->input(weight) != nullptr && !loop.is_outside(node->input(weight)))
      return std::nullopt;
  const ValueInfo* x = with_axis(node->input(0), Op::kUnsqueeze);
  const auto steps = x == nullptr ? std::nullopt : loop.steps_of(x);
  if (!steps) return std::nullopt;
  Cell cell{.op = node->op, .hidden = hidden, .input = *steps, .whole = node};
  if (!node->is(Op::kLSTM)) return cell;
  for (cell.cells = 0; cell.cells < states.size(); ++cell.cells) {
    const auto& state = states[cell.cells];
    const ValueInfo* after = with_axis(state.after, Op::kSqueeze);
    if (cell.cells != hidden && after != nullptr && after == node->output(2) &&
        node->input(6) != nullptr && with_axis(node->input(6), Op::kUnsqueeze) == state.before)
      return cell;
  }
  return std::nullopt;
}

class CellReader {
 public:
  CellReader(const StepLoop& loop, std::size_t hidden, std::int64_t size)
      : loop_(loop), hidden_(hidden), size_(size), gates_(loop, before_(), size) {}

  std::optional<Cell> read() {
    const ValueInfo* after = loop_.states()[hidden_].after;
    for (const auto read : {&CellReader::lstm, &CellReader::gru, &CellReader::plain})
      if (auto cell = (this->*read)(after); cell && gates_.input()) {
        cell->hidden = hidden_;
        cell->size = size_;
        cell->input = *gates_.input();
        return cell;
      }
    return std::nullopt;
  }

 private:
  const ValueInfo* before_() const { return loop_.states()[hidden_].before; }

  // All of them; gates but a GRU's candidate know nothing of a reset gate.
  std::optional<std::vector<Gate>> all_of(std::initializer_list<const ValueInfo*> values) {
    std::vector<Gate> found;
    for (const ValueInfo* value : values) {
      auto gate = value == nullptr ? std::nullopt : gates_.read(value);
      if (!gate || gate->reset != nullptr) return std::nullopt;
      found.push_back(std::move(*gate));
    }
    return found;
  }

  // h' = o tanh(c'), c' = f c + i g
  std::optional<Cell> lstm(const ValueInfo* after) {
    for (const auto& [output, activated] : operands(after, Op::kMul)) {
      const ValueInfo *o = before(output, Op::kSigmoid), *next = before(activated, Op::kTanh);
      if (o == nullptr || next == nullptr) continue;
      for (std::size_t i = 0; i < loop_.states().size(); ++i) {
        if (i == hidden_ || loop_.states()[i].after != next) continue;
        if (auto cell = lstm(o, next, i)) return cell;
      }
    }
    return std::nullopt;
  }
  std::optional<Cell> lstm(const ValueInfo* o, const ValueInfo* next, std::size_t cells) {
    for (const auto& [kept, added] : operands(next, Op::kAdd)) {
      const ValueInfo* forget = times(kept, loop_.states()[cells].before);
      if (forget == nullptr) continue;
      for (const auto& [input, candidate] : operands(added, Op::kMul)) {
        auto gates = all_of({before(input, Op::kSigmoid), o, before(forget, Op::kSigmoid),
                             before(candidate, Op::kTanh)});
        if (!gates) continue;
        Cell cell{.op = Op::kLSTM, .cells = cells};
        cell.gates = std::move(*gates);
        return cell;
      }
    }
    return std::nullopt;
  }

  // h' = z h + (1 - z) n, or n + z (h - n); or with 1 - z for z.
  std::optional<Cell> gru(const ValueInfo* after) {
    const ValueInfo* h = before_();
    for (const auto& [a, b] : operands(after, Op::kAdd)) {
      // a + z (b' - a)
      for (const auto& [update, difference] : operands(b, Op::kMul)) {
        if (const ValueInfo* n = taken_from(difference, h); n != nullptr && n == a)
          if (auto cell = gru(update, n, /*turned=*/false)) return cell;
        if (const Node* sub = rewriting::made_by(difference, Op::kSub);
            sub != nullptr && a == h && without_identity(sub->input(1)) == h)
          if (auto cell = gru(update, without_identity(sub->input(0)), /*turned=*/true))
            return cell;
      }
      const ValueInfo* kept = times(a, h);
      if (kept == nullptr) continue;
      for (const auto& [rest, n] : operands(b, Op::kMul)) {
        if (rest_of_one(rest) == kept)
          if (auto cell = gru(kept, n, /*turned=*/false)) return cell;
        if (rest_of_one(kept) == rest && rest != nullptr)
          if (auto cell = gru(rest, n, /*turned=*/true)) return cell;
      }
    }
    return std::nullopt;
  }
  std::optional<Cell> gru(const ValueInfo* update, const ValueInfo* n, bool turned) {
    const ValueInfo* inner = before(n, Op::kTanh);
    auto candidate = inner == nullptr ? std::nullopt : gates_.read(inner);
    if (!candidate || candidate->reset == nullptr) return std::nullopt;
    auto gates = all_of({before(update, Op::kSigmoid), candidate->reset});
    if (!gates) return std::nullopt;
    Cell cell{.op = Op::kGRU, .turned = turned};
    cell.gates = std::move(*gates);
    cell.gates.push_back(std::move(*candidate));
    return cell;
  }

  std::optional<Cell> plain(const ValueInfo* after) {
    for (const auto& [op, name] : {std::pair{Op::kTanh, "Tanh"}, std::pair{Op::kRelu, "Relu"}}) {
      auto gates = all_of({before(after, op)});
      if (!gates) continue;
      Cell cell{.op = Op::kRNN, .activation = name};
      cell.gates = std::move(*gates);
      return cell;
    }
    return std::nullopt;
  }

  const StepLoop& loop_;
  std::size_t hidden_;
  std::int64_t size_;
  GateReader gates_;
};

}  // namespace

std::optional<Cell> cell_of(const StepLoop& loop, std::size_t hidden) {
  const ValueInfo* initial = loop.states()[hidden].initial;
  if (!initial->has_rank || initial->shape.size() != 2 || width_of(initial) == 0)
    return std::nullopt;
  if (auto cell = one_step(loop, hidden)) {
    cell->size = width_of(initial);
    return cell;
  }
  return CellReader(loop, hidden, width_of(initial)).read();
}

}  // namespace sardonyx::passes
