// The order in which the nodes of a graph can be read.
#pragma once

#include <string_view>
#include <vector>

namespace sardonyx::proto {

// NodeProtos, each behind those whose outputs it or its bodies read, as the format wants them.
// Tools that put nodes in leave them at the end, and runtimes put them in order: so is it done
// here, and else nothing moves. What goes round in a circle stays as it is, for the reader to say
// so.
std::vector<std::string_view> in_order(const std::vector<std::string_view>& nodes);

}  // namespace sardonyx::proto
