// The families of backward passes, which a program for inference may call by name.
#pragma once

#include <span>

#include "aten/library.h"

namespace sardonyx::aten {

std::span<const Row> activation_gradient_rows();
std::span<const Row> axis_gradient_rows();
std::span<const Row> convolution_gradient_rows();

}  // namespace sardonyx::aten
