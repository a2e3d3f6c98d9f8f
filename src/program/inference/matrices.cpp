// Results of products of matrices.
#include <algorithm>
#include <map>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

DType common(const Bound& call, std::string_view first, std::string_view second) {
  return base::promote(call.tensor(first).dtype, call.tensor(second).dtype);
}

TensorTypes matmul(const Bound& call) {
  Sizes left = call.self().shape;
  Sizes right = call.tensor("other").shape;
  if (left.empty() || right.empty()) call.refuse("it multiplies a 0-d tensor");
  const bool is_row = left.size() == 1, is_column = right.size() == 1;
  if (is_row) left.insert(left.begin(), 1);
  if (is_column) right.emplace_back(1);
  const Expr rows = left[left.size() - 2], columns = right.back();
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Sizes shape = call.broadcast(left, right);
  if (!is_row) shape.push_back(rows);
  if (!is_column) shape.push_back(columns);
  return {{common(call, "self", "other"), std::move(shape), {}}};
}

TensorTypes mm(const Bound& call) {
  const Value& right = call.tensor(call.schema().find("mat2") ? "mat2" : "other");
  Sizes shape = call.self().shape;
  shape.back() = right.shape.back();
  return {like(call.self(), std::move(shape))};
}

TensorTypes scaled_mm(const Bound& call) {
  TensorTypes results = mm(call);
  results.front().dtype = call.dtype("out_dtype").value_or(results.front().dtype);
  return results;
}

TensorTypes mv(const Bound& call) { return {like(call.self(), {call.self().shape.at(0)})}; }
TensorTypes dot(const Bound& call) { return {like(call.self(), {})}; }

TensorTypes outer(const Bound& call) {
  return {{common(call, "self", "vec2"),
           {call.self().shape.at(0), call.tensor("vec2").shape.at(0)},
           {}}};
}

TensorTypes addmm(const Bound& call) {
  return {like(call.self(), {call.tensor("mat1").shape.at(0), call.tensor("mat2").shape.at(1)})};
}

TensorTypes baddbmm(const Bound& call) {
  const Sizes& left = call.tensor("batch1").shape;
  const Expr columns = call.tensor("batch2").shape.at(2);
  if (call.name() == "addbmm") return {like(call.self(), {left.at(1), columns})};
  return {like(call.self(), {left.at(0), left.at(1), columns})};
}

TensorTypes linear(const Bound& call) {
  const Value& weight = call.tensor("weight");
  Sizes shape = call.self().shape;
  if (shape.empty()) call.refuse("its input is a 0-d tensor");
  shape.pop_back();
  if (weight.rank() == 2) shape.push_back(weight.shape[0]);
  return {like(call.self(), std::move(shape))};
}

TensorTypes bilinear(const Bound& call) {
  Sizes shape = call.self().shape;
  shape.back() = call.tensor("weight").shape.at(0);
  return {like(call.self(), std::move(shape))};
}

// "bij,bjk->bik"; letters name sizes, and "..." is what they leave.
struct Equation {
  const Bound& call;
  std::map<char, Expr> sizes;
  std::map<char, int> uses;
  std::map<char, int> operands;  // how many have the letter
  Sizes ellipsis;

  void operand(std::string_view letters, const Sizes& shape) {
    const std::size_t dots = letters.find("...");
    const std::size_t named = dots == letters.npos ? letters.size() : letters.size() - 3;
    if (named > shape.size()) call.refuse("the equation names more dimensions than there are");
    const std::size_t rest = shape.size() - named;
    std::size_t axis = 0;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (i == dots) {
        const auto from = shape.begin() + static_cast<std::ptrdiff_t>(axis);
        const Sizes own(from, from + static_cast<std::ptrdiff_t>(rest));
        ellipsis = call.broadcast(ellipsis, own);
        axis += rest;
        i += 2;
        continue;
      }
      const auto [found, is_new] = sizes.try_emplace(letters[i], shape.at(axis));
      if (!is_new && found->second.is(1)) found->second = shape.at(axis);
      if (letters.find(letters[i]) == i) ++operands[letters[i]];
      ++uses[letters[i]];
      ++axis;
    }
  }

  // Whether a dimension of one operand alone is summed, for which PyTorch calls sum().
  bool sums_one(std::string_view result, std::size_t count) const {
    return std::ranges::any_of(operands, [&](const auto& entry) {
      const auto [letter, having] = entry;
      return having == 1 && result.find(letter) == result.npos &&
             (count == 1 || !sizes.at(letter).is(1));
    });
  }

  Sizes result(std::string_view letters) const {
    Sizes shape;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (letters[i] == '.') {
        shape.insert(shape.end(), ellipsis.begin(), ellipsis.end());
        i += 2;
      } else {
        shape.push_back(sizes.at(letters[i]));
      }
    }
    return shape;
  }

  // Without "->": letters that occur once, in alphabetical order.
  Sizes implicit() const {
    Sizes shape = ellipsis;
    for (const auto& [letter, count] : uses)
      if (count == 1) shape.push_back(sizes.at(letter));
    return shape;
  }
};

TensorTypes einsum(const Bound& call) {
  const std::string* given = call.arguments().front().get<std::string>();
  if (!given) call.refuse("the equation is not known");
  std::string text;
  for (const char c : *given)
    if (c != ' ') text += c;
  const auto tensors = call.tensors("tensors");
  const std::size_t arrow = text.find("->");
  Equation equation{call, {}, {}, {}, {}};
  std::string_view operands = std::string_view(text).substr(0, arrow);
  DType dtype = DType::kUndefined;
  for (const Value* tensor : tensors) {
    const std::size_t comma = std::min(operands.find(','), operands.size());
    equation.operand(operands.substr(0, comma), tensor->shape);
    operands.remove_prefix(std::min(comma + 1, operands.size()));
    dtype = dtype == DType::kUndefined ? tensor->dtype : base::promote(dtype, tensor->dtype);
  }
  if (arrow == text.npos) return {{dtype, equation.implicit(), {}}};
  const std::string_view result = std::string_view(text).substr(arrow + 2);
  const bool sums = equation.sums_one(result, tensors.size());
  return {{sums && counts_up(dtype) ? DType::kInt64 : dtype, equation.result(result), {}}};
}

// As the query, in all batches that it is asked in.
TensorTypes attention(const Bound& call) {
  const Sizes &query = call.self().shape, &key = call.tensor("key").shape;
  if (query.size() < 2 || key.size() < 2) call.refuse("it needs matrices");
  Sizes shape = query;
  if (key.size() > shape.size()) shape.insert(shape.begin(), key.size() - shape.size(), 1);
  for (std::size_t i = 0; i + 2 < shape.size() && shape.size() == key.size(); ++i)
    if (shape[i].is(1)) shape[i] = key[i];
  shape.back() = call.tensor("value").shape.back();
  return {like(call.self(), std::move(shape))};
}

TensorTypes cdist(const Bound& call) {
  Sizes left = call.self().shape, right = call.tensor("x2").shape;
  const Expr rows = left.at(left.size() - 2), columns = right.at(right.size() - 2);
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Sizes shape = call.broadcast(left, right);
  shape.push_back(rows);
  shape.push_back(columns);
  return {like(call.self(), std::move(shape))};
}

// Along one dimension, which goes.
TensorTypes similarity(const Bound& call) {
  const char* other = call.schema().find("x2") ? "x2" : "y";
  Sizes shape = call.broadcast(call.self().shape, call.tensor(other).shape);
  const std::size_t axis =
      call.schema().find("dim") ? call.axis("dim", shape.size()) : shape.size() - 1;
  if (!shape.empty()) shape.at(axis) = 1;
  if (!shape.empty() && !call.flag("keepdim"))
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  const DType dtype = base::promote(call.self().dtype, call.tensor(other).dtype);
  return {{call.name() == "linalg_vecdot" ? dtype : as_floating(dtype), std::move(shape), {}}};
}

// Of each two rows, once.
TensorTypes pdist(const Bound& call) {
  const Expr rows = call.self().shape.at(0);
  return {like(call.self(), {symbolic::floor_div(rows * (rows - 1), 2)})};
}

TensorTypes inner(const Bound& call) {
  Sizes left = call.self().shape, right = call.tensor("other").shape;
  const DType dtype = common(call, "self", "other");
  if (left.empty() || right.empty()) return {{dtype, call.broadcast(left, right), {}}};
  left.pop_back();
  left.insert(left.end(), right.begin(), right.end() - 1);
  return {{dtype, std::move(left), {}}};
}

TensorTypes kron(const Bound& call) {
  Sizes left = call.self().shape, right = call.tensor("other").shape;
  if (left.size() < right.size()) std::swap(left, right);
  right.insert(right.begin(), left.size() - right.size(), 1);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] * right[i];
  return {{common(call, "self", "other"), std::move(left), {}}};
}

TensorTypes tensordot(const Bound& call) {
  Sizes shape;
  for (const auto& [name, dims] : {std::pair("self", "dims_self"), {"other", "dims_other"}}) {
    const Sizes& own = call.tensor(name).shape;
    std::vector<bool> gone(own.size());
    for (const std::int64_t dim : call.integers(dims)) gone.at(call.axis(dim, own.size())) = true;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (!gone[i]) shape.push_back(own[i]);
  }
  return {{common(call, "self", "other"), std::move(shape), {}}};
}

// A chain of products; vectors may stand at its ends.
TensorTypes chain(const Bound& call) {
  const auto factors = call.tensors(call.schema().find("matrices") ? "matrices" : "tensors");
  if (factors.empty() || !factors.front() || !factors.back()) call.refuse("it multiplies nothing");
  Sizes shape;
  if (factors.front()->rank() == 2) shape.push_back(factors.front()->shape[0]);
  if (factors.back()->rank() == 2) shape.push_back(factors.back()->shape[1]);
  return {like(*factors.front(), std::move(shape))};
}

TensorTypes cross(const Bound& call) {
  return {{common(call, "self", "other"),
           call.broadcast(call.self().shape, call.tensor("other").shape),
           {}}};
}

TensorTypes addmv(const Bound& call) {
  return {like(call.self(), {call.tensor("mat").shape.at(0)})};
}

TensorTypes addr(const Bound& call) {
  return {like(call.self(), {call.tensor("vec1").shape.at(0), call.tensor("vec2").shape.at(0)})};
}

TensorTypes vander(const Bound& call) {
  const Expr rows = call.self().shape.at(0);
  const DType own = call.self().dtype;
  return {{own, {rows, call.has("N") ? call.size("N") : rows}, {}}};
}

TensorTypes weight_norm(const Bound& call) { return {like(call.self(), call.self().shape)}; }

constexpr ResultRow kRows[] = {
    {"matmul linalg_matmul", matmul},
    {"mm bmm", mm},
    {"_scaled_mm", scaled_mm},
    {"mv", mv},
    {"dot vdot", dot},
    {"outer ger", outer},
    {"addmm", addmm},
    {"baddbmm addbmm", baddbmm},
    {"linear", linear},
    {"bilinear", bilinear},
    {"einsum", einsum},
    {"scaled_dot_product_attention", attention},
    {"cdist", cdist},
    {"cosine_similarity pairwise_distance linalg_vecdot", similarity},
    {"pdist", pdist},
    {"inner", inner},
    {"kron", kron},
    {"tensordot", tensordot},
    {"chain_matmul linalg_multi_dot", chain},
    {"cross linalg_cross", cross},
    {"addmv", addmv},
    {"addr", addr},
    {"vander", vander},
    {"_weight_norm", weight_norm},
};

}  // namespace

std::span<const ResultRow> matrix_results() { return kRows; }

}  // namespace sardonyx::program
