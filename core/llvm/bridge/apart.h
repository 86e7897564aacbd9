// Whether ranges of memory that a loop touches are apart, compared before the loop: see apart.cpp.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopAccessAnalysis.h"

namespace llvm {
class DominatorTree;
class Instruction;
class Loop;
class SCEV;
class SCEVExpander;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace enz {

class Comparisons {
public:
  // `checks`: pairs of ranges that must have nothing in common, in terms of values that are known before the loop.
  // `each`: a loop around it that touches them in each of its iterations, if there is one.
  Comparisons(llvm::ArrayRef<llvm::RuntimePointerCheck> checks, llvm::ScalarEvolution &evolution,
              const llvm::DominatorTree &dominators, const llvm::Loop *each);

  // How many comparisons of numbers are left to be made on each entry of a loop within `around`.
  size_t cost(const llvm::Loop &around) const;
  // How many are left in all.
  size_t count() const { return distances_.size() + 2 * ranges_.size() + 2 * hulls_.size(); }
  // Whether they may be expected to succeed, in a loop within `around`.
  bool arePromising(const llvm::Loop &around) const;
  bool canBeMadeAt(llvm::Instruction &at, llvm::SCEVExpander &expander) const;
  // Makes them before `at`, in `around`, or before that loop: an i1, true where all the ranges are apart.
  llvm::Value *makeAt(llvm::Instruction &at, llvm::Loop &around, llvm::SCEVExpander &expander) const;

private:
  // Ranges of `length` bytes each that begin `distance` bytes from one another.
  struct Distance {
    const llvm::SCEV *distance, *length;
  };

  // From the first to the last byte of several ranges, and of several others.
  struct Hulls {
    const llvm::SCEV *firstLow, *firstHigh, *secondLow, *secondHigh;
  };

  void add(const llvm::RuntimePointerCheck &check);
  void addHulls(llvm::ArrayRef<llvm::RuntimePointerCheck> checks);
  bool isFixed(const Distance &two, const llvm::Loop &around) const;

  llvm::ScalarEvolution &evolution_;
  const llvm::DominatorTree &dominators_;
  const llvm::Loop *each_;
  llvm::SmallVector<Distance, 16> distances_;
  llvm::SmallVector<llvm::RuntimePointerCheck, 8> ranges_;
  llvm::SmallVector<Hulls, 4> hulls_;
};

} // namespace enz
