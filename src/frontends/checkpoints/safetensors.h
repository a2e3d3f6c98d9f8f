// safetensors files: a header in JSON, and the bytes of tensors.
// The format: https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontends/checkpoints/tensor_in_file.h"

namespace sardonyx::checkpoints {

struct Safetensors {
  std::vector<TensorInFile> tensors;  // as the header lists them
  std::vector<std::pair<std::string, std::string>> metadata;
};

// `path` is for messages. Throws SX2005 where the bytes are no such file, or cut short.
Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& path);
// Of a file's first bytes, at least its header.
Safetensors parse_safetensors(std::span<const std::byte> start, std::uint64_t file_bytes,
                              const std::string& path);

struct SafetensorsFile {
  std::string path;
  Safetensors contents;
};
// Several files. Throws SX2005 for each that is missing or not as it should be.
std::vector<SafetensorsFile> read_safetensors(const std::vector<std::string>& paths);

// An index of shards: which of them has which tensor.
struct ShardIndex {
  std::vector<std::string> shards;                              // without repetition, in order
  std::vector<std::pair<std::string, std::string>> weight_map;  // tensor, shard
};
ShardIndex parse_shard_index(std::span<const std::byte> file, const std::string& path);
ShardIndex read_shard_index(const std::string& path);

// The shards of an index, in its folder, with the tensors that it names. Throws SX2005 where it
// names files outside of the folder or tensors that no shard has, too, and where several shards
// have a tensor that the index lists in none of them.
std::vector<SafetensorsFile> read_sharded_safetensors(const std::string& index);

}  // namespace sardonyx::checkpoints
