#include "runtime/cpu/device.h"

#include "runtime/cpu/copy.h"
#include "runtime/progress.h"

namespace tilewise::cpu {

namespace {

// Nanoseconds of one core up to which handing work to a worker costs more than it gains.
constexpr double kInlineCost = 10'000;
constexpr double kInstructionCost = 0.1;  // an instruction on one element

double cost_of(const Launch& launch) {
  double cost = kInstructionCost * static_cast<double>(launch.program->code.size());
  for (int64_t extent : launch.extents) cost *= static_cast<double>(extent);
  return cost;
}

// A launch with everything that it points to, for a task that runs later.
class OwnedLaunch {
 public:
  OwnedLaunch(const Launch& launch, std::shared_ptr<const void> keep)
      : launch_(launch), keep_(std::move(keep)) {
    const Program& program = *launch.program;
    if (launch.operands) operands_.assign(launch.operands, launch.operands + program.accesses.size());
    if (launch.params) params_.assign(launch.params, launch.params + program.params.size());
    if (launch.reductions) reductions_.assign(launch.reductions, launch.reductions + program.reductions.size());
    if (launch.guards) guards_.assign(launch.guards, launch.guards + program.guard_count);
    launch_.operands = operands_.data();
    launch_.params = params_.data();
    launch_.reductions = reductions_.data();
    launch_.guards = guards_.data();
  }
  OwnedLaunch(const OwnedLaunch&) = delete;
  const Launch& launch() const { return launch_; }

 private:
  Launch launch_;
  std::shared_ptr<const void> keep_;
  std::vector<Operand> operands_;
  std::vector<Scalar> params_;
  std::vector<ReduceTarget> reductions_;
  std::vector<partition::Box> guards_;
};

void run_launch(const Launch& launch, Parallel& parallel) {
  interpreter().run(launch, parallel);
  if (launch.fp_flags) note_conditions(launch.fp_flags, launch.program->code.size() * launch.fp_parts, launch.fp_watch);
}

}  // namespace

CpuDevice::CpuDevice(DeviceInfo info, int index, Pool& pool, CoreRange workers, HostMemory& memory)
    : info_(std::move(info)), host_(index < 0), queue_(pool, workers.first, workers.count),
      memory_(memory, queue_, index), cores_(pool, workers),
      parallel_(host_ ? static_cast<Parallel&>(serial_) : cores_) {
  pool.add_source(queue_);
}

bool CpuDevice::runs_inline(double cost, std::span<const Event> after) const {
  return (cost <= kInlineCost || host_) && queue_.ready_for(after);
}

Event CpuDevice::run(const Launch& launch, std::shared_ptr<const void> keep, std::span<const Event> after) {
  if (runs_inline(cost_of(launch), after)) {
    return queue_.run_inline([&] { run_launch(launch, serial_); });
  }
  auto owned = std::make_shared<OwnedLaunch>(launch, std::move(keep));
  return queue_.submit([this, owned] { run_launch(owned->launch(), parallel_); }, after);
}

Event CpuDevice::copy(BufferView to, BufferView from, std::vector<CopyPiece> pieces, std::span<const Event> after) {
  auto* target = static_cast<char*>(to.data);
  const auto* source = static_cast<const char*>(from.data);
  if (runs_inline(copy_cost(pieces), after)) {
    return queue_.run_inline([&] { copy_pieces(target, source, pieces, serial_); });
  }
  return queue_.submit(
      [this, target, source, pieces = std::move(pieces)] { copy_pieces(target, source, pieces, parallel_); }, after);
}

Event CpuDevice::call(std::function<void(Parallel&)> body, std::span<const Event> after, double cost) {
  if (runs_inline(cost, after)) return queue_.run_inline([&] { body(serial_); });
  return queue_.submit([this, body = std::move(body)] { body(parallel_); }, after);
}

}  // namespace tilewise::cpu
