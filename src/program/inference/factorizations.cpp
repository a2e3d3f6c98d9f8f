// Results of what takes matrices apart, inverts them, and solves with them.
#include <algorithm>
#include <span>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

// (batch..., rows, columns)
struct Matrices {
  Sizes batch;
  Expr rows, columns;

  Matrices(const Bound& call, const Value& value) {
    if (value.rank() < 2) call.refuse("it needs a matrix");
    batch.assign(value.shape.begin(), value.shape.end() - 2);
    rows = value.shape[value.rank() - 2];
    columns = value.shape.back();
  }

  Expr least() const { return symbolic::min(rows, columns); }

  Sizes with(std::initializer_list<Expr> own) const {
    Sizes shape = batch;
    shape.insert(shape.end(), own);
    return shape;
  }
};

TensorTypes same(const Bound& call) { return {like(call.self(), call.self().shape)}; }

TensorTypes determinant(const Bound& call) {
  return {like(call.self(), Matrices(call, call.self()).batch)};
}

TensorTypes sign_and_logarithm(const Bound& call) {
  const Sizes batch = Matrices(call, call.self()).batch;
  return {like(call.self(), batch), {base::real_of(call.self().dtype), batch, {}}};
}

TensorTypes pseudo_inverse(const Bound& call) {
  const Matrices given(call, call.self());
  return {like(call.self(), given.with({given.columns, given.rows}))};
}

TensorTypes solved(const Bound& call, const Value& matrix, const Value& right) {
  const Matrices given(call, matrix), wanted(call, right);
  Sizes shape = call.broadcast(given.batch, wanted.batch);
  shape.push_back(wanted.rows);
  shape.push_back(wanted.columns);
  return {like(right, std::move(shape))};
}

// B is a vector for each matrix where it has one dimension less, or one at all.
TensorTypes solve(const Bound& call) {
  const Value &matrix = call.self(), &right = call.tensor("B");
  const Matrices given(call, matrix);
  const bool is_batch_of_vectors =
      right.rank() + 1 == matrix.rank() &&
      std::equal(right.shape.begin(), right.shape.end(), matrix.shape.begin());
  if (right.rank() != 1 && !is_batch_of_vectors) return solved(call, matrix, right);
  return {like(right, given.with({given.rows}))};
}

TensorTypes triangular(const Bound& call) { return solved(call, call.self(), call.tensor("B")); }

TensorTypes cholesky_solve(const Bound& call) {
  return solved(call, call.tensor("input2"), call.self());
}

TensorTypes triangular_solve(const Bound& call) {
  TensorTypes results = solved(call, call.tensor("A"), call.self());
  const Matrices given(call, call.tensor("A"));
  Sizes shape = results.front().shape;
  shape[shape.size() - 2] = given.rows;
  shape.back() = given.columns;
  results.push_back(like(call.tensor("A"), std::move(shape)));
  return results;
}

TensorTypes qr_of(const Bound& call, bool complete, bool without_q) {
  const Matrices given(call, call.self());
  const Expr inner = complete ? given.rows : given.least();
  return {like(call.self(), without_q ? Sizes{0} : given.with({given.rows, inner})),
          like(call.self(), given.with({inner, given.columns}))};
}

TensorTypes qr(const Bound& call) {
  const auto position = call.schema().find("mode");
  const std::string* mode = position ? call.arguments()[*position].get<std::string>() : nullptr;
  if (!mode) return qr_of(call, !call.flag("some"), false);
  return qr_of(call, *mode == "complete", *mode == "r");
}

TensorTypes svd(const Bound& call) {
  const Matrices given(call, call.self());
  const bool is_old = call.schema().find("some").has_value();
  const bool full = is_old ? !call.flag("some") : call.flag("full_matrices");
  const Expr rows = full ? given.rows : given.least(),
             columns = full ? given.columns : given.least();
  const DType real = base::real_of(call.self().dtype);
  return {
      like(call.self(), given.with({given.rows, rows})),
      {real, given.with({given.least()}), {}},
      like(call.self(),
           is_old ? given.with({given.columns, columns}) : given.with({columns, given.columns})),
  };
}

TensorTypes singular_values(const Bound& call) {
  const Matrices given(call, call.self());
  return {{base::real_of(call.self().dtype), given.with({given.least()}), {}}};
}

TensorTypes eigenvalues(const Bound& call) {
  const Matrices given(call, call.self());
  return {{base::real_of(call.self().dtype), given.with({given.rows}), {}}};
}

TensorTypes eigenvalues_and_vectors(const Bound& call) {
  TensorTypes results = eigenvalues(call);
  results.push_back(like(call.self(), call.self().shape));
  return results;
}

TensorTypes lu(const Bound& call) {
  const Matrices given(call, call.self());
  return {like(call.self(), given.with({given.rows, given.rows})),
          like(call.self(), given.with({given.rows, given.least()})),
          like(call.self(), given.with({given.least(), given.columns}))};
}

TensorTypes reflections(const Bound& call) {
  const Matrices given(call, call.self());
  return {like(call.self(), call.self().shape), like(call.self(), given.with({given.least()}))};
}

TensorTypes like_the_third(const Bound& call) {
  const Value& other = call.tensor("input3");
  return {like(other, other.shape)};
}

// In all batches that both have.
TensorTypes lu_solve(const Bound& call) {
  const bool is_newer = call.name() == "linalg_lu_solve";
  const Value& sides = is_newer ? call.tensor("B") : call.self();
  const Sizes& factors = call.tensor(is_newer ? "LU" : "LU_data").shape;
  if (sides.rank() < 2 || factors.size() < 2) call.refuse("it needs matrices");
  const std::span<const Expr> left(sides.shape.data(), sides.rank() - 2);
  const std::span<const Expr> right(factors.data(), factors.size() - 2);
  Sizes shape = call.broadcast(left, right);
  shape.insert(shape.end(), sides.shape.end() - 2, sides.shape.end());
  return {like(sides, std::move(shape))};
}

// The inverse of what the first `ind` dimensions make rows of.
TensorTypes tensor_inverse(const Bound& call) {
  Sizes shape = call.self().shape;
  const std::int64_t rows = call.integer("ind");
  if (rows <= 0 || rows > static_cast<std::int64_t>(shape.size())) call.refuse("an index it lacks");
  std::ranges::rotate(shape, shape.begin() + rows);
  return {like(call.self(), std::move(shape))};
}

// Of the dimensions of `self` those that `other` does not account for.
TensorTypes tensor_solution(const Bound& call) {
  const Sizes& shape = call.self().shape;
  std::vector<bool> moved(shape.size());
  if (call.has("dims"))
    for (const std::int64_t dim : call.integers("dims"))
      moved.at(call.axis(dim, shape.size())) = true;
  Sizes ordered, last;
  for (std::size_t i = 0; i < shape.size(); ++i) (moved[i] ? last : ordered).push_back(shape[i]);
  ordered.insert(ordered.end(), last.begin(), last.end());
  const std::size_t given = call.tensor("other").rank();
  if (given > ordered.size()) call.refuse("its right side has more dimensions than it");
  return {like(call.self(),
               Sizes(ordered.begin() + static_cast<std::ptrdiff_t>(given), ordered.end()))};
}

TensorTypes lu_factor(const Bound& call) {
  const Matrices given(call, call.self());
  return {like(call.self(), call.self().shape), {DType::kInt32, given.with({given.least()}), {}}};
}

constexpr ResultRow kRows[] = {
    {"inverse linalg_inv cholesky linalg_cholesky cholesky_inverse matrix_exp linalg_matrix_exp "
     "matrix_power linalg_matrix_power linalg_householder_product orgqr",
     same},
    {"det linalg_det logdet", determinant},
    {"slogdet linalg_slogdet", sign_and_logarithm},
    {"pinverse linalg_pinv", pseudo_inverse},
    {"linalg_solve", solve},
    {"linalg_solve_triangular", triangular},
    {"cholesky_solve", cholesky_solve},
    {"triangular_solve", triangular_solve},
    {"qr linalg_qr", qr},
    {"svd linalg_svd", svd},
    {"linalg_svdvals", singular_values},
    {"linalg_eigvalsh", eigenvalues},
    {"linalg_eigh", eigenvalues_and_vectors},
    {"linalg_lu", lu},
    {"linalg_lu_factor", lu_factor},
    {"geqrf", reflections},
    {"ormqr", like_the_third},
    {"lu_solve linalg_lu_solve", lu_solve},
    {"linalg_tensorinv", tensor_inverse},
    {"linalg_tensorsolve", tensor_solution},
};

}  // namespace

std::span<const ResultRow> factorization_results() { return kRows; }

}  // namespace sardonyx::program
