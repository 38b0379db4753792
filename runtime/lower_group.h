// From a closed group to steps: what is stored, how its domain is cut, where new stores lie, and the tasks of each part.
//
// Every decision is a function of the group, the stores' tilings and the job, so all ranks decide alike; a rank enumerates
// only the parts it computes and those that read from or write to its tiles.
//
// Reductions are lowered in stages (partition/tree.h). The program's pass does the first stage: over the innermost reduced
// axis, each part writing its nodes. Further stages, the joining of nodes from different parts, and the final values
// are tasks of later steps over temporary stores of nodes.
#pragma once

#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include "partition/domain.h"
#include "runtime/group.h"
#include "runtime/node_rows.h"
#include "runtime/step_builder.h"

namespace tilewise {

// Programs by content, with their forms for each set of guards. Shared, so that interpreters can cache by address or key.
class ProgramCache {
 public:
  // For a box in which the guards of `active` hold everywhere, those of `partly` in places.
  std::shared_ptr<const Program> get(const Program& program, uint64_t active, uint64_t partly);
  double hits = 0, misses = 0;

 private:
  struct Entry {
    Program program;
    std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<const Program>> forms;
  };
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<Entry>>> entries_;
};

struct ReduceChain;  // reduce_chain.h
struct ReduceEnd;

// What lowering needs of the engine.
class Lowering {
 public:
  Lowering(Job& job, StoreTable& stores, StepCounters& counters, ProgramCache& programs, int64_t min_tile)
      : job(job), stores(stores), counters(counters), programs(programs), min_tile(min_tile) {}

  Job& job;
  StoreTable& stores;
  StepCounters& counters;
  ProgramCache& programs;
  int64_t min_tile;
  uint64_t next_tag = 1;
  StoreId next_temporary = kTemporary;

  // Allocates the tiles of a placed store that lie on this process's devices.
  void place(StoreState& store, std::shared_ptr<const partition::Tiling> tiling);
  // Where a store lies that nothing else decides about.
  std::shared_ptr<const partition::Tiling> default_tiling(const Dims& base_shape, int64_t base_itemsize) const;
  // Places the store by default if it is not placed.
  void ensure_placed(StoreState& store);
  std::shared_ptr<const partition::Tiling> whole_tiling(const StoreState& store);
  // A store that no record names.
  StoreId temporary(const Dims& shape, int64_t itemsize, std::shared_ptr<const partition::Tiling> tiling);
  void drop_temporary(StoreId store);

 private:
  std::array<std::shared_ptr<const partition::Tiling>, 8> recent_;
  size_t next_recent_ = 0;
};

class GroupLowering {
 public:
  GroupLowering(Lowering& lowering, Group& group) : l_(lowering), group_(group) {}
  void issue();

 private:
  // A part of the frame in canonical axes, outer to inner in memory order, merged where the tree merges.
  struct Output {
    StoreId store;
    partition::View view;  // canonical
    partition::Box box;
    int access;
    bool birth = false;
  };
  struct Input {
    StoreId store;
    partition::View view;
    partition::Box box;  // where it is read
    int access;
    bool snapshot;
  };
  struct Reduced {
    StoreId store;
    partition::View view;  // canonical, stride 0 on reduced axes
    int number;
    DType type;            // of the values reduced
    bool needed;
  };
  bool collect();
  void make_frame();
  partition::View canonical(const partition::View& view) const;
  partition::Box canonical(const partition::Box& box) const;
  void choose_partition();
  bool everywhere_if_small();
  const Input* key_input() const;
  void place_births();
  // lower_reuse.cpp
  bool takes_over(StoreState& store, const Output& out);
  bool lies_free(const Input& in, const Output& out) const;
  void forget_taken();
  std::shared_ptr<const partition::Tiling> follow_frame(const StoreState& store, const partition::View& view) const;
  std::vector<int64_t> relevant_parts() const;
  bool splits_at_guards(const partition::Box& box) const;
  std::shared_ptr<const Program> form_for(const partition::Box& box) const;
  partition::Box interior_of(const partition::Box& box, int device) const;
  void add_part(StepBuilder& step, const partition::Box& box, int device);
  void add_box(StepBuilder& step, const partition::Box& box, int device);
  void add_task(StepBuilder& step, const partition::Box& box, int device);
  // lower_reduce.cpp
  void plan_reductions();
  bool joins_everywhere() const;
  partition::Owners node_owners(const std::vector<int>& axes) const;
  void add_reduction_outputs(StepTask* task, const partition::Box& box);
  void finish_reductions();
  std::shared_ptr<FpReport> joins_report(const ReduceChain& chain, int device) const;
  StoreId reduce_parts(ReduceChain* chain, std::vector<int>* left, int cut, StoreId source);
  void write_result(const Reduced& r, const ReduceChain& chain, const std::vector<int>& left, StoreId source);
  void write_everywhere(const std::vector<ReduceEnd>& ends);  // lower_everywhere.cpp
  Dims rounding() const;

  Lowering& l_;
  Group& group_;
  Program program_;
  std::shared_ptr<const std::vector<Scalar>> params_;
  std::vector<SmallVec<int, 6>> axes_;  // canonical axis -> original axes, outer to inner
  Dims frame_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<Reduced> reduced_;
  std::vector<partition::Box> guards_;
  SmallVec<StoreId, 4> taken_;          // operands whose memory results have taken over
  uint64_t reduced_axes_ = 0;           // canonical
  partition::DomainPartition parts_;
  bool everywhere_ = false;             // every rank computes all of it
  bool indexed_ = false;                // the program reads coordinates

  struct Stage {                        // the first stage of a reduction
    bool direct = false;                // the pass writes the result itself
    StoreId nodes = 0;                  // else a temporary: [nodes][frame without the first stage's axis]
    int64_t weight = 1;                 // positions under a whole axis of it
  };
  std::vector<Stage> stages_;
  NodeRows rows_;                       // of the nodes of first stages
  bool in_order_ = false;               // nodes are joined over all ranks at once: joins_everywhere()
};

}  // namespace tilewise
