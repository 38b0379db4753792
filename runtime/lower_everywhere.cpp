// Small results of reductions among many ranks: the nodes of all parts are joined in logarithmically many messages.
#include <algorithm>
#include <numeric>

#include "runtime/join_everywhere.h"
#include "runtime/lower_group.h"
#include "runtime/reduce_chain.h"
#include "runtime/serial.h"

namespace tilewise {

using partition::Cuts;
using partition::Interval;
using partition::View;

namespace {

// One reduction in the two buffers of the exchange.
struct Lane {
  ReduceChain chain;
  std::vector<int> left;
  Dims extents;                        // of a node's states
  int64_t states = 0, values = 0;      // offsets
  View view;                           // of the result, over its kept axes

  StateArray array() const { return chain.joined(count_of(extents)); }
  int64_t node_bytes() const { return array().n * array().bytes(); }
};

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

// In three steps: the nodes of our devices go into one buffer; the exchange leaves the values in another; those are copied
// into the results. (The exchange reads and writes host memory: a device's nodes are copied there first.)
void GroupLowering::write_everywhere(const std::vector<ReduceEnd>& ends) {
  const Job& job = l_.job;
  Device* device = job.local[0];
  const Cuts cuts = parts_.grid().cuts(ends[0].axis);
  const int64_t unit = ends[0].chain.unit;
  const auto part_of = [cuts](int part) {
    return part < cuts.count() ? cuts.interval(part) : Interval{cuts.extent(), cuts.extent()};
  };
  const int each = job.devices_per_rank();
  const auto of_rank = [part_of, each](int rank) {
    return Interval{part_of(rank * each).lo, part_of(rank * each + each - 1).hi};
  };
  std::vector<Interval> ours;
  std::vector<int64_t> rows;  // nodes, by device
  for (int d = 0; d < each; ++d) {
    const Interval part = part_of(job.first_device(job.rank) + d);
    ours.push_back(part);
    rows.push_back(part.empty() ? 0 : std::ssize(partition::tree_nodes(part.lo, part.hi, cuts.extent(), unit)));
  }
  const int64_t nodes = std::accumulate(rows.begin(), rows.end(), int64_t{0});

  std::vector<Lane> lanes;
  int64_t state_bytes = 0, value_bytes = 0;
  for (const ReduceEnd& end : ends) {
    Lane lane{end.chain, end.left, {}, state_bytes, value_bytes, reduced_[end.number].view};
    lane.view.shape = lane.view.strides = Dims();
    for (int k : end.chain.axes) {
      lane.extents.push_back(frame_[k]);
      if (std::find(end.left.begin(), end.left.end(), k) != end.left.end()) continue;
      lane.view.shape.push_back(frame_[k]);
      lane.view.strides.push_back(reduced_[end.number].view.strides[k]);
    }
    state_bytes += aligned(nodes * lane.node_bytes());
    lane.chain.report = joins_report(lane.chain, job.first_device(job.rank));
    value_bytes += aligned(lane.view.count() * lane.view.itemsize);
    lanes.push_back(std::move(lane));
  }

  const BufferView gathered = device->allocate(state_bytes), values = device->allocate(value_bytes);
  const Event free = device->queue().last();  // earlier users of their memory are done
  std::vector<Event> ready{free};
  for (size_t i = 0; i < ends.size(); ++i) {
    const int64_t row = lanes[i].node_bytes();
    for (Instance& instance : l_.stores.get(ends[i].nodes).instances) {
      const auto d = std::find(job.local.begin(), job.local.end(), instance.device) - job.local.begin();
      if (rows[d] == 0) continue;
      const Event after[] = {instance.written, free};
      const int64_t at = lanes[i].states + std::accumulate(rows.begin(), rows.begin() + d, int64_t{0}) * row;
      ready.push_back(instance.device->copy(gathered, instance.buffer, {{{rows[d]}, {row}, {row}, at, 0, row}}, after));
      instance.readers.push_back(ready.back());
    }
  }

  const uint64_t tag = 2 * l_.next_tag++;
  auto plan = std::make_shared<const EverywherePlan>(plan_everywhere(job.rank, job.size, of_rank, ours, cuts.extent(), unit));
  for (const EverywherePlan::Round& round : plan->rounds) {
    l_.counters.messages += 1;
    for (const Lane& lane : lanes) l_.counters.sent_bytes += static_cast<double>(round.sent * lane.node_bytes());
  }
  const Event joined = job.comm_queue->submit(
      [plan, lanes, nodes, gathered, values, transport = job.transport, tag] {
        std::vector<EverywhereStates> all;
        for (const Lane& lane : lanes) {
          const char* from = static_cast<const char*>(gathered.data) + lane.states;
          all.push_back({lane.array(), std::vector<char>(from, from + nodes * lane.node_bytes())});
        }
        run_everywhere(*plan, *transport, tag, all);
        SerialParallel alone;
        for (size_t i = 0; i < lanes.size(); ++i)
          finish_chain(lanes[i].chain, lanes[i].left, {std::move(all[i].states), lanes[i].extents},
                       static_cast<char*>(values.data) + lanes[i].values, alone);
      },
      ready);
  for (const Lane& lane : lanes) {
    if (!lane.chain.report) continue;
    lane.chain.report->finished = joined;
    l_.counters.reports.push_back(lane.chain.report);
  }

  for (size_t i = 0; i < ends.size(); ++i) {
    StoreState& result = l_.stores.get(reduced_[ends[i].number].store);
    l_.ensure_placed(result);
    Instance& instance = result.instances.at(0);
    std::vector<Event> after = instance.readers;
    after.push_back(instance.written);
    after.push_back(joined);
    const View& view = lanes[i].view;
    instance.written = instance.device->copy(
        instance.buffer, values,
        {{view.shape, view.strides, c_strides(view.shape, view.itemsize), view.offset, lanes[i].values, view.itemsize}}, after);
    instance.readers.clear();
    l_.drop_temporary(ends[i].nodes);
  }
  const Event users[] = {joined, device->queue().last()};
  device->release(gathered, users);
  device->release(values, users);
}

}  // namespace tilewise
