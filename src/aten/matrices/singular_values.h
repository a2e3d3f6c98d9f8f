// What singular values say of matrices.
#pragma once

#include "aten/matrices/factorizations.h"

namespace sardonyx::aten {

// Of a batch of matrices, descending, float64 [batch, min(m, n)].
Value singular_values(Emit& onnx, const Parts& a);

// From one triangle of a Hermitian matrix the whole.
Parts hermitian_from(Emit& onnx, const Parts& a, bool upper);

// Whether there is no element in any matrix.
bool is_empty(const Parts& a);

}  // namespace sardonyx::aten
