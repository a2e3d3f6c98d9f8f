// Converts a .pt2 archive: convert model.pt2 model.onnx
#include <sardonyx/sardonyx.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) return std::fputs("usage: convert model.pt2 model.onnx\n", stderr), 2;
  sardonyx::write(sardonyx::convert(sardonyx::read(argv[1])), argv[2]);
  return 0;
} catch (const sardonyx::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
