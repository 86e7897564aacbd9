// Loops of compare-and-exchange that add to a float: atomic additions.
//
// The machine has no addition of floats in memory, so compilers and the C++ library write one as a loop that tries until
// nobody came between. Such a loop can't be run backwards; the addition that it stands for can.
//
//   old = phi(load p, seen); new = old + x; (seen, done) = cmpxchg p, old, new; br done, out, loop
//                                                                               =>  old = atomicrmw fadd p, x
//
// Taken are loops of one block that touch no other memory, with sums, differences and sums of a product. What else may
// be done so (products, minima by comparison) stays as it is.

#include "support.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

Value *throughCasts(Value *value) {
  while (auto *cast = dyn_cast<BitCastInst>(value))
    value = cast->getOperand(0);
  return value;
}

class Addition {
public:
  // The addition that the loop around `exchange` makes, if it is one.
  static std::optional<Addition> of(AtomicCmpXchgInst &exchange) {
    Addition found(exchange);
    BasicBlock *block = exchange.getParent();
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(1) != block || branch->getSuccessor(0) == block)
      return std::nullopt;
    const auto part = [&](Value *value, unsigned index) {
      auto *extract = dyn_cast<ExtractValueInst>(value);
      return extract && extract->getAggregateOperand() == &exchange && extract->getIndices()[0] == index;
    };
    if (!part(branch->getCondition(), 1))
      return std::nullopt;
    found.old_ = dyn_cast<PHINode>(throughCasts(exchange.getCompareOperand()));
    if (!found.old_ || found.old_->getParent() != block || !hasSingleElement(block->phis()))
      return std::nullopt;
    // Again with what was seen; the C++ library writes that as a choice.
    Value *again = throughCasts(found.old_->getIncomingValueForBlock(block));
    if (auto *choice = dyn_cast<SelectInst>(again); choice && choice->getCondition() == branch->getCondition())
      again = throughCasts(choice->getFalseValue());
    if (!part(again, 0))
      return std::nullopt;
    for (Instruction &inst : *block)
      if (&inst != &exchange && (inst.mayReadOrWriteMemory() || inst.mayThrow()))
        return std::nullopt;
    found.sum_ = dyn_cast<Instruction>(throughCasts(exchange.getNewValOperand()));
    if (!found.sum_ || found.sum_->getParent() != block || !found.sum_->getType()->isFloatingPointTy())
      return std::nullopt;
    return found.findTerms() ? std::optional(found) : std::nullopt;
  }

  void replace() {
    BasicBlock *block = exchange_->getParent();
    IRBuilder<> at(exchange_);
    Value *term = product_ ? at.CreateFMul(terms_[0], terms_[1]) : terms_[0];
    auto *update = at.CreateAtomicRMW(minus_ ? AtomicRMWInst::FSub : AtomicRMWInst::FAdd, exchange_->getPointerOperand(),
                                      term, exchange_->getAlign(), exchange_->getSuccessOrdering(),
                                      exchange_->getSyncScopeID());
    update->setVolatile(exchange_->isVolatile());
    // The sum is found once more, from what was there.
    update->moveBefore(block->getFirstInsertionPt());
    if (auto *computed = dyn_cast<Instruction>(term); computed && product_)
      computed->moveBefore(update->getIterator());
    IRBuilder<> after(exchange_);
    Value *old = after.CreateBitCast(update, old_->getType());
    Value *seen = after.CreateBitCast(update, exchange_->getCompareOperand()->getType());
    Value *pair = after.CreateInsertValue(PoisonValue::get(exchange_->getType()), seen, 0);
    pair = after.CreateInsertValue(pair, after.getTrue(), 1);
    if (auto *made = dyn_cast<Instruction>(old); made && made != update)
      made->moveAfter(update);
    old_->replaceAllUsesWith(old);
    old_->eraseFromParent();
    exchange_->replaceAllUsesWith(pair);
    exchange_->eraseFromParent();
    auto *branch = cast<BranchInst>(block->getTerminator());
    BranchInst::Create(branch->getSuccessor(0), branch->getIterator());
    branch->eraseFromParent();
  }

private:
  explicit Addition(AtomicCmpXchgInst &exchange) : exchange_(&exchange) {}

  // What is added is there before the loop.
  bool isOutside(const Value *value) const {
    const auto *inst = dyn_cast<Instruction>(value);
    return !inst || inst->getParent() != exchange_->getParent();
  }

  bool findTerms() {
    const auto isOld = [&](Value *value) { return throughCasts(value) == old_; };
    if (auto *math = dyn_cast<BinaryOperator>(sum_)) {
      const bool sum = math->getOpcode() == Instruction::FAdd;
      minus_ = math->getOpcode() == Instruction::FSub;
      const bool first = isOld(math->getOperand(0));
      if ((!sum && !minus_) || (!first && (minus_ || !isOld(math->getOperand(1)))))
        return false;
      terms_ = {math->getOperand(first ? 1 : 0)};
    } else if (auto *call = dyn_cast<IntrinsicInst>(sum_);
               call && call->getIntrinsicID() == Intrinsic::fmuladd && isOld(call->getArgOperand(2))) {
      product_ = true;
      terms_ = {call->getArgOperand(0), call->getArgOperand(1)};
    } else {
      return false;
    }
    return all_of(terms_, [&](const Value *term) { return isOutside(term); });
  }

  AtomicCmpXchgInst *exchange_;
  PHINode *old_ = nullptr;
  Instruction *sum_ = nullptr;
  SmallVector<Value *, 2> terms_;
  bool minus_ = false;
  bool product_ = false;
};

} // namespace

namespace enz {

bool raiseAtomicAdditions(Function &function) {
  SmallVector<AtomicCmpXchgInst *, 4> exchanges;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst))
        exchanges.push_back(exchange);
  bool changed = false;
  for (AtomicCmpXchgInst *exchange : exchanges)
    if (std::optional<Addition> addition = Addition::of(*exchange)) {
      addition->replace();
      changed = true;
    }
  return changed;
}

} // namespace enz
