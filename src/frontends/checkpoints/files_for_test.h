// Checkpoints for tests, made by hand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontends/archive/archive_for_test.h"

namespace sardonyx::checkpoints {

using archive::packed;

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A safetensors file with that header.
inline std::string safetensors_for_test(const std::string& header, std::size_t data) {
  return packed(header.size(), 8) + header + std::string(data, '\1');
}

inline const std::string kTwoTensors =
    R"({"__metadata__": {"format": "pt"},)"
    R"("a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},)"
    R"("b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]}})";

inline std::string gguf_text(const std::string& text) { return packed(text.size(), 8) + text; }

// A tensor of the table: sizes are ggml's, fastest first.
inline std::string gguf_entry(const std::string& name, const std::vector<std::uint64_t>& sizes,
                              std::uint64_t type, std::uint64_t offset) {
  std::string entry = gguf_text(name) + packed(sizes.size(), 4);
  for (const std::uint64_t size : sizes) entry += packed(size, 8);
  return entry + packed(type, 4) + packed(offset, 8);
}

// Of `metadata` there are three values.
inline std::string gguf_for_test(const std::vector<std::string>& entries, std::size_t data) {
  std::string file = "GGUF" + packed(3, 4) + packed(entries.size(), 8) + packed(3, 8);
  file += gguf_text("general.architecture") + packed(8, 4) + gguf_text("llama");
  file += gguf_text("general.alignment") + packed(4, 4) + packed(64, 4);
  file += gguf_text("tokens") + packed(9, 4) + packed(8, 4) + packed(2, 8) + gguf_text("<a>") +
          gguf_text("<b>");
  for (const std::string& entry : entries) file += entry;
  file.resize((file.size() + 63) / 64 * 64);
  return file + std::string(data, '\1');
}

inline std::string small_gguf() {
  return gguf_for_test({gguf_entry("w", {32, 2}, 2, 0), gguf_entry("b", {4}, 0, 64)}, 80);
}

// Pickles, as Python writes them.
inline std::string pickled(const std::string& text) { return "X" + packed(text.size(), 4) + text; }
inline std::string pickled(std::int64_t number) {
  return "\x8a\x08" + packed(static_cast<std::uint64_t>(number), 8);
}
inline std::string pickled_tuple(const std::string& items) { return "(" + items + "t"; }
inline std::string pickled_size(const std::vector<std::int64_t>& sizes) {
  std::string items;
  for (const std::int64_t size : sizes) items += pickled(size);
  return "ctorch\nSize\n" + pickled_tuple(pickled_tuple(items)) + "R";
}
// An object of a class of torch.distributed, with the state that `state` pushes.
inline std::string pickled_object(const std::string& module, const std::string& name,
                                  const std::string& state) {
  return "ctorch.distributed.checkpoint." + module + "\n" + name + "\n)\x81" + state + "b";
}
inline std::string pickled_fields(const std::string& items) { return "}(" + items + "u"; }

struct PieceForTest {
  std::vector<std::int64_t> offsets, sizes;
  std::string file = "__0_0.distcp";
  std::int64_t offset = 0, length = 100;
};

inline std::string pickled_chunk(const PieceForTest& piece) {
  return pickled_object("metadata", "ChunkStorageMetadata",
                        pickled_fields(pickled("offsets") + pickled_size(piece.offsets) +
                                       pickled("sizes") + pickled_size(piece.sizes)));
}

inline std::string pickled_place(const std::string& tensor, const PieceForTest& piece) {
  return pickled_object("metadata", "MetadataIndex",
                        pickled_fields(pickled("fqn") + pickled(tensor) + pickled("offset") +
                                       pickled_size(piece.offsets))) +
         pickled_object(
             "filesystem", "_StorageInfo",
             pickled_fields(pickled("relative_path") + pickled(piece.file) + pickled("offset") +
                            pickled(piece.offset) + pickled("length") + pickled(piece.length)));
}

// `.metadata` of one tensor of float32.
inline std::string metadata_for_test(const std::string& name, const std::vector<std::int64_t>& dims,
                                     const std::vector<PieceForTest>& pieces) {
  std::string chunks, places;
  for (const PieceForTest& piece : pieces) {
    chunks += pickled_chunk(piece);
    places += pickled_place(name, piece);
  }
  const std::string properties =
      pickled_object("metadata", "TensorProperties", pickled_tuple("ctorch\nfloat32\n\x89"));
  const std::string tensor =
      pickled_object("metadata", "TensorStorageMetadata",
                     pickled_fields(pickled("properties") + properties + pickled("size") +
                                    pickled_size(dims) + pickled("chunks") + "](" + chunks + "e"));
  return "\x80\x02" +
         pickled_object("metadata", "Metadata",
                        pickled_fields(pickled("state_dict_metadata") +
                                       pickled_fields(pickled(name) + tensor) +
                                       pickled("storage_data") + pickled_fields(places))) +
         ".";
}

// What torch.save() writes of a tensor of float32 with these strides.
inline std::string saved_tensor_for_test(const std::vector<std::int64_t>& sizes,
                                         const std::vector<std::int64_t>& strides,
                                         const std::string& storage) {
  std::string dims, steps;
  for (const std::int64_t size : sizes) dims += pickled(size);
  for (const std::int64_t stride : strides) steps += pickled(stride);
  const std::string held =
      pickled_tuple(pickled("storage") + "ctorch\nFloatStorage\n" + pickled("0") + pickled("cpu") +
                    pickled(static_cast<std::int64_t>(storage.size() / 4))) +
      "Q";
  archive::ArchiveForTest archive;
  archive.add(
      "archive/data.pkl",
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\n" +
          pickled_tuple(held + pickled(0) + pickled_tuple(dims) + pickled_tuple(steps) + "\x89N") +
          "R.");
  archive.add("archive/byteorder", "little");
  archive.add("archive/data/0", storage);
  return archive.str();
}

}  // namespace sardonyx::checkpoints
