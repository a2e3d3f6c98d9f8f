// Results of Fourier transforms.
#include <algorithm>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

enum class Spectrum : std::uint8_t { kWhole, kHalf, kReal };

DType dtype_of(Spectrum spectrum, DType given) {
  const DType own = as_floating(given);
  if (spectrum == Spectrum::kReal) return base::real_of(own);
  return base::is_complex(own) ? own : base::complex_of(own);
}

// fft_rfftn, fft_ihfft: half of what is symmetric; fft_irfft2, fft_hfft: the inverse of it.
Spectrum spectrum_of(std::string_view name) {
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  if (begins("fft_rfft") || begins("fft_ihfft")) return Spectrum::kHalf;
  if (begins("fft_irfft") || begins("fft_hfft")) return Spectrum::kReal;
  return Spectrum::kWhole;
}

// The last axis that is transformed. `given` counts what goes in, or comes out of an inverse.
void resize_last(Expr& size, Expr given, Spectrum spectrum) {
  const bool is_given = given.known() && !given.is(-1);
  if (spectrum == Spectrum::kHalf) {
    size = symbolic::floor_div(is_given ? given : size, 2) + 1;
  } else if (spectrum == Spectrum::kReal) {
    size = is_given ? given : (size - 1) * 2;
  } else if (is_given) {
    size = given;
  }
}

TensorTypes along_one(const Bound& call) {
  const Spectrum spectrum = spectrum_of(call.name());
  Sizes shape = call.self().shape;
  resize_last(shape.at(call.axis("dim", shape.size())), call.has("n") ? call.size("n") : Expr(),
              spectrum);
  return {{dtype_of(spectrum, call.self().dtype), std::move(shape), {}}};
}

std::vector<std::size_t> transformed_axes(const Bound& call, std::size_t count) {
  const std::size_t rank = call.self().rank();
  std::vector<std::size_t> axes;
  if (call.has("dim")) {
    for (const std::int64_t dim : call.integers("dim")) axes.push_back(call.axis(dim, rank));
    return axes;
  }
  for (std::size_t i = rank - std::min(count == 0 ? rank : count, rank); i < rank; ++i)
    axes.push_back(i);
  return axes;
}

TensorTypes along_several(const Bound& call) {
  const Spectrum spectrum = spectrum_of(call.name());
  const Sizes given = call.has("s") ? call.sizes("s") : Sizes{};
  Sizes shape = call.self().shape;
  const std::vector<std::size_t> axes = transformed_axes(call, given.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool is_last = i + 1 == axes.size();
    resize_last(shape.at(axes[i]), i < given.size() ? given[i] : Expr(),
                is_last ? spectrum : Spectrum::kWhole);
  }
  return {{dtype_of(spectrum, call.self().dtype), std::move(shape), {}}};
}

TensorTypes shifted(const Bound& call) { return {like(call.self(), call.self().shape)}; }

TensorTypes frequencies(const Bound& call) {
  return {{call.dtype().value_or(DType::kFloat32), {call.size("n")}, {}}};
}

TensorTypes half_frequencies(const Bound& call) {
  return {
      {call.dtype().value_or(DType::kFloat32), {symbolic::floor_div(call.size("n"), 2) + 1}, {}}};
}

// (..., length) -> (..., frequencies, frames), of complex numbers or of pairs
TensorTypes short_time(const Bound& call) {
  const Value& self = call.self();
  const Expr width = call.size("n_fft");
  const Expr hop = call.has("hop_length") ? call.size("hop_length") : symbolic::floor_div(width, 4);
  Sizes shape = self.shape;
  if (shape.empty()) call.refuse("its input is a 0-d tensor");
  Expr length = shape.back();
  if (call.flag("center")) length = length + symbolic::floor_div(width, 2) * 2;
  const bool is_complex = base::is_complex(self.dtype);
  const bool half = call.has("onesided") ? call.flag("onesided") : !is_complex;
  shape.back() = half ? symbolic::floor_div(width, 2) + 1 : width;
  shape.push_back(symbolic::floor_div(length - width, hop) + 1);
  const DType dtype = is_complex ? self.dtype : base::complex_of(as_floating(self.dtype));
  if (call.flag("return_complex")) return {{dtype, std::move(shape), {}}};
  shape.emplace_back(2);
  return {{base::real_of(dtype), std::move(shape), {}}};
}

TensorTypes inverse_short_time(const Bound& call) {
  const Value& self = call.self();
  if (self.rank() < 2) call.refuse("its input has too few dimensions");
  const Expr width = call.size("n_fft");
  const Expr hop = call.has("hop_length") ? call.size("hop_length") : symbolic::floor_div(width, 4);
  Expr length = width + hop * (self.shape.back() - 1);
  if (call.flag("center")) length = length - symbolic::floor_div(width, 2) * 2;
  if (call.has("length")) length = call.size("length");
  Sizes shape(self.shape.begin(), self.shape.end() - 2);
  shape.push_back(length);
  return {
      {call.flag("return_complex") ? self.dtype : base::real_of(self.dtype), std::move(shape), {}}};
}

constexpr ResultRow kRows[] = {
    {"fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft", along_one},
    {"fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_hfft2 fft_ihfft2 fft_fftn fft_ifftn fft_rfftn "
     "fft_irfftn fft_hfftn fft_ihfftn",
     along_several},
    {"fft_fftshift fft_ifftshift", shifted},
    {"fft_fftfreq", frequencies},
    {"fft_rfftfreq", half_frequencies},
    {"stft", short_time},
    {"istft", inverse_short_time},
};

}  // namespace

std::span<const ResultRow> spectrum_results() { return kRows; }

}  // namespace sardonyx::program
