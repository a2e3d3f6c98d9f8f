// GGUF files of llama.cpp: the tensors that the header lists.
// The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontends/checkpoints/tensor_in_file.h"

namespace sardonyx::checkpoints {

struct GgufTensor {
  std::string name;  // llama.cpp's
  // The element type where the elements lie as they are; kUndefined for those in blocks.
  base::DType dtype = base::DType::kUndefined;
  std::string block;  // ggml's name of the type of the blocks; empty where there are none
  std::vector<std::int64_t> dims;  // slowest first, as PyTorch has them
  Extent extent;
};

struct Gguf {
  std::string architecture;  // llama.cpp's name of it
  std::vector<GgufTensor> tensors;
};

// `path` is for messages. Throws SX2005 where the bytes are no such file, or cut short, and SX2001
// for element types that are not supported; it names all of them.
Gguf parse_gguf(std::span<const std::byte> file, const std::string& path);
Gguf read_gguf(const std::string& path);

}  // namespace sardonyx::checkpoints
