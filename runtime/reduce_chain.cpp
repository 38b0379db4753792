#include "runtime/reduce_chain.h"

#include <algorithm>

#include "runtime/step_builder.h"

namespace tilewise {

uint8_t* ReduceChain::flags() const { return report ? report->flags.data() : nullptr; }

void ReduceChain::reduce_whole(ReduceWork* work, int axis, Parallel& parallel) {
  const auto at = static_cast<int>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
  StateArray in{reduction, type, 1, work->shape[at], 1, weight, flags()};
  for (int i = 0; i < at; ++i) in.outer *= work->shape[i];
  for (int i = at + 1; i < work->shape.size(); ++i) in.inner *= work->shape[i];
  std::vector<char> out(in.outer * in.inner * in.bytes());
  reduce_run_axis(in, 0, in.n, in.n, work->states.data(), out.data(), parallel);
  weight *= in.n;
  work->states = std::move(out);
  work->shape.erase(at);
  axes.erase(axes.begin() + at);
}

void finish_chain(ReduceChain chain, const std::vector<int>& left, ReduceWork work, char* values, Parallel& parallel) {
  for (int k : left) chain.reduce_whole(&work, k, parallel);
  finish_states(chain.reduction, chain.type, work.states.data(), values, count_of(work.shape));
}

}  // namespace tilewise
