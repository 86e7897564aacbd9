// Between which numbers an expression lies in all iterations of a loop, or in all that follows: see bounds.cpp.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace llvm {
class DominatorTree;
class Instruction;
class Loop;
class SCEV;
class SCEVAddRecExpr;
class SCEVNAryExpr;
class ScalarEvolution;
class SelectInst;
} // namespace llvm

namespace enz {

class Bounds {
public:
  // Both are integers of 64 bits, known before the loop, and stand for |x| < 2^bits.
  struct Interval {
    llvm::Value *low, *high;
    unsigned bits;
  };

  // Computes with `build`, in a block in which all that is the same throughout `around` is known. Values of the program
  // are taken to have fewer than `leaf` bits; where they do not, `holds` is false.
  Bounds(llvm::ScalarEvolution &evolution, const llvm::Loop &around, llvm::IRBuilder<> &build, unsigned leaf)
      : evolution_(evolution), around_(&around), build_(build), leaf_(leaf) {}
  // The same for what runs after `place`, which is in no loop and dominates it.
  Bounds(llvm::ScalarEvolution &evolution, const llvm::DominatorTree &dominators, const llvm::Instruction &place,
         llvm::IRBuilder<> &build, unsigned leaf)
      : evolution_(evolution), dominators_(&dominators), place_(&place), build_(build), leaf_(leaf) {}

  // The interval of `what` while that runs; none if it cannot be told.
  std::optional<Interval> of(const llvm::SCEV *what);
  // An i1: whether all the intervals are right.
  llvm::Value *holds();

private:
  // Of one loop not all iterations count.
  struct Some {
    const llvm::Loop *loop;
    Interval iterations;
  };

  std::optional<Interval> compute(const llvm::SCEV *what, const Some *some);
  std::optional<Interval> within(const llvm::SCEV *what, const Some *some);
  std::optional<Interval> folded(const llvm::SCEVNAryExpr &many, const Some *some);
  std::optional<Interval> iterated(const llvm::SCEVAddRecExpr &recurrence, const Some *some);
  bool hasSignedTurns(const llvm::Loop &loop, const llvm::SCEV *turns) const;
  const llvm::SCEV *widened(const llvm::SCEV *what) const;
  std::optional<Interval> fromTo(const llvm::SCEVAddRecExpr &recurrence, const Some *some);
  std::optional<Interval> chosen(llvm::SelectInst &select, const Some *some);
  std::optional<Some> others(llvm::SelectInst &select);
  std::optional<Interval> iterationsOf(const llvm::Loop &loop);
  std::optional<Interval> unknown(llvm::Value &value, const Some *some);
  std::optional<Interval> canonical(std::optional<Interval> of, unsigned width, bool hasSign);
  std::optional<Interval> sum(const Interval &a, const Interval &b);
  std::optional<Interval> product(const Interval &a, const Interval &b);
  Interval both(const Interval &a, const Interval &b);
  llvm::Value *least(llvm::Value *a, llvm::Value *b);
  llvm::Value *most(llvm::Value *a, llvm::Value *b);
  llvm::Value *number(int64_t value) { return build_.getInt64(static_cast<uint64_t>(value)); }
  void require(llvm::Value *condition);
  bool isFixed(const llvm::Instruction &inst) const;
  bool isFixed(const llvm::SCEV *what) const;

  llvm::ScalarEvolution &evolution_;
  const llvm::Loop *around_ = nullptr;
  const llvm::DominatorTree *dominators_ = nullptr;
  const llvm::Instruction *place_ = nullptr;
  llvm::IRBuilder<> &build_;
  unsigned leaf_, depth_ = 0;
  llvm::DenseMap<const llvm::SCEV *, std::optional<Interval>> known_;
  llvm::SmallVector<llvm::Value *, 16> required_;
};

} // namespace enz
