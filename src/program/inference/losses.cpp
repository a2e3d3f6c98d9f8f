// Results of losses, which are reduced or left for each element.
#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

enum class Reduction : std::int64_t { kNone = 0, kMean = 1, kSum = 2 };

// `each` for an element of the batch where nothing is reduced.
TensorTypes reduced(const Bound& call, DType dtype, Sizes each) {
  const bool is_whole = call.integer("reduction") != static_cast<std::int64_t>(Reduction::kNone);
  return {{dtype, is_whole ? Sizes{} : std::move(each), {}}};
}

DType promoted(const Bound& call, std::string_view other) {
  Promotion promotion;
  promotion.add(call.self());
  promotion.add(call.tensor(other));
  return promotion.dtype();
}

// As large as the input and the target together.
TensorTypes between(const Bound& call) {
  return reduced(call, promoted(call, "target"),
                 call.broadcast(call.self().shape, call.tensor("target").shape));
}

TensorTypes of_input(const Bound& call) {
  return reduced(call, call.self().dtype,
                 call.broadcast(call.self().shape, call.tensor("target").shape));
}

TensorTypes of_target(const Bound& call) {
  return reduced(call, call.self().dtype, call.tensor("target").shape);
}

// Targets are classes, or as many probabilities as there are classes.
TensorTypes cross_entropy(const Bound& call) {
  const Value& target = call.tensor("target");
  Sizes each = target.shape;
  if (base::is_floating(target.dtype) && !each.empty())
    each.erase(each.begin() + (each.size() > 1 ? 1 : 0));
  return reduced(call, call.self().dtype, std::move(each));
}

// Its margin is a real number, which is added.
TensorTypes margin_ranking(const Bound& call) {
  const Sizes pair = call.broadcast(call.self().shape, call.tensor("input2").shape);
  Promotion promotion;
  promotion.add(call.self());
  promotion.add(call.tensor("input2"));
  promotion.add(call.tensor("target"));
  return reduced(call, as_floating(promotion.dtype()),
                 call.broadcast(pair, call.tensor("target").shape));
}

TensorTypes triplet_margin(const Bound& call) {
  Sizes each = call.broadcast(call.self().shape, call.tensor("positive").shape);
  each = call.broadcast(each, call.tensor("negative").shape);
  if (!each.empty()) each.pop_back();
  return reduced(call, promoted(call, "positive"), std::move(each));
}

TensorTypes multilabel_margin(const Bound& call) {
  Sizes each = call.self().shape;
  if (!each.empty()) each.pop_back();
  return reduced(call, call.self().dtype, std::move(each));
}

constexpr ResultRow kRows[] = {
    {"mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss poisson_nll_loss "
     "hinge_embedding_loss",
     between},
    {"binary_cross_entropy binary_cross_entropy_with_logits kl_div", of_input},
    {"nll_loss nll_loss_nd nll_loss2d multi_margin_loss cosine_embedding_loss", of_target},
    {"cross_entropy_loss", cross_entropy},
    {"margin_ranking_loss", margin_ranking},
    {"triplet_margin_loss", triplet_margin},
    {"multilabel_margin_loss", multilabel_margin},
};

}  // namespace

std::span<const ResultRow> loss_results() { return kRows; }

}  // namespace sardonyx::program
