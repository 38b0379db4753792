// Plain operations: the way of small programs, where recording costs more than computing.
//
// All operands and the result are dense in C order over the whole domain, and the result's store is new. So there is no
// shift, no box and no hazard but what resolve() finds for an operand, and that is kept with the store: the next operation
// on it finds its value at once.
#include <algorithm>
#include <iterator>

#include "runtime/group.h"

namespace tilewise {

using partition::View;

bool Group::join_plain(const PlainOperation& operation, StoreState* const* in, uint32_t line, uint8_t watching) {
  if (watching != watch || phases || !merged.empty() || records == 0) return false;
  if (large_) return false;  // a record may move to another group; its cost is nothing there
  if (!same_shape(operation.in[0]->view.shape, domain)) return false;
  const size_t more = static_cast<size_t>(operation.arrays + operation.has_constant + 3);
  if (std::max(program.code.size() + more, values.size()) > kGroupInstructions) return false;

  Mark before;
  bool marked = false;
  const size_t named_before = named.size();
  uint16_t number[3];
  for (int k = 0; k < operation.arrays; ++k) {
    StoreState& store = *in[k];
    const View& view = operation.in[k]->view;
    if (store.plain_group == serial) {
      const View& known = views[store.plain_view];
      if (known.offset == view.offset && known.dtype == view.dtype && known.itemsize == view.itemsize) {
        number[k] = store.plain_value;
        continue;
      }
    }
    if (!marked) before = mark();  // nothing has been added before the first miss
    marked = true;
    const uint16_t place = frame_view(view.offset, view.dtype, view.itemsize, view.strides);
    if (resolve(store.id, place, 0, &number[k])) {
      undo(before);
      for (; named.size() > named_before; named.pop_back()) --named.back()->open;
      in[0]->plain_group = 0;  // what was kept with the other operand is gone
      return false;
    }
    named.push_back(&store);  // once is enough: a store whose value is kept has been named
    ++store.open;
    store.plain_group = serial;
    store.plain_view = place;
    store.plain_value = number[k];
  }
  if (operation.has_constant) number[operation.arrays] = constant(operation.constant);
  Instr instr{operation.op, operation.dtype, number[operation.number[0]], kNone, kNone};
  if (operation.number[1] != kNone) instr.b = number[operation.number[1]];
  plain_result_ = program.push(instr, operation.type);
  ++records;
  if (watch) op_lines.push_back({operation.op, operation.told_as, line});
  return true;
}

// A loop that is written with few constants has few parameters.
uint16_t Group::constant(const Scalar& value) {
  for (uint16_t& known : recent_params_) {
    if (known >= program.code.size() || program.code[known].op != kParam) continue;
    if (params[program.code[known].a] == value) return known;
  }
  const auto slot = static_cast<uint16_t>(params.size());
  params.push_back(value);
  program.params.push_back(value.dtype);
  const uint16_t number = program.push({kParam, value.dtype, slot, kNone, kNone}, value.dtype);
  recent_params_[slot % std::size(recent_params_)] = number;
  return number;
}

void Group::write_plain(const PlainOperation& operation, StoreState& out) {
  uint16_t& known = dense_view_[static_cast<size_t>(operation.type)];
  if (known == kNone)
    known = frame_view(0, operation.type, operation.itemsize, c_strides(domain, operation.itemsize));
  const uint16_t place = known;
  values.push_back({out.id, place, 0, plain_result_});
  written_ |= mark_of(out.id);
  out.plain_group = serial;
  out.plain_view = place;
  out.plain_value = plain_result_;
  named.push_back(&out);
  ++out.open;
}

}  // namespace tilewise
