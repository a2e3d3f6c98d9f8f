// Reading ONNX models. Tensor data stays in the mapped file, or files, and is borrowed from there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "proto/reader/external_data.h"

namespace sardonyx::onnx {
class Model;
}

namespace sardonyx::proto {

// Reads a model of any version of the format that has operator sets. What the graph IR has no place
// for (documentation, metadata of graphs and values, denotations, maps and nested sequences, sparse
// initializers, quantization annotations, training information, fields of newer versions) is
// carried along as it stands, and written again.
// - Initializers are constants, except those that are inputs, too, and that callers may override
//   since version 4 of the format. They are weights where is_weight() says so.
// - Nodes Constant are constants, except those that make an output of their graph.
// - Names are kept, but in bodies for those of constants and for values that graphs around them
//   have, too.
// - External data must lie in the folder of the model, or of the file that a symbolic link to the
//   model leads to.
//
// Any input whatever ends in a model or in an error: SX1101 (a file cannot be read), SX1151 (no
// ONNX model, or corrupt), SX1152 (the graph contradicts itself), SX1153 (of a kind that is not
// supported), SX1154 (data does not fit its tensor), SX1155 (external data). The result is
// consistent, but not checked against the operators' schemas: that is onnx::verify().
//
// `has_data_file`: set to whether there is any.
std::unique_ptr<onnx::Model> read(const std::filesystem::path& path, bool* has_data_file = nullptr);

// The same of bytes in memory, kept alive by `owner`. External data is looked for in `folder`;
// refused where that is empty.
std::unique_ptr<onnx::Model> parse(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner,
                                   const std::filesystem::path& folder = {});

// The same where tensors are external data at locations that are names in `given`: of a model whose
// larger tensors lie in memory apart from it.
std::unique_ptr<onnx::Model> parse(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner,
                                   std::map<std::string, BorrowedBytes> given);

}  // namespace sardonyx::proto
