#include "runtime/cpu/hollow.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/error.h"

namespace tilewise::cpu {

namespace {

constexpr size_t kPage = 4096, kLeastPiece = 4 << 20;
constexpr size_t kMostPieces = 4096;  // the system keeps 65,530 mappings for a process

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void* map_hollow(size_t bytes) {
  const size_t whole = round_up(bytes, kPage);
  const size_t piece = std::min(whole, round_up(std::max(kLeastPiece, whole / kMostPieces), kPage));
  const int file = memfd_create("tilewise-hollow", MFD_CLOEXEC);
  bool well = file >= 0 && ftruncate(file, static_cast<off_t>(piece)) == 0;
  void* base = well ? mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  well = base != MAP_FAILED;
  for (size_t at = 0; well && at < whole; at += piece)
    well = mmap(static_cast<char*>(base) + at, std::min(piece, whole - at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                file, 0) != MAP_FAILED;
  if (file >= 0) close(file);
  if (well) return base;
  if (base != MAP_FAILED) munmap(base, whole);
  throw Error(ErrorKind::kMemory, str("not even addresses are left for ", bytes, " bytes"));
}

void unmap_hollow(void* data, size_t bytes) { munmap(data, round_up(bytes, kPage)); }

}  // namespace tilewise::cpu
