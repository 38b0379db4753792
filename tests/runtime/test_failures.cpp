// The log of failures: which stores have no values after a piece of work failed.
#include "runtime/failures.h"

#include <gtest/gtest.h>

namespace tilewise {
namespace {

IssuedWork work(std::initializer_list<StoreId> reads, StoreId write, bool whole = true) {
  IssuedWork w;
  for (StoreId store : reads) w.reads.push_back(store);
  w.writes.push_back(write);
  w.whole.push_back(whole);
  return w;
}

const std::exception_ptr kError = std::make_exception_ptr(Error(ErrorKind::kMemory, "no room"));

class Failures : public ::testing::Test {
 protected:
  Failures() {
    queue_ = make_thread_queue("test");
    job_.comm_queue = queue_.get();
  }
  std::unique_ptr<Queue> queue_;
  Job job_;
  FailureLog log_{job_};
};

TEST_F(Failures, SpreadToWhatReadsAndEndWhereAllIsOverwritten) {
  const FailurePtr failure = log_.refuse(work({1}, 2), kError);
  log_.note(work({2, 7}, 3));
  log_.note(work({1}, 4));
  log_.note(work({4}, 3, false));
  EXPECT_EQ(log_.of(2), failure);
  EXPECT_EQ(log_.of(3), failure);
  EXPECT_EQ(log_.of(1), nullptr);
  EXPECT_EQ(log_.of(4), nullptr);
  log_.note(work({4}, 3));
  EXPECT_EQ(log_.of(3), nullptr);
  EXPECT_EQ(failure->kind, ErrorKind::kMemory);
  EXPECT_EQ(failure->reason, "no room");
}

TEST_F(Failures, WorkIssuedWithoutMemoryIsToldLater) {
  const IssuedWork sum = work({1}, 2);
  log_.note(sum);
  log_.lack_memory(sum, kError);
  EXPECT_TRUE(log_.wanted());
  ASSERT_NE(log_.of(2), nullptr);
  EXPECT_EQ(log_.of(2)->reason, "rank 0: no room");
  EXPECT_EQ(log_.take_unreported(), log_.of(2));
  log_.lack_memory(work({1}, 3), kError);
  log_.note(work({1}, 3));  // overwritten by work that had some
  const auto told = log_.take_new();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0]->stores, (std::vector<StoreId>{2}));
  EXPECT_TRUE(told[1]->stores.empty());
}

TEST_F(Failures, AReadThatFailsLeavesTheStoreItsValues) {
  IssuedWork read;
  read.kind = RecordKind::kRead;
  read.reads.push_back(5);
  log_.lack_memory(read, kError);
  EXPECT_EQ(log_.of(5), nullptr);
  const std::vector<char> bytes = encode(log_.take_new());
  FailureLog leader(job_);
  for (FailurePtr& failure : decode_failures(bytes.data(), bytes.size())) leader.adopt(std::move(failure));
  EXPECT_EQ(leader.of(5), nullptr);
  EXPECT_EQ(leader.take_failed_read(4), nullptr);
  const FailurePtr failure = leader.take_failed_read(5);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->operation, "reading values");
  EXPECT_EQ(leader.take_failed_read(5), nullptr);
}

TEST_F(Failures, FoundLateReachWhatWasIssuedMeanwhile) {
  queue_->submit([] {}, {});
  log_.note(work({1}, 2));
  queue_->submit([] { throw Error(ErrorKind::kRuntime, "lost"); }, {});
  log_.note(work({2}, 3));
  const Event last = queue_->submit([] {}, {});
  log_.note(work({3}, 4));
  log_.note(work({2}, 5));
  wait(last);
  log_.look();
  EXPECT_EQ(log_.of(2), nullptr);
  ASSERT_NE(log_.of(3), nullptr);
  EXPECT_EQ(log_.of(3)->reason, "lost");
  EXPECT_EQ(log_.of(4), log_.of(3));
  EXPECT_EQ(log_.of(5), nullptr);
  EXPECT_EQ(log_.fatal(), log_.of(3));  // the queue is that of exchanges
  EXPECT_EQ(log_.take_unreported(), log_.of(3));
  EXPECT_EQ(log_.take_unreported(), nullptr);
}

TEST_F(Failures, TravelBetweenRanks) {
  auto failure = std::make_shared<TaskFailure>();
  failure->kind = ErrorKind::kLinAlg;
  failure->operation = "solve";
  failure->line = 12;
  failure->reason = "singular";
  failure->stores = {3, 5};
  const auto bytes = encode({failure, failure});
  const auto came = decode_failures(bytes.data(), bytes.size());
  ASSERT_EQ(came.size(), 2u);
  EXPECT_EQ(came[1]->operation, "solve");
  EXPECT_EQ(came[1]->line, 12u);
  log_.note(work({5}, 6));
  log_.adopt(came[0]);
  EXPECT_EQ(log_.of(3), came[0]);
  EXPECT_EQ(log_.of(6), came[0]);
}

}  // namespace
}  // namespace tilewise
