#include <headway/checkpoint.hpp>
#include <headway/version.hpp>

#include <iostream>

int main(int, char** argv) {
  std::cout << "headway " << headway::version() << '\n';
  const headway::Result<headway::Checkpoint> opened = headway::Checkpoint::open(argv[1]);
  if (!opened) return std::cout << headway::to_string(opened.error().kind) << ": " << opened.error().message << '\n', 2;
  for (const headway::CheckpointFile& file : opened->files()) std::cout << file.name << ' ' << file.size << '\n';
  const headway::Result<void> verified = opened->verify();
  std::cout << (verified ? "verified" : verified.error().message) << '\n';
  return verified ? 0 : 1;
}
