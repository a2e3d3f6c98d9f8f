// The names of a main graph or of a function, bodies included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sardonyx::onnx {

class NameScope {
 public:
  // A name that nothing has: `wanted`, else wanted_1, wanted_2, ... It is taken then.
  std::string unique(std::string_view wanted);
  // Leaves the name to who wants it itself: unique() makes it of no other.
  void reserve(std::string_view name);
  // Takes the name, even where something has it: bodies side by side may use the same names.
  void take(std::string_view name);
  // Lets go of a name that was taken, once.
  void release(std::string_view name);
  bool has(std::string_view name) const;

 private:
  struct Entry {
    std::uint32_t holders = 0;
    std::uint32_t next = 1;  // the number to try next after a clash
    bool reserved = false;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  Entry& entry(std::string_view name);

  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> names_;
};

}  // namespace sardonyx::onnx
