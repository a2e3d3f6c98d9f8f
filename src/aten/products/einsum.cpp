// Sums of products by subscripts.
#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
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

// Letters for the axes under an ellipsis, as ONNX wants them to be as many in each operand;
// PyTorch broadcasts them, so operands with fewer get leading axes of size 1.
void spell_ellipses(Emit& onnx, std::vector<Value>& operands, std::vector<std::string>& terms,
                    std::string& out) {
  std::string letters;
  for (char c = 'A'; c <= 'z'; ++c) {
    const auto used = [c](const std::string& term) { return term.find(c) != std::string::npos; };
    if (std::isalpha(static_cast<unsigned char>(c)) && std::ranges::none_of(terms, used))
      letters += c;
  }
  const auto axes_of = [&](std::size_t i) {
    return operands[i].rank() - static_cast<std::int64_t>(terms[i].size() - 3);
  };
  std::int64_t most = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (terms[i].find("...") != std::string::npos) most = std::max(most, axes_of(i));
  }
  if (most > static_cast<std::int64_t>(letters.size())) return;
  const auto spell = [&](std::string& term) {
    const std::size_t place = term.find("...");
    if (place != std::string::npos) {
      term.replace(place, 3, letters.substr(0, static_cast<std::size_t>(most)));
    }
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t place = terms[i].find("...");
    if (place == std::string::npos) continue;
    std::vector<std::int64_t> added(static_cast<std::size_t>(most - axes_of(i)));
    std::iota(added.begin(), added.end(), static_cast<std::int64_t>(place));
    operands[i] = onnx.unsqueeze(operands[i], added);
    spell(terms[i]);
  }
  spell(out);
}

struct Axis {
  char letter;
  std::size_t place;  // in the operand
};

// Those that letters stand for; behind an ellipsis they count from the end.
std::vector<Axis> axes_of_letters(const std::string& term, std::int64_t rank) {
  std::vector<Axis> axes;
  const std::size_t dots = term.find("...");
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') continue;
    axes.push_back({term[i], i < dots ? i : i + static_cast<std::size_t>(rank) - term.size()});
  }
  return axes;
}

// PyTorch repeats what is of size 1 under a letter that is larger elsewhere. ONNX's checker takes
// the first operand's size.
void repeat_ones(Emit& onnx, std::vector<Value>& operands, const std::vector<std::string>& terms) {
  std::map<char, Expr> sizes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Shape shape = operands[i].shape();
    for (const Axis& axis : axes_of_letters(terms[i], operands[i].rank())) {
      const auto found = sizes.try_emplace(axis.letter, shape[axis.place]).first;
      if (found->second.is(1)) found->second = shape[axis.place];
    }
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Shape shape = operands[i].shape();
    for (const Axis& axis : axes_of_letters(terms[i], operands[i].rank()))
      if (shape[axis.place].is(1)) shape[axis.place] = sizes.at(axis.letter);
    if (shape != operands[i].shape()) operands[i] = onnx.expand(operands[i], shape);
  }
}

// Whether the ellipses stand for the same number of axes everywhere.
bool uneven_ellipses(const std::vector<Value>& operands, const std::vector<std::string>& terms) {
  std::optional<Shape> first;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t place = terms[i].find("...");
    if (place == std::string::npos) continue;
    const Shape shape = operands[i].shape();
    const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(place);
    const Shape under(
        begin, begin + operands[i].rank() - static_cast<std::ptrdiff_t>(terms[i].size() - 3));
    if (first && first->size() != under.size()) return true;
    first = under;
  }
  return false;
}

Outputs einsum(const Call& call, Emit& onnx) {
  const std::string equation = explicit_equation(call.text("equation"));
  std::vector<Value> operands = call.tensors("tensors");
  for (Value& operand : operands) operand = cast_to_result(onnx, call, operand);
  const std::size_t arrow = equation.find("->");
  std::vector<std::string> terms = split(equation.substr(0, arrow), ',');
  std::string out = equation.substr(arrow + 2);
  if (uneven_ellipses(operands, terms)) spell_ellipses(onnx, operands, terms, out);
  repeat_ones(onnx, operands, terms);
  if (operands.size() == 2 && terms.size() == 2) {
    if (is_matmul(terms[0], terms[1], out)) return {onnx.matmul(operands[0], operands[1])};
    if (is_transposed_matmul(terms[0], terms[1], out)) {
      return {onnx.matmul(operands[0], onnx.swap_axes(operands[1], -1, -2))};
    }
  }
  std::string spelled;
  for (const std::string& term : terms) spelled += (spelled.empty() ? "" : ",") + term;
  spelled += "->" + out;
  return {onnx.einsum(operands, {.equation = spelled})};
}

constexpr Row kRows[] = {
    {"aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", einsum},
};

}  // namespace

std::span<const Row> einsum_rows() { return kRows; }

}  // namespace sardonyx::aten
