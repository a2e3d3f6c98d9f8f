// Quantizes a model by values that any runtime has computed.
//
//   quantize model.onnx observed.onnx         writes the model with all values to observe among its
//                                             outputs, and prints their names
//   quantize model.onnx SAMPLES q.onnx        SAMPLES has a folder for each sample, with NAME.npy
//                                             for each value, float32
//
// A program with a runtime in it calls that in the callback, and needs no files.
#include <sardonyx/quantization.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace {

struct Array {
  std::vector<std::int64_t> dims;
  std::vector<float> elements;
};

// Version 1 of the format: ten bytes, the text of a dict, the elements.
Array read_npy(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 10) throw std::runtime_error(path.string() + " is no .npy file");
  const std::size_t begin = 10 + static_cast<unsigned char>(bytes[8]) +
                            (static_cast<std::size_t>(static_cast<unsigned char>(bytes[9])) << 8);
  const std::size_t shape = bytes.find("'shape': (");
  if (begin > bytes.size() || shape > begin || bytes.find("'<f4'") > begin)
    throw std::runtime_error(path.string() + " is no .npy file of float32");
  Array array;
  std::istringstream dims(bytes.substr(shape + 10, bytes.find(')', shape) - shape - 10));
  for (std::string dim; std::getline(dims, dim, ',');)
    if (dim.find_first_not_of(' ') != std::string::npos) array.dims.push_back(std::stoll(dim));
  array.elements.resize((bytes.size() - begin) / sizeof(float));
  bytes.copy(reinterpret_cast<char*>(array.elements.data()), array.elements.size() * sizeof(float),
             begin);
  return array;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3 && argc != 4) return std::fputs("usage: see quantize.cpp\n", stderr), 2;
  sardonyx::Model model = sardonyx::read_model(argv[1]);
  sardonyx::optimize(model, {.opset = {}, .runtime = "onnxruntime"});
  const std::vector<std::string> names = sardonyx::observed_values(model);
  if (argc == 3) {
    sardonyx::add_outputs(model, names);
    sardonyx::write(model, argv[2]);
    for (const std::string& name : names) std::puts(name.c_str());
    return 0;
  }
  fs::directory_iterator samples(argv[2]);
  const auto next = [&](const sardonyx::ObserveValue& observe) {
    if (samples == fs::directory_iterator()) return false;
    for (const std::string& name : names) {
      const fs::path path = samples->path() / (name + ".npy");
      if (!fs::exists(path)) continue;  // which is an error
      const Array array = read_npy(path);
      observe(name, array.elements, array.dims);
    }
    ++samples;
    return true;
  };
  const sardonyx::QuantizationReport report = sardonyx::quantize(model, next);
  sardonyx::write(model, argv[3]);
  std::printf("%zu layers, %lld activations, %lld samples\n", report.layers.size(),
              static_cast<long long>(report.activations), static_cast<long long>(report.samples));
  return 0;
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
