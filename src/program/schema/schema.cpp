#include "program/schema/schema.h"

namespace sardonyx::program {

std::string_view Schema::space() const {
  const std::string_view text = name;
  const std::size_t colons = text.find("::");
  return colons == std::string_view::npos ? std::string_view() : text.substr(0, colons);
}

std::string_view Schema::base_name() const {
  const std::string_view text = name;
  const std::size_t colons = text.find("::");
  return colons == std::string_view::npos ? text : text.substr(colons + 2);
}

std::string Schema::qualified() const { return overload.empty() ? name : name + "." + overload; }

std::optional<std::size_t> Schema::find(std::string_view parameter) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return i;
  }
  return std::nullopt;
}

bool Schema::mutates() const {
  for (const Parameter& parameter : parameters) {
    if (parameter.alias.is_write) return true;
  }
  return false;
}

}  // namespace sardonyx::program
