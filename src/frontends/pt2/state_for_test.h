// What torch.save() writes of a state dictionary, by hand.
#pragma once

#include <string>
#include <utility>

#include "frontends/archive/archive_for_test.h"

namespace sardonyx::pt2 {

using archive::ArchiveForTest;
using archive::packed;

inline std::string pickled_text(const std::string& text) {
  return "X" + packed(text.size(), 4) + text;
}

// A call of `name` of `module` with the arguments that `arguments` pushes.
inline std::string pickled_call(const std::string& module, const std::string& name,
                                const std::string& arguments) {
  return "c" + module + "\n" + name + "\n(" + arguments + "tR";
}

// ('storage', torch.FloatStorage, key, 'cpu', 6) as a persistent identifier.
inline std::string pickled_storage(const std::string& key, const std::string& type) {
  return "(" + pickled_text("storage") + type + pickled_text(key) + pickled_text("cpu") + "K\x06tQ";
}

inline const std::string kFloatStorage = "ctorch\nFloatStorage\n";

// The arguments that a tensor of two rows and three columns is rebuilt from.
inline std::string pickled_layout(const std::string& key, int offset = 0,
                                  const std::string& type = kFloatStorage) {
  return pickled_storage(key, type) + "K" + static_cast<char>(offset) +
         "K\x02K\x03\x86K\x03K\x01\x86\x89" + pickled_call("collections", "OrderedDict", "");
}

inline std::string pickled_tensor(const std::string& key, int offset = 0,
                                  const std::string& type = kFloatStorage) {
  return pickled_call("torch._utils", "_rebuild_tensor_v2", pickled_layout(key, offset, type));
}

inline std::string pickled_parameter(const std::string& tensor) {
  return pickled_call("torch._utils", "_rebuild_parameter",
                      tensor + "\x88" + pickled_call("collections", "OrderedDict", ""));
}

// A tensor of type `type` ("torch\nTensor") with an attribute of its own.
inline std::string pickled_with_attributes(const std::string& key, const std::string& type) {
  return pickled_call("torch._tensor", "_rebuild_from_type_v2",
                      "ctorch._utils\n_rebuild_tensor_v2\nc" + type + "\n(" + pickled_layout(key) +
                          "t}" + pickled_text("persistent") + "\x89s");
}

// `items` pushes keys and values in turn.
inline std::string pickled_dictionary(const std::string& items) {
  return "\x80\x02}(" + items + "u.";
}

inline ArchiveForTest saved_state(const std::string& pickle, const std::string& storage) {
  ArchiveForTest archive;
  archive.add("archive/data.pkl", pickle);
  archive.add("archive/byteorder", "little");
  archive.add("archive/data/0", storage);
  return archive;
}

}  // namespace sardonyx::pt2
