// Matrix factorizations as loops over columns, on batches in parts (matrices.h), in float64.
#pragma once

#include "aten/matrices/matrices.h"

namespace sardonyx::aten {

// P A = L U by partial pivoting, as LAPACK's getrf does it: the pivot is the first of the largest.
struct Lu {
  Parts packed;  // L below the diagonal, U on and above it
  Value pivots;  // int64 [batch, min(m, n)]: the row that row k was exchanged with
  Value order;   // int64 [batch, m]: the rows of A in the order of P A
};
Lu lu_factors(Emit& onnx, const Parts& a);
// The order of rows after these exchanges.
Value order_of(Emit& onnx, Value pivots, Expr rows);
// 1 or -1 for each matrix, float64 [batch].
Value permutation_sign(Emit& onnx, Value pivots);
// For each matrix the first k (from 1) whose pivot is 0, or 0; int64 [batch].
Value first_zero_pivot(Emit& onnx, const Parts& packed);

// X with T X = B, T triangular.
Parts solve_triangle(Emit& onnx, const Parts& t, const Parts& b, bool upper, bool unit);
// X with A X = B.
Parts solve_with(Emit& onnx, const Lu& lu, const Parts& b);

// A = L L^H, from the lower triangle.
struct Cholesky {
  Parts lower;
  Value failed;  // int64 [batch]: the first k (from 1) that is not positive, or 0
};
Cholesky cholesky_factor(Emit& onnx, const Parts& a);

// A = Q R by Householder reflections as LAPACK's geqrf has them: R on and above the diagonal, the
// reflections' vectors below it.
struct Reflections {
  Parts packed;
  Parts tau;  // [batch, min(m, n)]
};
Reflections householder(Emit& onnx, const Parts& a);
// The product of the reflections (or its adjoint) times C.
Parts reflected(Emit& onnx, const Reflections& h, const Parts& c, bool adjoint);
// The first `columns` columns of Q.
Parts orthogonal_factor(Emit& onnx, const Reflections& h, Expr columns);

// A = V diag(w) V^H for Hermitian A, w ascending, by Jacobi's rotations.
struct Eigen {
  Value values;   // [batch, n]
  Parts vectors;  // absent when not asked for
};
Eigen hermitian_eigen(Emit& onnx, const Parts& a, bool vectors);

// A V = B with orthogonal columns in B, whose lengths are the singular values, descending. For
// matrices with at least as many rows as columns.
struct Orthogonalized {
  Parts product;  // B
  Parts right;    // V
  Value values;   // [batch, n]
};
Orthogonalized one_sided_jacobi(Emit& onnx, const Parts& a, bool right);

}  // namespace sardonyx::aten
