#include "onnx/infer/infer_ml.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>
#include <variant>

namespace sardonyx::onnx {
namespace {

using symbolic::Expr;

constexpr std::string_view kDomain = "ai.onnx.ml";

template <class T>
const std::vector<T>* list(const Node& node, std::string_view name) {
  const Attribute* found = node.find(name);
  return found == nullptr ? nullptr : std::get_if<std::vector<T>>(&found->data);
}

std::int64_t count_of(const Node& node, std::string_view name) {
  if (const auto* ints = list<std::int64_t>(node, name))
    return static_cast<std::int64_t>(ints->size());
  if (const auto* reals = list<float>(node, name)) return static_cast<std::int64_t>(reals->size());
  const auto* texts = list<std::string>(node, name);
  return texts == nullptr ? 0 : static_cast<std::int64_t>(texts->size());
}

std::shared_ptr<const Tensor> tensor(const Node& node, std::string_view name) {
  const Attribute* found = node.find(name);
  const auto* held =
      found == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&found->data);
  return held == nullptr ? nullptr : *held;
}

void set(Node& node, std::size_t i, DType dtype, std::optional<Shape> shape) {
  ValueInfo* const output = node.output(i);
  if (output == nullptr) return;
  output->type_kind = TypeKind::kTensor;
  output->dtype = dtype;
  output->has_rank = shape.has_value();
  if (shape) output->shape = *std::move(shape);
}

bool is_tensor(const ValueInfo* value) {
  return value != nullptr && value->type_kind == TypeKind::kTensor;
}

DType dtype_of(const ValueInfo* value) {
  return is_tensor(value) ? value->dtype : DType::kUndefined;
}

std::optional<Shape> shape_of(const ValueInfo* value) {
  return is_tensor(value) && value->has_rank ? std::optional(value->shape) : std::nullopt;
}

// One row for each sample of [N, features]; one sample may stand alone.
Expr samples(const Node& node) {
  const auto shape = shape_of(node.input(0));
  if (!shape || shape->empty()) return {};
  return shape->size() == 1 ? Expr(1) : shape->front();
}

// An unknown number where there is none.
Expr known(std::int64_t count) { return count > 0 ? Expr(count) : Expr(); }

void like_input(Node& node) { set(node, 0, dtype_of(node.input(0)), shape_of(node.input(0))); }
void real_like_input(Node& node) { set(node, 0, DType::kFloat32, shape_of(node.input(0))); }

DType encoded_type(const Node& node) {
  if (const auto values = tensor(node, "values_tensor")) return values->dtype;
  if (count_of(node, "values_strings") > 0) return DType::kString;
  if (count_of(node, "values_int64s") > 0) return DType::kInt64;
  if (count_of(node, "values_floats") > 0) return DType::kFloat32;
  // Of version 1: from texts to numbers or back.
  const DType from = dtype_of(node.input(0));
  const bool maps_texts =
      count_of(node, "classes_strings") > 0 || count_of(node, "cats_strings") > 0;
  if (!maps_texts) return DType::kUndefined;
  if (from == DType::kString) return DType::kInt64;
  return from == DType::kInt64 ? DType::kString : DType::kUndefined;
}

void encoded(Node& node) { set(node, 0, encoded_type(node), shape_of(node.input(0))); }

void one_hot(Node& node) {
  auto shape = shape_of(node.input(0));
  const std::int64_t categories =
      std::max(count_of(node, "cats_int64s"), count_of(node, "cats_strings"));
  if (shape) shape->push_back(known(categories));
  set(node, 0, DType::kFloat32, std::move(shape));
}

void features(Node& node) {
  const auto* counts = list<std::int64_t>(node, "inputdimensions");
  const std::int64_t total =
      counts == nullptr ? 0 : std::accumulate(counts->begin(), counts->end(), std::int64_t{0});
  set(node, 0, DType::kFloat32, Shape{samples(node), known(total)});
}

void extracted(Node& node) {
  auto shape = shape_of(node.input(0));
  const auto indices = shape_of(node.input(1));
  if (shape && shape->size() == 1) shape->insert(shape->begin(), Expr(1));
  if (shape && !shape->empty())
    shape->back() = indices && std::ranges::all_of(*indices, &Expr::known)
                        ? symbolic::product(*indices)
                        : Expr();
  set(node, 0, dtype_of(node.input(0)), shape && !shape->empty() ? shape : std::nullopt);
}

// Labels [N] and scores [N, classes]. A model of two classes may have the coefficients of one.
void classified(Node& node, std::string_view numbers, bool has_all_scores) {
  const std::int64_t texts = count_of(node, "classlabels_strings");
  const std::int64_t labels = std::max(texts, count_of(node, numbers));
  if (labels == 0) return;
  set(node, 0, texts > 0 ? DType::kString : DType::kInt64, Shape{samples(node)});
  const bool is_known = has_all_scores && labels > 1;
  set(node, 1, DType::kFloat32, Shape{samples(node), is_known ? Expr(labels) : Expr()});
}

void classified_by_trees(Node& node) { classified(node, "classlabels_int64s", true); }
void classified_by_vectors(Node& node) { classified(node, "classlabels_ints", false); }
void classified_linearly(Node& node) {
  const std::int64_t labels =
      std::max(count_of(node, "classlabels_strings"), count_of(node, "classlabels_ints"));
  const std::int64_t rows = count_of(node, "intercepts");
  classified(node, "classlabels_ints", rows == labels || (rows == 1 && labels == 2));
}

void estimated(Node& node, std::string_view targets, std::int64_t otherwise, DType dtype) {
  set(node, 0, dtype, Shape{samples(node), known(node.int_or(targets, otherwise))});
}

void estimated_linearly(Node& node) { estimated(node, "targets", 1, DType::kFloat32); }
void estimated_by_vectors(Node& node) { set(node, 0, DType::kFloat32, Shape{samples(node), 1}); }
void estimated_by_trees(Node& node) { estimated(node, "n_targets", 0, DType::kFloat32); }
void given_by_trees(Node& node) { estimated(node, "n_targets", 0, dtype_of(node.input(0))); }

struct Entry {
  std::string_view name;
  void (*infer)(Node& node);
};

constexpr std::array kEntries = {
    Entry{"ArrayFeatureExtractor", extracted},
    Entry{"Binarizer", like_input},
    Entry{"CategoryMapper", encoded},
    Entry{"FeatureVectorizer", features},
    Entry{"Imputer", like_input},
    Entry{"LabelEncoder", encoded},
    Entry{"LinearClassifier", classified_linearly},
    Entry{"LinearRegressor", estimated_linearly},
    Entry{"Normalizer", real_like_input},
    Entry{"OneHotEncoder", one_hot},
    Entry{"SVMClassifier", classified_by_vectors},
    Entry{"SVMRegressor", estimated_by_vectors},
    Entry{"Scaler", real_like_input},
    Entry{"TreeEnsemble", given_by_trees},
    Entry{"TreeEnsembleClassifier", classified_by_trees},
    Entry{"TreeEnsembleRegressor", estimated_by_trees},
};

const Entry* entry_of(const Node* node) {
  if (node->domain != kDomain) return nullptr;
  const auto found = std::ranges::find(kEntries, node->op_type, &Entry::name);
  return found == kEntries.end() ? nullptr : &*found;
}

}  // namespace

bool is_ml_operator(const Node* node) { return entry_of(node) != nullptr; }

void infer_ml(Node* node) {
  const Entry* const entry = entry_of(node);
  const auto is_referred = [](const Attribute& each) { return !each.reference.empty(); };
  if (entry == nullptr || std::ranges::any_of(node->attributes, is_referred)) return;
  entry->infer(*node);
}

}  // namespace sardonyx::onnx
