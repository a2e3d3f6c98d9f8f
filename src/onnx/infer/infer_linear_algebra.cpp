// Matrix products, determinants and Einstein sums.
#include <fmt/format.h>

#include <cctype>
#include <map>

#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

void check_inner(const Inference& node, Expr a, Expr b) {
  if (a.is_constant() && b.is_constant() && !(a == b))
    node.fail(fmt::format("the inner sizes {} and {} differ", a.value(), b.value()));
}

void matrix_product(Inference& node, std::size_t left, std::size_t right) {
  if (!node.has_rank(left) || !node.has_rank(right)) return;
  Shape a = node.shape(left), b = node.shape(right);
  if (a.empty() || b.empty()) node.fail("a matrix product has no scalar operand");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.emplace_back(1);
  check_inner(node, a.back(), b[b.size() - 2]);
  const auto batch = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!batch) node.fail("the batch dims do not broadcast");
  Shape out = *batch;
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  node.set_shape(0, std::move(out));
}

void matmul(Inference& node) { matrix_product(node, 0, 1); }
void qlinear_matmul(Inference& node) { matrix_product(node, 0, 3); }

void gemm(Inference& node) {
  if (!node.has_rank(0) || !node.has_rank(1)) return;
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  if (a.size() != 2 || b.size() != 2) node.fail("the operands are not matrices");
  const bool ta = node.integer("transA", 0) != 0, tb = node.integer("transB", 0) != 0;
  check_inner(node, a[ta ? 0 : 1], b[tb ? 1 : 0]);
  node.set_shape(0, {a[ta ? 1 : 0], b[tb ? 0 : 1]});
}

void det(Inference& node) {
  if (!node.has_rank(0)) return;
  if (node.rank(0) < 2) node.fail("the operand is no matrix");
  const Shape& in = node.shape(0);
  node.set_shape(0, Shape(in.begin(), in.end() - 2));
}

// The equation of Einsum, with the sizes that its letters have.
class Equation {
 public:
  Equation(Inference& node, std::string text) : node_(node) {
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    const std::size_t arrow = text.find("->");
    explicit_ = arrow != std::string::npos;
    result_ = explicit_ ? text.substr(arrow + 2) : std::string();
    const std::string left = text.substr(0, arrow);
    for (std::size_t start = 0; start <= left.size();) {
      const std::size_t comma = std::min(left.find(',', start), left.size());
      terms_.push_back(left.substr(start, comma - start));
      start = comma + 1;
    }
  }

  void infer() {
    if (terms_.size() != node_.inputs()) node_.fail("the equation has another number of operands");
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (!node_.has_rank(i)) return;
      bind(terms_[i], node_.shape(i));
    }
    if (!explicit_) derive_result();
    Shape out;
    for (std::size_t i = 0; i < result_.size(); ++i) {
      if (result_[i] == '.') {
        out.insert(out.end(), ellipsis_.begin(), ellipsis_.end());
        i += 2;
      } else {
        out.push_back(sizes_[result_[i]]);
      }
    }
    node_.set_shape(0, std::move(out));
  }

 private:
  void bind(const std::string& term, const Shape& shape) {
    const std::size_t dots = term.find("...");
    const std::size_t letters = dots == std::string::npos ? term.size() : term.size() - 3;
    if (letters > shape.size() || (dots == std::string::npos && letters != shape.size()))
      node_.fail(fmt::format("`{}` does not fit its operand's rank", term));
    const std::size_t hidden = shape.size() - letters;
    std::size_t axis = 0;
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (term[i] == '.') {
        const auto first = shape.begin() + static_cast<std::ptrdiff_t>(axis);
        auto wide = broadcast(ellipsis_, Shape(first, first + static_cast<std::ptrdiff_t>(hidden)));
        if (!wide) node_.fail("the dims of the ellipses do not broadcast");
        ellipsis_ = std::move(*wide);
        axis += hidden;
        i += 2;
        continue;
      }
      ++count_[term[i]];
      const auto [size, added] = sizes_.try_emplace(term[i], shape[axis]);
      if (!added) size->second = broadcast_dim(size->second, shape[axis]);
      ++axis;
    }
  }

  // Without an arrow: the ellipsis, then the letters that occur once, sorted.
  void derive_result() {
    for (const std::string& term : terms_)
      if (term.find('.') != std::string::npos) result_ = "...";
    for (const auto& [letter, count] : count_)
      if (count == 1) result_ += letter;
  }

  Inference& node_;
  bool explicit_ = false;
  std::vector<std::string> terms_;
  std::string result_;
  std::map<char, Expr> sizes_;
  std::map<char, int> count_;
  Shape ellipsis_;
};

void einsum(Inference& node) { Equation(node, node.node().string_or("equation", "")).infer(); }

constexpr InferenceRule kRules[] = {
    {Op::kMatMul, matmul},
    {Op::kMatMulInteger, matmul},
    {Op::kQLinearMatMul, qlinear_matmul},
    {Op::kGemm, gemm},
    {Op::kDet, det},
    {Op::kEinsum, einsum},
};

}  // namespace

std::span<const InferenceRule> linear_algebra_rules() { return kRules; }

}  // namespace sardonyx::onnx
