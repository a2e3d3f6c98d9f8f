// What a user calls the dynamic dimensions of a captured program.
#pragma once

#include <map>
#include <span>
#include <string>

#include "program/ir/program.h"

namespace sardonyx::program {

// Which size gets which name: a symbol of the program ("s77"), or a dimension of an input ("x:0").
using DimNames = std::map<std::string, std::string, std::less<>>;

// Of "s77=batch" and "x:1=sequence". SX1001 for another form, and for a name that is no identifier.
DimNames parse_dim_names(std::span<const std::string> texts);

// Gives the sizes their names, which every shape that holds them is printed with. SX1001 for a
// symbol, an input or an axis that there is not, for a dimension that is a number or is computed of
// other sizes, and where two sizes would get one name, or one size two.
void name_dims(Program& program, const DimNames& names);

}  // namespace sardonyx::program
