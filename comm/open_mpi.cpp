// Finds and loads the MPI library, so that nothing else needs MPI on the machine.
#include <dlfcn.h>

#include <string>

#include "comm/transports.h"
#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

constexpr const char* kLibrary = "libtilewise_mpi.so";

// The folder of the library or program that holds this very code.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

void* load_library() {
  const std::string beside = own_folder() + kLibrary;
  if (void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const std::string first_error = dlerror();
  // By its bare name, which also looks along the run path of whoever holds this code.
  if (void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL)) return library;
  throw Error(ErrorKind::kRuntime,
              str("this program was started under mpirun, but tilewise's MPI part cannot be loaded (", first_error,
                  "): install Open MPI (apt-get install libopenmpi-dev openmpi-bin) and build tilewise again"));
}

}  // namespace

std::unique_ptr<Transport> open_mpi(const MpiOptions& options) {
  using Open = Transport*(const MpiOptions*, std::string*);
  // Never unloaded: MPI leaves handlers behind that would then point nowhere.
  static void* const library = load_library();
  auto* open = reinterpret_cast<Open*>(dlsym(library, "tilewise_mpi_open"));
  TW_CHECK(open != nullptr, "tilewise_mpi_open is missing");
  std::string error;
  std::unique_ptr<Transport> transport(open(&options, &error));
  if (!transport) throw Error(ErrorKind::kRuntime, error);
  return transport;
}

}  // namespace tilewise::comm
