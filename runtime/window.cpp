#include "runtime/window.h"

#include "runtime/dump.h"

namespace tilewise {

void Window::note(Group& group, const Record& record) {
  for (const auto* refs : {&record.inputs, &record.outputs}) {
    for (const Ref& ref : *refs) {
      group.named.push_back(ref.store);
      ++stores_.get(ref.store).open;
    }
  }
}

void Window::add(const Record& record) {
  for (auto it = groups_.rbegin(); it != groups_.rend(); ++it) {
    Group& group = **it;
    const char* why = group.join(record, stores_);
    if (!why) {
      note(group, record);
      dump(Stage::kFuse, [&] { return str("group ", group.serial, ": record ", group.records, " joins"); });
      return;
    }
    dump(Stage::kFuse, [&] { return str("group ", group.serial, ": no: ", why); });
    if (group.conflicts(record)) break;
  }
  if (groups_.size() >= kOpenGroups) issue_front();
  groups_.push_back(std::make_unique<Group>(++serial_, record));
  Group& group = *groups_.back();
  group.join(record, stores_);
  note(group, record);
  dump(Stage::kFuse, [&] { return str("group ", group.serial, ": opened over ", group.domain); });
}

void Window::issue_front() {
  auto group = std::move(groups_.front());
  groups_.pop_front();
  issue_(*group);
}

void Window::settle_reads(const std::vector<Ref>& inputs, const std::vector<Ref>& outputs) {
  size_t needed = 0;  // groups to issue, from the front
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (const Ref& in : inputs)
      if (groups_[g]->writes(in.store)) needed = g + 1;
    for (const Ref& out : outputs)
      if (groups_[g]->writes(out.store) || groups_[g]->reads(out.store)) needed = g + 1;
  }
  while (needed-- > 0) issue_front();
}

void Window::flush() {
  while (!groups_.empty()) issue_front();
}

}  // namespace tilewise
