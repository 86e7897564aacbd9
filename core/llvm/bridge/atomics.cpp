// Loops of compare-and-exchange that add to a float: atomic additions.
//
// The machine has no addition of floats in memory, so compilers and the C++ library write one as a loop that tries
// until nobody came between. Such a loop can't be run backwards; the addition that it stands for can.
//
//   old = phi(load p, seen); new = old + x; (seen, done) = cmpxchg p, old, new; br done, out, loop
//                                                                               =>  old = atomicrmw fadd p, x
//
// Taken are loops of one block that touch no other memory, with sums, differences and sums of a product; and the same
// with the first try before the loop. What else may be done so (products, minima by comparison) stays as it is.

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

// What was seen is read where the exchange is, not only where it goes on: in a block of its own at `-Oz`.
void takeApart(AtomicCmpXchgInst &exchange) {
  for (User *user : exchange.users())
    if (auto *part = dyn_cast<ExtractValueInst>(user))
      part->moveAfter(&exchange);
}

class Addition {
public:
  // The addition that the loop around `exchange` makes, if it is one.
  static std::optional<Addition> of(AtomicCmpXchgInst &exchange) {
    Addition found(exchange);
    BasicBlock *block = exchange.getParent();
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == block)
      return std::nullopt;
    BasicBlock *latch = branch->getSuccessor(1);
    if (latch != block && onFrom(latch) != block)
      return found.findFirstTry(*branch) ? std::optional(found) : std::nullopt;
    if (!isPart(branch->getCondition(), &exchange, 1))
      return std::nullopt;
    found.old_ = dyn_cast<PHINode>(throughCasts(exchange.getCompareOperand()));
    if (!found.old_ || found.old_->getParent() != block || !hasSingleElement(block->phis()) ||
        found.old_->getBasicBlockIndex(latch) < 0)
      return std::nullopt;
    // Again with what was seen.
    if (!isPart(onFailure(found.old_->getIncomingValueForBlock(latch), &exchange), &exchange, 0))
      return std::nullopt;
    for (Instruction &inst : *block)
      if (&inst != &exchange && (inst.mayReadOrWriteMemory() || inst.mayThrow()))
        return std::nullopt;
    found.sum_ = dyn_cast<Instruction>(throughCasts(exchange.getNewValOperand()));
    if (!found.sum_ || found.sum_->getParent() != block || !found.sum_->getType()->isFloatingPointTy())
      return std::nullopt;
    return found.findTerms(found.old_, *block) ? std::optional(found) : std::nullopt;
  }

  void replace() {
    if (!old_)
      return replaceFirstTry();
    BasicBlock *block = exchange_->getParent();
    IRBuilder<> at(exchange_);
    Value *term = product_ ? at.CreateFMul(terms_[0], terms_[1]) : terms_[0];
    auto *update =
        at.CreateAtomicRMW(minus_ ? AtomicRMWInst::FSub : AtomicRMWInst::FAdd, exchange_->getPointerOperand(), term,
                           exchange_->getAlign(), exchange_->getSuccessOrdering(), exchange_->getSyncScopeID());
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
    BasicBlock *latch = branch->getSuccessor(1);
    BranchInst::Create(branch->getSuccessor(0), branch->getIterator());
    branch->eraseFromParent();
    if (latch != block)
      latch->removePredecessor(block);
  }

private:
  static bool isPart(const Value *value, const Instruction *pair, unsigned index) {
    const auto *extract = dyn_cast<ExtractValueInst>(value);
    return extract && extract->getAggregateOperand() == pair && extract->getIndices()[0] == index;
  }

  // What `value` is where the exchange failed: the C++ library writes that as a choice.
  static Value *onFailure(Value *value, const Instruction *pair) {
    value = throughCasts(value);
    auto *choice = dyn_cast<SelectInst>(value);
    return choice && isPart(choice->getCondition(), pair, 1) ? throughCasts(choice->getFalseValue()) : value;
  }

  // Past blocks that do nothing.
  static BasicBlock *onFrom(BasicBlock *block) {
    while (block->getTerminator() == &*block->begin() && block->getSingleSuccessor() && block->getSinglePredecessor())
      block = block->getSingleSuccessor();
    return block;
  }

  // The first try is before the loop that tries again, from what was read, to where both lead.
  bool findFirstTry(BranchInst &branch) {
    BasicBlock *out = onFrom(branch.getSuccessor(0));
    BasicBlock *loop = onFrom(branch.getSuccessor(1));
    auto *back = dyn_cast<BranchInst>(loop->getTerminator());
    if (!isPart(branch.getCondition(), exchange_, 1) || !back || !back->isConditional() ||
        back->getSuccessor(1) != loop || onFrom(back->getSuccessor(0)) != out || !hasSingleElement(loop->phis()))
      return false;
    AtomicCmpXchgInst *again = nullptr;
    for (Instruction &inst : *loop)
      if (auto *other = dyn_cast<AtomicCmpXchgInst>(&inst); other && !again)
        again = other;
      else if (inst.mayReadOrWriteMemory() || inst.mayThrow())
        return false;
    auto *seen = &*loop->phis().begin();
    const int entry = seen->getNumIncomingValues() == 2 ? seen->getIncomingBlock(0) == loop : -1;
    if (!again || entry < 0 || again->getPointerOperand() != exchange_->getPointerOperand() ||
        !isPart(back->getCondition(), again, 1))
      return false;
    // What was seen goes round as the pair or as the number in it.
    Value *first = onFailure(seen->getIncomingValue(entry), exchange_);
    Value *next = onFailure(seen->getIncomingValue(1 - entry), again);
    const bool pairs = first == exchange_ && next == again;
    if (!pairs && (!isPart(first, exchange_, 0) || !isPart(next, again, 0)))
      return false;
    Value *old = throughCasts(again->getCompareOperand());
    if (pairs ? !isPart(old, seen, 0) : old != seen)
      return false;
    sum_ = dyn_cast<Instruction>(throughCasts(again->getNewValOperand()));
    if (!sum_ || !sum_->getType()->isFloatingPointTy() || !findTerms(old, *loop))
      return false;
    const Addition retried = *this;
    sum_ = dyn_cast<Instruction>(throughCasts(exchange_->getNewValOperand()));
    read_ = throughCasts(exchange_->getCompareOperand());
    if (!sum_ || !findTerms(read_, *loop) || terms_ != retried.terms_ || minus_ != retried.minus_ ||
        product_ != retried.product_)
      return false;
    // Nothing but the first try and what follows uses what was read.
    SmallVector<Value *, 4> same = {read_, sum_};
    for (size_t n = 0; n < same.size(); ++n)
      for (const Use &use : same[n]->uses()) {
        if (auto *cast = dyn_cast<BitCastInst>(use.getUser()))
          same.push_back(cast);
        else if (auto *phi = dyn_cast<PHINode>(use.getUser());
                 phi ? !isAfterTry(*phi, use, out) : !isOfTry(use.getUser()))
          return false;
      }
    return true;
  }

  // Whether the phi takes it where the first try succeeded.
  bool isAfterTry(const PHINode &phi, const Use &use, const BasicBlock *out) const {
    const BasicBlock *block = exchange_->getParent(), *from = phi.getIncomingBlock(use);
    return phi.getParent() == out && (from == block || from->getSinglePredecessor() == block);
  }

  // Whether it is of the first try, or chooses what was there if that succeeded.
  bool isOfTry(const User *user) const {
    const auto *choice = dyn_cast<SelectInst>(user);
    return user == exchange_ || user == sum_ || (choice && isPart(choice->getCondition(), exchange_, 1));
  }

  static bool isLater(const Use &use) { return isa<PHINode, SelectInst>(use.getUser()); }

  void replaceFirstTry() {
    BasicBlock *block = exchange_->getParent();
    auto *branch = cast<BranchInst>(block->getTerminator());
    IRBuilder<> at(exchange_);
    Value *term = product_ ? at.CreateFMul(terms_[0], terms_[1]) : terms_[0];
    auto *update =
        at.CreateAtomicRMW(minus_ ? AtomicRMWInst::FSub : AtomicRMWInst::FAdd, exchange_->getPointerOperand(), term,
                           exchange_->getAlign(), exchange_->getSuccessOrdering(), exchange_->getSyncScopeID());
    update->setVolatile(exchange_->isVolatile());
    Value *seen = at.CreateBitCast(update, exchange_->getCompareOperand()->getType());
    Value *pair = at.CreateInsertValue(PoisonValue::get(exchange_->getType()), seen, 0);
    pair = at.CreateInsertValue(pair, at.getTrue(), 1);
    // What follows has what was there, and the sum with that.
    Value *was = at.CreateBitCast(update, read_->getType());
    Instruction *sum = sum_->clone();
    sum->insertBefore(exchange_->getIterator());
    sum->replaceUsesOfWith(findOperand(*sum_), at.CreateBitCast(update, findOperand(*sum_)->getType()));
    read_->replaceUsesWithIf(was, isLater);
    for (User *user : make_early_inc_range(read_->users()))
      if (auto *cast = dyn_cast<BitCastInst>(user)) {
        Value *again = at.CreateBitCast(update, cast->getType());
        cast->replaceUsesWithIf(again, isLater);
      }
    sum_->replaceUsesWithIf(sum, isLater);
    exchange_->replaceAllUsesWith(pair);
    exchange_->eraseFromParent();
    BasicBlock *retry = branch->getSuccessor(1);
    BranchInst::Create(branch->getSuccessor(0), branch->getIterator());
    branch->eraseFromParent();
    retry->removePredecessor(block);
  }

  // The operand of a sum that is what was read.
  Value *findOperand(Instruction &sum) const {
    for (Value *operand : sum.operands())
      if (throughCasts(operand) == read_)
        return operand;
    return sum.getOperand(0);
  }

  explicit Addition(AtomicCmpXchgInst &exchange) : exchange_(&exchange) {}

  // What is added to `old`, and is there before the loop.
  bool findTerms(const Value *old, const BasicBlock &loop) {
    const auto isOld = [&](Value *value) { return throughCasts(value) == old; };
    if (auto *math = dyn_cast<BinaryOperator>(sum_)) {
      const bool sum = math->getOpcode() == Instruction::FAdd;
      product_ = false;
      minus_ = math->getOpcode() == Instruction::FSub;
      const bool first = isOld(math->getOperand(0));
      if ((!sum && !minus_) || (!first && (minus_ || !isOld(math->getOperand(1)))))
        return false;
      terms_ = {math->getOperand(first ? 1 : 0)};
    } else if (auto *call = dyn_cast<IntrinsicInst>(sum_);
               call && call->getIntrinsicID() == Intrinsic::fmuladd && isOld(call->getArgOperand(2))) {
      product_ = true;
      minus_ = false;
      terms_ = {call->getArgOperand(0), call->getArgOperand(1)};
    } else {
      return false;
    }
    return all_of(terms_, [&](const Value *term) {
      const auto *inst = dyn_cast<Instruction>(term);
      return !inst || inst->getParent() != &loop;
    });
  }

  AtomicCmpXchgInst *exchange_;
  // What was there: the phi of the loop, or what was read for a first try before it.
  PHINode *old_ = nullptr;
  Value *read_ = nullptr;
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
    takeApart(*exchange);
  for (AtomicCmpXchgInst *exchange : exchanges)
    if (std::optional<Addition> addition = Addition::of(*exchange)) {
      addition->replace();
      changed = true;
    }
  return changed;
}

} // namespace enz
