// Translators from shared libraries, through the C interface of sardonyx/plugin.h.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "aten/translation/translate.h"

namespace sardonyx::plugin {

class Plugins {
 public:
  // Loads the libraries, which stay loaded until the process ends. Throws SX1009 for one that
  // cannot be loaded or does not want to work with this host.
  explicit Plugins(const std::vector<std::filesystem::path>& paths);

  // Null where no plugin translates the operator.
  const aten::CustomTranslator* find(const program::Call& call) const;

 private:
  std::map<std::string, aten::CustomTranslator, std::less<>> translators_;  // by operator
};

}  // namespace sardonyx::plugin
