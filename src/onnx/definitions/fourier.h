// The entries of matrices of the discrete Fourier transform.
#pragma once

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// turn * r * c / length for the rows r [m, 1] and the columns c [1, n], int64; `length` is int64,
// 0-d. Whole turns are taken off as integers, so that large products lose nothing.
Value fourier_angles(Emit& onnx, Value rows, Value columns, Value length, double turn, DType dtype);

// How often each element of half a spectrum counts: once where it is the first or the middle one,
// else twice, since it stands for its conjugate as well.
Value spectrum_weights(Emit& onnx, Value element, Value length, DType dtype);

}  // namespace sardonyx::onnx
