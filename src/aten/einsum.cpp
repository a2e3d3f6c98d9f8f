// Sums of products by subscripts.
#include <algorithm>
#include <cctype>
#include <string>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

// Subscripts of every operand and of the result, which is derived where the equation leaves it out:
// what occurs once, in alphabetical order.
std::string explicit_equation(const std::string& equation) {
  const std::size_t arrow = equation.find("->");
  std::string inputs = equation.substr(0, arrow), output;
  std::erase(inputs, ' ');
  if (arrow != std::string::npos) {
    output = equation.substr(arrow + 2);
    std::erase(output, ' ');
  } else {
    std::string letters;
    for (const char c : inputs) {
      if (std::isalpha(static_cast<unsigned char>(c))) letters += c;
    }
    std::ranges::sort(letters);
    if (inputs.find("...") != std::string::npos) output = "...";
    for (const char c : letters) {
      if (std::ranges::count(letters, c) == 1) output += c;
    }
  }
  return inputs + "->" + output;
}

// "bij,bjk->bik" and its like: a plain matrix product, which has the better kernel.
bool is_matmul(const std::string& left, const std::string& right, const std::string& out) {
  const std::size_t n = left.size();
  if (n < 2 || right.size() != n || out.size() != n) return false;
  if (left.find('.') != std::string::npos || right.find('.') != std::string::npos) return false;
  const std::string batch = left.substr(0, n - 2);
  const char i = left[n - 2], j = left[n - 1], k = right[n - 1];
  if (i == k || i == j || j == k) return false;
  return right == batch + j + k && out == batch + i + k;
}

bool is_transposed_matmul(const std::string& left, const std::string& right,
                          const std::string& out) {
  const std::size_t n = right.size();
  if (n < 2) return false;
  std::string swapped = right;
  std::swap(swapped[n - 1], swapped[n - 2]);
  return is_matmul(left, swapped, out);
}

Outputs einsum(const Call& call, Emit& onnx) {
  const std::string equation = explicit_equation(call.text("equation"));
  std::vector<Value> operands = call.tensors("tensors");
  for (Value& operand : operands) operand = cast_to_result(onnx, call, operand);
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string> terms = split(equation.substr(0, arrow), ',');
  const std::string out = equation.substr(arrow + 2);
  if (operands.size() == 2 && terms.size() == 2) {
    if (is_matmul(terms[0], terms[1], out)) return {onnx.matmul(operands[0], operands[1])};
    if (is_transposed_matmul(terms[0], terms[1], out)) {
      return {onnx.matmul(operands[0], onnx.swap_axes(operands[1], -1, -2))};
    }
  }
  return {onnx.einsum(operands, {.equation = equation})};
}

constexpr Row kRows[] = {
    {"aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", 13, einsum},
};

}  // namespace

std::span<const Row> einsum_rows() { return kRows; }

}  // namespace sardonyx::aten
