// Models for the tests of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::proto {

// y = x + w, with w of float32 [n].
std::unique_ptr<onnx::Model> adding_model(onnx::Tensor w);
std::unique_ptr<onnx::Model> adding_model(std::int64_t n);

// One of everything that the IR can say.
std::unique_ptr<onnx::Model> model_of_everything();

// A tensor of float32 [n] with the values 0, 1, 2, ...
onnx::Tensor counting(std::int64_t n);

// `size` bytes of zeros that take no memory until they are read.
onnx::Tensor sparse_zeros(std::int64_t size);

std::string contents(const std::filesystem::path& path);
std::span<const std::byte> as_bytes(const std::string& text);

}  // namespace sardonyx::proto
