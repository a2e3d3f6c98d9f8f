// The syntax tree of an archive's code: the part of Python that torch.jit.save() writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sardonyx::torchscript {

struct Expression {
  enum class Kind : std::uint8_t {
    kName,     // text
    kInteger,  // integer
    kReal,     // real
    kString,   // text
    kTrue,
    kFalse,
    kNone,
    kAttribute,  // items[0] . text
    kSubscript,  // items[0] [ items[1], ... ]
    kCall,       // items[0] ( items[1], ..., keywords )
    kTuple,
    kList,
    kDict,      // items: key, value, key, value, ...
    kNegative,  // - items[0]
    kComplex,   // items[0] + items[1] j
    kEllipsis,
  };

  Kind kind = Kind::kNone;
  std::size_t offset = 0;  // in the file's text
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  std::vector<const Expression*> items;
  std::vector<std::pair<std::string, const Expression*>> keywords;

  // "__torch__.torch.nn.functional.relu"; empty where it is no dotted name.
  std::string dotted() const;
};

struct Statement {
  enum class Kind : std::uint8_t {
    kExpression,  // value
    kAssign,      // targets = value
    kAnnotated,   // targets[0] : annotation = value (may be null)
    kReturn,      // value (may be null)
    kIf,          // value, body, otherwise
    kFor,         // targets[0] in value, body
    kWhile,       // value, body
    kWith,        // value, targets[0] where it is named, body
    kPass,
  };

  Kind kind = Kind::kPass;
  std::size_t offset = 0;
  std::vector<const Expression*> targets;
  const Expression* value = nullptr;
  const Expression* annotation = nullptr;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
};

struct SourceFile;

struct Function {
  struct Parameter {
    std::string name;
    const Expression* annotation = nullptr;
    const Expression* standard = nullptr;  // the default; null where there is none
  };

  std::string name;
  std::size_t offset = 0;
  std::vector<Parameter> parameters;
  const Expression* result = nullptr;
  std::vector<Statement> body;
  const SourceFile* file = nullptr;
};

struct Class {
  std::string name;  // "Linear"
  std::string base;  // "Module", "NamedTuple", "Enum", "Interface"; empty for a plain class
  std::vector<Statement> fields;
  std::vector<Function> methods;
  const SourceFile* file = nullptr;

  const Function* method(std::string_view method_name) const;
};

// Owns its nodes.
struct SourceFile {
  std::string name;  // "__torch__/torch/nn/functional.py"
  std::string text;
  std::deque<Expression> expressions;
  std::deque<Function> functions;
  std::deque<Class> classes;

  int line_of(std::size_t offset) const;
  std::string line_text(std::size_t offset) const;
};

// Throws SX1121 with the line where the text is none of an archive's.
std::unique_ptr<SourceFile> parse_source(std::string name, std::string text);

}  // namespace sardonyx::torchscript
