#include "sizes.h"

#include <nanobind/stl/string.h>

namespace sardonyx::bindings {
namespace nb = nanobind;

nb::list sizes_of(std::span<const symbolic::Expr> shape) {
  nb::list sizes;
  for (const symbolic::Expr size : shape) {
    if (!size.known()) {
      sizes.append(nb::none());
    } else if (size.is_constant()) {
      sizes.append(size.value());
    } else {
      sizes.append(size.str());
    }
  }
  return sizes;
}

}  // namespace sardonyx::bindings
