// The operation window: open groups, in the order in which they will run.
//
// A record joins the newest group that it may join without passing one that it depends on; else it opens a group. At most
// kOpenGroups are open; the oldest is issued when another is needed, so that drops seen by then count and temporaries are
// never stored. Everything here is a function of the record sequence.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "runtime/group.h"

namespace tilewise {

inline constexpr int kOpenGroups = 8;

class Window {
 public:
  // `issue` runs a closed group. It may throw; the group is gone then.
  Window(StoreTable& stores, std::function<void(Group&)> issue) : stores_(stores), issue_(std::move(issue)) {}

  // For kElementwise and kReduce.
  void add(const Record& record);
  // See Engine::join_plain.
  bool join_plain(const PlainOperation& operation, const StoreId* in, StoreId out, uint32_t line, uint8_t watch);
  // Issues every group that the named stores' values, or an overwrite of them, depend on, and those before.
  void settle_reads(const std::vector<Ref>& inputs, const std::vector<Ref>& outputs);
  void flush();
  bool empty() const { return groups_.empty(); }

 private:
  void issue_front();
  void note(Group& group, const Record& record);
  std::unique_ptr<Group> new_group();
  std::unique_ptr<Group> begin_with_maker(const Record& record);

  StoreTable& stores_;
  std::function<void(Group&)> issue_;
  std::deque<std::unique_ptr<Group>> groups_;
  std::unique_ptr<Group> spare_;  // its lists have grown
  uint64_t serial_ = 0;
};

}  // namespace tilewise
