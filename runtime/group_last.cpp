// The last record of a group, where it may leave: it made one store over the whole domain and nothing came after it, so
// that all it added stands at the end of the group's lists.
#include "runtime/group.h"

namespace tilewise {

void Group::keep_if_maker(const Record& record, const Mark& before) {
  maker_.reset();
  if (records == 0 || record.kind != RecordKind::kElementwise || record.births.size() != 1 || record.outputs.size() != 1 ||
      values.size() != before.values + 1 || values.back().box != 0 || !large_)
    return;
  maker_ = std::make_unique<Record>(record);
  before_maker_ = before;
}

const Record* Group::last_made_for(const Record& next) const {
  if (!maker_) return nullptr;
  for (const Ref& out : next.outputs)
    if (out.store == maker_->outputs[0].store) return maker_.get();
  return nullptr;
}

void Group::take_last_back() {
  undo(before_maker_);
  --records;
  if (watch) op_lines.resize(op_lines.size() - maker_->code.size());
  maker_.reset();
}

}  // namespace tilewise
