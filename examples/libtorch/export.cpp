// Exports a module of torch::nn, and one that torch.jit.save() wrote:
//   export net.onnx            writes the network below, and net.onnx.pt with its input and output
//   export model.pt model.onnx converts a scripted module of a tensor of [n, 4]
#include <sardonyx/torch.h>
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(4, 8));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({8})));
    last = register_module("last", torch::nn::Linear(8, 3));
    scale = register_buffer("scale", torch::full({3}, 0.5));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& offset) {
    return last(torch::relu(norm(first(x)))) * scale + offset;
  }

  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::nn::LayerNorm norm{nullptr};
  torch::Tensor scale;
};
TORCH_MODULE(Net);

int main(int argc, char** argv) try {
  if (argc == 3) {
    const torch::jit::Module module = torch::jit::load(argv[1]);
    sardonyx::write(
        sardonyx::export_module(module, {torch::zeros({2, 4})}, {.dynamic = {{{0, "n"}}}}),
        argv[2]);
    return 0;
  }
  if (argc != 2) return std::fputs("usage: export [model.pt] model.onnx\n", stderr), 2;
  Net net;
  net->eval();
  const torch::Tensor x = torch::randn({2, 4}), offset = torch::randn({3});
  sardonyx::write(sardonyx::export_module(net, {x, offset}, {.dynamic = {{{0, "batch"}}}}),
                  argv[1]);
  const torch::Tensor wide = torch::randn({5, 4});
  const std::vector<char> bytes = torch::pickle_save(
      std::vector<torch::Tensor>{wide, offset, net->forward(wide, offset).detach()});
  std::ofstream(std::string(argv[1]) + ".pt", std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return 0;
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
