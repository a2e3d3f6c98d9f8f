// The kernels of cast.cpp that are compiled once for each set of instructions.
#pragma once

#include <cstddef>
#include <span>

namespace sardonyx::kernels {

void float16_to_floats(const std::byte* data, std::span<float> values);
void bfloat16_to_floats(const std::byte* data, std::span<float> values);
void floats_to_float16(std::span<const float> values, std::byte* data);
void floats_to_bfloat16(std::span<const float> values, std::byte* data);
void floats_to_float8_e4m3fn(std::span<const float> values, std::byte* data);
void floats_to_float8_e4m3fnuz(std::span<const float> values, std::byte* data);
void floats_to_float8_e5m2(std::span<const float> values, std::byte* data);
void floats_to_float8_e5m2fnuz(std::span<const float> values, std::byte* data);
void floats_to_doubles(std::span<const float> values, double* result);
void doubles_to_floats(std::span<const double> values, float* result);

}  // namespace sardonyx::kernels
