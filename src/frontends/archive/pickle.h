// Reading pickles as data: nothing is imported and nothing is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::archive {

// What a pickle describes. Objects refer to each other by index, so that even a pickle that refers
// to itself is a flat table.
struct PickleItem {
  enum class Kind : std::uint8_t {
    kNone,
    kBool,        // integer
    kInteger,     // integer
    kFloat,       // real
    kText,        // text; bytes too
    kSequence,    // items; lists, tuples and sets
    kDictionary,  // items: key, value, key, value, ...; collections.OrderedDict too
    kGlobal,      // text: "torch._utils _rebuild_tensor_v2"
    kCall,        // items: the callable, its arguments, and the object's state where it has one
    kPersistent,  // items: the identifier of something outside of the pickle
  };

  Kind kind = Kind::kNone;
  bool tuple = false;  // of a sequence
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<std::uint32_t> items;
};

class Pickle {
 public:
  // Reads protocols 2 to 5. Throws SX1110 when the bytes are no pickle, or use what no pickle of
  // tensors needs (extension codes, integers beyond 64 bits).
  explicit Pickle(std::span<const std::byte> bytes);

  const PickleItem& root() const { return table_[root_]; }
  const PickleItem& at(std::uint32_t index) const { return table_[index]; }
  std::span<const PickleItem> items() const { return table_; }
  // Item `i` of a sequence, dictionary or call; null when there are fewer.
  const PickleItem* item(const PickleItem& parent, std::size_t i) const;

 private:
  class Machine;

  std::vector<PickleItem> table_;
  std::uint32_t root_ = 0;
};

}  // namespace sardonyx::archive
