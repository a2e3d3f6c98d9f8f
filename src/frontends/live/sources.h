// Where the nodes of a live program came from.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::live {

// Every node carries its own copy of its module stack and stack trace, while neighbors say the
// same: sources are found by a few bytes of their text and compared in full.
class Sources {
 public:
  explicit Sources(program::Program& program) : program_(program) {}

  // From the `meta` of a node; null when it says nothing.
  const program::Source* of(nanobind::handle meta);

 private:
  struct Frame {
    std::string_view path;
    std::string_view type;
    std::uint32_t call;
  };
  void read_frames(nanobind::handle stack);
  bool matches(const program::Source& source, std::string_view trace) const;
  std::size_t hash(std::string_view trace) const;

  program::Program& program_;
  std::unordered_multimap<std::size_t, const program::Source*> known_;
  std::vector<Frame> frames_;      // of the node at hand
  std::deque<std::string> types_;  // texts that no str object holds
};

}  // namespace sardonyx::live
