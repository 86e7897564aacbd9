// The sums that an innermost loop of a derivative makes in memory, and all else that it touches (loopsums.cpp).
#ifndef ENZYME_LOOPSUMS_H
#define ENZYME_LOOPSUMS_H

#include "sums.h"
#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace enz {

// Loops with fewer iterations run as they were.
constexpr uint64_t kFewestTurns = 12;

// Where an access goes: an address that moves by `step` bytes an iteration.
struct Place {
  llvm::Instruction *access;
  const llvm::SCEVAddRecExpr *address; // null if it is the same in each iteration
  const llvm::SCEV *whole;
  int64_t step;
  uint64_t size;
};

// A sum whose place moves by one element an iteration.
struct Target {
  Sum sum;
  Place place;
};

// From the first byte to behind the last one.
struct Bytes {
  const llvm::SCEV *from, *to;
};

class LoopSums {
public:
  LoopSums(EnzOpaqueHost &host, llvm::Function &function, llvm::Loop &loop);

  // Whether the loop is of one block, has several sums of one type, which keep LLVM from vectorising it, and nothing
  // else that does.
  bool find();
  // Finds the ranges that must have nothing in common, one of a sum and one of something else; false if too many.
  bool findChecks();

  llvm::Loop &loop() const { return loop_; }
  llvm::BasicBlock &block() const { return block_; }
  llvm::BasicBlock *exit() const { return exit_; }
  llvm::ArrayRef<Target> targets() const { return targets_; }
  // All else that touches memory.
  llvm::ArrayRef<Place> others() const { return others_; }
  llvm::ArrayRef<std::pair<Bytes, Bytes>> checks() const { return checks_; }
  llvm::Type *element() const { return targets_.front().sum.load->getType(); }
  llvm::ScalarEvolution &evolution() const { return evolution_; }
  llvm::DominatorTree &dominators() const { return dominators_; }
  llvm::AAResults &aliases() const { return results_; }

  // The bytes that all iterations touch.
  Bytes rangeOf(const Place &place) const;
  // All that is touched from there on, or before.
  static llvm::MemoryLocation around(const Place &place);
  // What a sum adds: its operations, without what was in memory, in the copy of the loop that `map` leads to.
  static llvm::Value *amountOf(llvm::IRBuilder<> &build, const Sum &sum, llvm::ValueToValueMapTy &map);
  // Loads, stores and operations of sums, which a copy of the loop leaves out.
  llvm::SmallPtrSet<const llvm::Instruction *, 32> partsOfSums() const;

  // Whether backedges, places of sums and the ranges of `checks` can be computed before the loop.
  bool canExpand(llvm::SCEVExpander &expander, llvm::ArrayRef<std::pair<Bytes, Bytes>> checks) const;
  // What comes before the loop where it gets another one beside it.
  struct Entry {
    llvm::BasicBlock *before; // is entered for a long loop, and goes on to the loop as it was: the end is the caller's
    llvm::BasicBlock *as_it_was; // from where that is entered
    llvm::Value *count;          // backedges, an i64
    llvm::Value *apart;          // whether the ranges are
    llvm::DebugLoc where;
  };
  Entry enter(llvm::SCEVExpander &expander, llvm::LoopInfo &loops,
              llvm::ArrayRef<std::pair<Bytes, Bytes>> checks) const;

private:
  bool isSimple();
  static bool isSmallConstant(const llvm::SCEV *count);
  std::optional<Place> placeOf(llvm::Instruction &inst);
  bool collect();
  bool isWhole(const Sum &sum) const;
  bool hinders();
  bool isVectorisableElse();
  void include(llvm::MapVector<const llvm::SCEV *, Bytes> &ranges, const Place &place) const;

  llvm::Loop &loop_;
  llvm::BasicBlock &block_;
  llvm::ScalarEvolution &evolution_;
  llvm::DominatorTree &dominators_;
  llvm::AAResults &results_;
  const llvm::DataLayout &layout_;
  llvm::BasicBlock *exit_ = nullptr;
  const llvm::SCEV *count_ = nullptr;
  llvm::SmallVector<Target, 8> targets_;
  llvm::SmallVector<Place, 8> others_;
  llvm::SmallVector<std::pair<Bytes, Bytes>, 8> checks_;
};

// The sums of the innermost loops of a function: `rewrite` is asked for each loop once, and says whether it has
// changed anything; it adds blocks of loops that are not to be looked at to `done`.
bool rewriteSums(
    EnzOpaqueHost &host, llvm::Function &function,
    llvm::function_ref<bool(LoopSums &, llvm::LoopInfo &, llvm::SmallPtrSetImpl<const llvm::BasicBlock *> &)> rewrite);

} // namespace enz

#endif
