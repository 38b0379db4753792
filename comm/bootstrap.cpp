#include "comm/bootstrap.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "comm/collectives.h"
#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

constexpr const char* kStamp = "TILEWISE_FIRST_PROCESS";

// Far from the tags of exchanges, which count from zero.
constexpr uint64_t kExchangeTag = ~uint64_t{0};

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;    // null: not told
  const char* needed;  // null, or a variable that must be there too
};

// In the order of trust: a launcher's own variables before those of the layer below it.
constexpr Launcher kLaunchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", nullptr},
    {"MPICH or Intel MPI", "PMI_RANK", "PMI_SIZE", nullptr},
    // A batch script carries SLURM_PROCID too, without being a task of a step.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
    {"PMIx", "PMIX_RANK", nullptr, nullptr},
};

// What tells one job from another, where set.
constexpr const char* kJobNames[] = {
    "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "HYDI_CONTROL_FD", "PMI_FD", "SLURM_JOB_ID",
    "SLURM_STEP_ID"};

int number_in(const char* variable, int otherwise) {
  const char* text = variable ? std::getenv(variable) : nullptr;
  if (!text) return otherwise;
  int number = otherwise;
  const char* end = text + std::char_traits<char>::length(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end && number >= 0 ? number : otherwise;
}

std::string identity_of(const Launcher& launcher, int rank) {
  std::string identity = launcher.name;
  for (const char* name : kJobNames)
    if (const char* value = std::getenv(name)) identity += str(",", value);
  return str(identity, ",", rank);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

JobPlace find_job_place() {
  for (const Launcher& launcher : kLaunchers) {
    const int rank = number_in(launcher.rank, -1);
    const int size = launcher.size ? number_in(launcher.size, -1) : 0;
    if (rank < 0 || size < 0 || (size > 0 && rank >= size)) continue;
    if (launcher.needed && !std::getenv(launcher.needed)) continue;
    return {rank, size, launcher.name, identity_of(launcher, rank)};
  }
  return {};
}

bool claim_process(const JobPlace& place) {
  const std::string mine = str(getpid(), "@", place.identity);
  if (const char* found = std::getenv(kStamp)) {
    const std::string_view stamp(found);
    const size_t at = stamp.find('@');
    const bool same_job = at != std::string_view::npos && stamp.substr(at + 1) == place.identity;
    if (stamp != mine && same_job) return false;
  }
  setenv(kStamp, mine.c_str(), /*overwrite=*/1);
  return true;
}

std::unique_ptr<Transport> open_transport(const JobPlace& place, MpiOptions options) {
  if (place.alone()) return std::move(make_local(1)[0]);
  std::unique_ptr<Transport> transport = open_mpi(options);
  if (transport->size() == 1 && place.size > 1) {
    // Its end is collective over one rank: it cannot hang.
    const std::string library = transport->description();
    transport->shutdown();
    throw Error(ErrorKind::kRuntime, str("the launcher (", place.launcher, ") started ", place.size,
                                         " copies of this program, but MPI (", library,
                                         ") knows only this one: the mpirun belongs to another MPI. Use the "
                                         "mpirun of that MPI (with Slurm: srun "
                                         "--mpi=pmix), or build tilewise with the MPI of this mpirun"));
  }
  return transport;
}

std::string interface_of_job() {
  for (const char* name : {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include", "PRTE_MCA_oob_tcp_if_include"})
    if (const char* value = std::getenv(name)) return value;
  return {};
}

Exchange exchange_over(Transport& transport) {
  return [&transport](std::string_view mine) { return all_gather(transport, kExchangeTag, mine); };
}

Exchange exchange_through_folder(std::string folder, int rank, int size, std::chrono::milliseconds limit) {
  return [folder, rank, size, limit, round = 0](std::string_view mine) mutable {
    const auto path = [&](int of) { return std::filesystem::path(folder) / str("blob-", round, "-", of); };
    // Written under another name first: what has its name is complete.
    const std::filesystem::path draft = path(rank).string() + ".part";
    std::ofstream(draft, std::ios::binary).write(mine.data(), static_cast<std::streamsize>(mine.size()));
    std::filesystem::rename(draft, path(rank));
    const auto give_up = std::chrono::steady_clock::now() + limit;
    std::vector<std::string> blobs;
    while (static_cast<int>(blobs.size()) < size) {
      const int next = static_cast<int>(blobs.size());
      if (std::filesystem::exists(path(next))) {
        blobs.push_back(read_file(path(next)));
      } else if (std::chrono::steady_clock::now() > give_up) {
        std::string missing;
        for (int r = next; r < size; ++r)
          if (!std::filesystem::exists(path(r))) missing += str(missing.empty() ? "" : ", ", r);
        throw Error(ErrorKind::kRuntime,
                    str("no word in ", folder, " from rank ", missing, " within ", limit.count() / 1000, " s"));
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    ++round;
    return blobs;
  };
}

}  // namespace tilewise::comm
