#include "runtime/window.h"

#include "runtime/dump.h"

namespace tilewise {

using partition::View;

void Window::note(Group& group, const Record& record) {
  for (const auto* refs : {&record.inputs, &record.outputs}) {
    for (const Ref& ref : *refs) {
      StoreState& store = stores_.get(ref.store);
      store.plain_group = 0;  // the record may have changed what is known of it
      group.named.push_back(&store);
      ++store.open;
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
  auto begun = begin_with_maker(record);
  if (groups_.size() >= kOpenGroups) issue_front();
  if (begun) {
    groups_.push_back(std::move(begun));
    return;
  }
  groups_.push_back(new_group());
  Group& group = *groups_.back();
  group.open(++serial_, record);
  group.join(record, stores_);
  note(group, record);
  dump(Stage::kFuse, [&] { return str("group ", group.serial, ": opened over ", group.domain); });
}

bool Window::join_plain(const PlainOperation& operation, const StoreId* in, StoreId out, uint32_t line, uint8_t watch) {
  if (groups_.empty()) return false;
  Group& group = *groups_.back();
  StoreState* operands[2] = {};
  for (int k = 0; k < operation.arrays; ++k) operands[k] = &stores_.get(in[k]);
  if (!group.join_plain(operation, operands, line, watch)) return false;
  const View& shape_of = operation.in[0]->view;
  group.write_plain(operation, stores_.create(out, shape_of.shape, operation.itemsize, line));
  dump(Stage::kFuse, [&] { return str("group ", group.serial, ": record ", group.records, " joins"); });
  return true;
}

std::unique_ptr<Group> Window::new_group() { return spare_ ? std::move(spare_) : std::make_unique<Group>(); }

// r = 4 * v; r[1:] -= v[:-1]: where v is another group's result, the first statement joined that group and the second may
// not. Then the first leaves it, and both begin a group, in which r is written once.
std::unique_ptr<Group> Window::begin_with_maker(const Record& record) {
  if (groups_.empty()) return nullptr;
  Group& newest = *groups_.back();
  const Record* maker = newest.last_made_for(record);
  if (!maker) return nullptr;
  auto group = new_group();
  group->open(serial_ + 1, *maker);
  if (group->join(*maker, stores_) || group->join(record, stores_)) {
    spare_ = std::move(group);
    return nullptr;
  }
  ++serial_;
  const size_t names = maker->inputs.size() + maker->outputs.size();  // counted as open already: they change groups
  group->named.assign(newest.named.end() - static_cast<std::ptrdiff_t>(names), newest.named.end());
  newest.named.resize(newest.named.size() - names);
  newest.take_last_back();
  note(*group, record);
  dump(Stage::kFuse, [&] {
    return str("group ", group->serial, ": opened over ", group->domain, " with the last record of group ", newest.serial);
  });
  return group;
}

void Window::issue_front() {
  auto group = std::move(groups_.front());
  groups_.pop_front();
  issue_(*group);
  spare_ = std::move(group);
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
