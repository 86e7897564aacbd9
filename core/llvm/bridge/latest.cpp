// Loops of a derivative that know in which of their iterations a number was replaced last, as a maximum is.
//
// The adjoint of a number that a loop replaces now and then (diff/src/latest.rs) goes to one iteration, whose number is
// kept. Run backward, all other iterations add nothing:
//
//   for i = n - 1 .. 0:  s[i] += i == last ? d : 0;  d = i == last ? 0 : d   =>   if (last < n) { s[last] += d;  d = 0;
//   }
//
// That is shown by going through the body with the comparison false: each store writes what was loaded from its place,
// and each value that is carried on stays as it is. (What is added is -0, so this holds for each bit.)
//
// The forward sweep finds that number beside the maximum, which LLVM's vectoriser takes for no reduction. Where it
// would take the maximum alone, there is a second loop for the number, which it takes as well:
//
//   for i:  c = x[i] > m;  m = max(x[i], m);  last = c ? i : last
//      =>   for i:  m = max(x[i], m);    if (m > start)  last = min { i : x[i] == m }
//
// Taken are loops of one block whose count is known on entry. Not handled: several such numbers in one loop; in the
// second loop what is not read from memory, since what is computed twice may differ in the last bit.

#include "support.h"

#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace {

constexpr size_t kLargestBlock = 200;
// Loops with fewer iterations are unrolled anyway.
constexpr uint64_t kFewest = 8;

// A comparison that is true (or false, if `differs`) in one iteration alone.
struct Moment {
  ICmpInst *comparison;
  bool differs;
  const SCEVAddRecExpr *counter;
  Value *number;
};

class Once {
public:
  Once(EnzOpaqueHost &host, Function &function, LoopInfo &loops, Loop &loop)
      : function_(function), loops_(loops), loop_(loop), block_(*loop.getHeader()),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)) {}

  bool run() {
    if (!isSimple())
      return false;
    for (Instruction &inst : block_)
      if (const std::optional<Moment> moment = momentOf(inst); moment && isIdleBut(*moment))
        return rewrite(*moment);
    return false;
  }

private:
  bool isSimple() {
    auto *branch = dyn_cast<BranchInst>(block_.getTerminator());
    exit_ = loop_.getUniqueExitBlock();
    if (loop_.getNumBlocks() != 1 || !loop_.getLoopPreheader() || !exit_ || exit_->isEHPad() || !branch ||
        !branch->isConditional() || block_.size() > kLargestBlock || !all_of(block_, isPlain))
      return false;
    count_ = evolution_.getBackedgeTakenCount(&loop_);
    const auto *constant = dyn_cast<SCEVConstant>(count_);
    return !isa<SCEVCouldNotCompute>(count_) && !(constant && constant->getAPInt().ult(kFewest));
  }

  static bool isPlain(const Instruction &inst) {
    if (const auto *load = dyn_cast<LoadInst>(&inst))
      return load->isSimple();
    if (const auto *store = dyn_cast<StoreInst>(&inst))
      return store->isSimple();
    return !inst.mayReadOrWriteMemory() && !inst.mayThrow() && inst.willReturn();
  }

  std::optional<Moment> momentOf(Instruction &inst) {
    auto *comparison = dyn_cast<ICmpInst>(&inst);
    if (!comparison || !comparison->isEquality())
      return std::nullopt;
    for (const unsigned side : {0U, 1U}) {
      Value *counted = comparison->getOperand(side), *number = comparison->getOperand(1 - side);
      if (counted->getType() != count_->getType() || !loop_.isLoopInvariant(number))
        continue;
      const auto *counter = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(counted));
      if (!counter || counter->getLoop() != &loop_ || !counter->isAffine())
        continue;
      const SCEV *step = counter->getStepRecurrence(evolution_);
      if (step->isOne() || step->isAllOnesValue())
        return Moment{comparison, comparison->getPredicate() == CmpInst::ICMP_NE, counter, number};
    }
    return std::nullopt;
  }

  // Whether all other iterations leave everything as it is.
  bool isIdleBut(const Moment &moment) {
    DenseMap<Value *, Value *> known;
    auto value = [&known](Value *of) {
      Value *to = known.lookup(of);
      return to ? to : of;
    };
    known[moment.comparison] = ConstantInt::getBool(moment.comparison->getType(), moment.differs);
    const SimplifyQuery query(function_.getDataLayout());
    bool stores = false;
    for (Instruction &inst : block_) {
      if (auto *store = dyn_cast<StoreInst>(&inst)) {
        auto *load = dyn_cast<LoadInst>(value(store->getValueOperand()));
        if (!load || load->getParent() != &block_ || load->getPointerOperand() != store->getPointerOperand())
          return false;
        stores = true;
      } else if (!isa<PHINode>(inst) && !isa<LoadInst>(inst) && !inst.isTerminator() && !known.contains(&inst)) {
        SmallVector<Value *, 4> operands;
        transform(inst.operands(), std::back_inserter(operands), value);
        if (Value *simple = simplifyInstructionWithOperands(&inst, operands, query); simple && simple != &inst)
          known[&inst] = simple;
      }
    }
    for (PHINode &phi : block_.phis())
      if (value(phi.getIncomingValueForBlock(&block_)) != &phi && !isCounted(phi))
        return false;
    // What leaves the loop is what the next iteration would have been given.
    auto isCarried = [&](Instruction &leaving) {
      return any_of(block_.phis(), [&](PHINode &phi) {
        return phi.getIncomingValueForBlock(&block_) == &leaving && value(&leaving) == &phi;
      });
    };
    return stores && all_of(block_, [&](Instruction &inst) { return !isUsedAfter(inst) || isCarried(inst); });
  }

  bool isCounted(PHINode &phi) {
    if (!evolution_.isSCEVable(phi.getType()))
      return false;
    const auto *counter = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(&phi));
    return counter && counter->getLoop() == &loop_ && counter->isAffine();
  }

  bool isUsedAfter(const Instruction &inst) const {
    return any_of(inst.users(), [this](const User *user) { return cast<Instruction>(user)->getParent() != &block_; });
  }

  bool rewrite(const Moment &moment) {
    BasicBlock *before = loop_.getLoopPreheader();
    Instruction *at = before->getTerminator();
    SCEVExpander expander(evolution_, "latest");
    auto turnAt = [&](Value *number) {
      const SCEV *there = evolution_.getSCEV(number), *start = moment.counter->getStart();
      const bool isUp = moment.counter->getStepRecurrence(evolution_)->isOne();
      return isUp ? evolution_.getMinusSCEV(there, start) : evolution_.getMinusSCEV(start, there);
    };
    SmallVector<std::pair<PHINode *, const SCEVAddRecExpr *>, 4> counters;
    for (PHINode &phi : block_.phis())
      if (isCounted(phi))
        counters.emplace_back(&phi, cast<SCEVAddRecExpr>(evolution_.getSCEV(&phi)));
    auto can = [&](const SCEV *what) { return expander.isSafeToExpandAt(what, at); };
    const SCEV *turn = turnAt(moment.number);
    if (!can(turn) || !can(count_) || !all_of(counters, [&](const auto &counter) {
          return can(counter.second->evaluateAtIteration(turn, evolution_));
        }))
      return false;
    formLCSSA(loop_, dominators_, &loops_, &evolution_);
    IRBuilder<> build(at);
    // It may be undefined where nothing was replaced, and is branched on here.
    turn = turnAt(build.CreateFreeze(moment.number));
    Value *happened = build.CreateICmpULE(expander.expandCodeFor(turn, turn->getType(), at),
                                          expander.expandCodeFor(count_, count_->getType(), at));
    for (auto &[phi, counter] : counters) {
      const SCEV *there = counter->evaluateAtIteration(turn, evolution_);
      phi->setIncomingValueForBlock(before, expander.expandCodeFor(there, phi->getType(), at));
    }
    moment.comparison->replaceAllUsesWith(ConstantInt::getBool(moment.comparison->getType(), !moment.differs));
    for (PHINode &phi : exit_->phis()) {
      Value *leaving = phi.getIncomingValueForBlock(&block_), *begun = leaving;
      for (PHINode &carried : block_.phis())
        if (carried.getIncomingValueForBlock(&block_) == leaving)
          begun = carried.getIncomingValueForBlock(before);
      phi.addIncoming(begun, before);
    }
    evolution_.forgetLoop(&loop_);
    build.CreateCondBr(happened, &block_, exit_);
    at->eraseFromParent();
    Instruction *end = block_.getTerminator();
    BranchInst *leave = BranchInst::Create(exit_, end->getIterator());
    leave->setDebugLoc(end->getDebugLoc());
    end->eraseFromParent();
    for (PHINode &phi : make_early_inc_range(block_.phis()))
      phi.removeIncomingValue(&block_, false);
    return true;
  }

  Function &function_;
  LoopInfo &loops_;
  Loop &loop_;
  BasicBlock &block_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  BasicBlock *exit_ = nullptr;
  const SCEV *count_ = nullptr;
};

// A maximum or minimum, and the iteration that has it.
class Search {
public:
  Search(EnzOpaqueHost &host, Function &function, LoopInfo &loops, Loop &loop)
      : function_(function), loops_(loops), loop_(loop), block_(*loop.getHeader()),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)) {}

  bool run() {
    if (!isSimple() || !find())
      return false;
    rewrite();
    return true;
  }

private:
  bool isSimple() {
    auto *branch = dyn_cast<BranchInst>(block_.getTerminator());
    exit_ = loop_.getUniqueExitBlock();
    auto reads = [](const Instruction &inst) {
      const auto *load = dyn_cast<LoadInst>(&inst);
      return load ? load->isSimple() : !inst.mayReadOrWriteMemory() && !inst.mayThrow() && inst.willReturn();
    };
    if (loop_.getNumBlocks() != 1 || !loop_.getLoopPreheader() || !exit_ || exit_->getSinglePredecessor() != &block_ ||
        exit_->isEHPad() || !branch || !branch->isConditional() || block_.size() > kLargestBlock ||
        !all_of(block_, reads))
      return false;
    const SCEV *count = evolution_.getBackedgeTakenCount(&loop_);
    const auto *constant = dyn_cast<SCEVConstant>(count);
    return !isa<SCEVCouldNotCompute>(count) && !(constant && constant->getAPInt().ult(kFewest));
  }

  bool isCounter(Value *value) {
    if (!value->getType()->isIntegerTy(64))
      return false;
    const auto *counter = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(value));
    return counter && counter->getLoop() == &loop_ && counter->isAffine() && counter->getStart()->isZero() &&
           counter->getStepRecurrence(evolution_)->isOne();
  }

  // The two that are carried on, and nothing else but what counts.
  bool find() {
    for (PHINode &phi : block_.phis()) {
      Value *next = phi.getIncomingValueForBlock(&block_);
      if (auto *select = dyn_cast<SelectInst>(next); !number_ && select && select->getFalseValue() == &phi &&
                                                     isCounter(select->getTrueValue()) && phi.hasOneUse() &&
                                                     isa<FCmpInst>(select->getCondition())) {
        number_ = &phi;
        choice_ = select;
        comparison_ = cast<FCmpInst>(select->getCondition());
        continue;
      }
      if (phi.getType()->isFloatingPointTy() && !best_) {
        best_ = &phi;
        continue;
      }
      if (!evolution_.isSCEVable(phi.getType()) || !isa<SCEVAddRecExpr>(evolution_.getSCEV(&phi)))
        return false;
    }
    if (!number_ || !best_ || !comparison_->hasOneUse())
      return false;
    auto *maximum = dyn_cast<IntrinsicInst>(best_->getIncomingValueForBlock(&block_));
    const bool isSecond = comparison_->getOperand(1) == best_;
    read_ = dyn_cast<LoadInst>(comparison_->getOperand(isSecond ? 0 : 1));
    if (!maximum || !read_ || comparison_->getOperand(isSecond ? 1 : 0) != best_ || read_->getParent() != &block_ ||
        !maximum->hasNoNaNs() || !maximum->hasNoSignedZeros() || !best_->hasNUses(2) || !isUsedByNumberAlone())
      return false;
    replaces_ = isSecond ? comparison_->getPredicate() : comparison_->getSwappedPredicate();
    const Intrinsic::ID which = maximum->getIntrinsicID();
    const bool isGreatest =
        replaces_ == FCmpInst::FCMP_OGT && (which == Intrinsic::maxnum || which == Intrinsic::maximumnum);
    const bool isLeast =
        replaces_ == FCmpInst::FCMP_OLT && (which == Intrinsic::minnum || which == Intrinsic::minimumnum);
    return (isGreatest || isLeast) && is_contained(maximum->args(), read_) && is_contained(maximum->args(), best_);
  }

  bool isUsedByNumberAlone() const {
    return all_of(choice_->users(), [this](const User *user) {
      return user == number_ || cast<Instruction>(user)->getParent() != &block_;
    });
  }

  void rewrite() {
    formLCSSA(loop_, dominators_, &loops_, &evolution_);
    LLVMContext &context = function_.getContext();
    BasicBlock *preheader = loop_.getLoopPreheader();
    auto block = [&](const char *name) { return BasicBlock::Create(context, name, &function_, exit_); };
    BasicBlock *before = block("latest.seek"), *body = block("latest.compare"), *after = block("latest.found");
    block_.getTerminator()->replaceSuccessorWith(exit_, before);
    IRBuilder<> begin(before), loop(body), end(after);
    for (IRBuilder<> *build : {&begin, &loop, &end})
      build->SetCurrentDebugLocation(comparison_->getDebugLoc());
    Value *best = best_->getIncomingValueForBlock(&block_);
    PHINode *found = begin.CreatePHI(best->getType(), 1);
    found->addIncoming(best, &block_);
    begin.CreateBr(body);

    ValueToValueMapTy map;
    auto mapped = [&map](Value *value) {
      Value *to = map.lookup(value);
      return to ? to : value;
    };
    const SmallPtrSet<const Instruction *, 4> leftOut{best_, number_, choice_, comparison_, cast<Instruction>(best)};
    auto *i64 = Type::getInt64Ty(context);
    PHINode *first = loop.CreatePHI(i64, 2);
    first->addIncoming(Constant::getAllOnesValue(i64), before);
    for (PHINode &phi : block_.phis())
      if (!leftOut.contains(&phi)) {
        PHINode *copy = loop.CreatePHI(phi.getType(), 2, phi.getName());
        copy->addIncoming(phi.getIncomingValueForBlock(preheader), before);
        map[&phi] = copy;
      }
    for (Instruction &inst : block_)
      if (!isa<PHINode>(inst) && !inst.isTerminator() && !leftOut.contains(&inst)) {
        Instruction *copy = inst.clone();
        loop.Insert(copy, inst.getName());
        RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
        map[&inst] = copy;
      }
    loop.setFastMathFlags(comparison_->getFastMathFlags());
    Value *isIt = loop.CreateFCmpOEQ(mapped(read_), found);
    Value *here = loop.CreateSelect(isIt, mapped(choice_->getTrueValue()), Constant::getAllOnesValue(i64));
    Value *least = loop.CreateBinaryIntrinsic(Intrinsic::umin, first, here);
    first->addIncoming(least, body);
    for (PHINode &phi : block_.phis())
      if (!leftOut.contains(&phi))
        cast<PHINode>(mapped(&phi))->addIncoming(mapped(phi.getIncomingValueForBlock(&block_)), body);
    auto *turn = cast<BranchInst>(block_.getTerminator()->clone());
    loop.Insert(turn);
    RemapInstruction(turn, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    turn->replaceSuccessorWith(&block_, body);
    turn->replaceSuccessorWith(before, after);
    turn->setMetadata(LLVMContext::MD_loop, nullptr);

    PHINode *all = end.CreatePHI(i64, 1);
    all->addIncoming(least, body);
    end.setFastMathFlags(comparison_->getFastMathFlags());
    Value *replaced = end.CreateFCmp(replaces_, found, best_->getIncomingValueForBlock(preheader));
    Value *number = end.CreateSelect(replaced, all, number_->getIncomingValueForBlock(preheader));
    end.CreateBr(exit_);
    for (PHINode &phi : exit_->phis()) {
      Value *leaving = phi.getIncomingValueForBlock(&block_);
      phi.setIncomingBlock(static_cast<unsigned>(phi.getBasicBlockIndex(&block_)), after);
      phi.setIncomingValueForBlock(after, leaving == choice_ ? number : leaving);
    }
    choice_->replaceAllUsesWith(number_);
    evolution_.forgetAllLoops();
    number_->replaceAllUsesWith(PoisonValue::get(i64));
    number_->eraseFromParent();
    choice_->eraseFromParent();
    comparison_->eraseFromParent();
  }

  Function &function_;
  LoopInfo &loops_;
  Loop &loop_;
  BasicBlock &block_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  BasicBlock *exit_ = nullptr;
  PHINode *best_ = nullptr, *number_ = nullptr;
  SelectInst *choice_ = nullptr;
  FCmpInst *comparison_ = nullptr;
  FCmpInst::Predicate replaces_ = FCmpInst::FCMP_FALSE;
  LoadInst *read_ = nullptr;
};

} // namespace

bool enz::runLatest(EnzOpaqueHost &host, Function &function) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {
    auto &loops = host.functions->getResult<LoopAnalysis>(function);
    again = any_of(loops.getLoopsInPreorder(), [&](Loop *loop) {
      return loop->isInnermost() &&
             (Once(host, function, loops, *loop).run() || Search(host, function, loops, *loop).run());
    });
    if (again)
      host.functions->invalidate(function, PreservedAnalyses::none());
  }
  return changed;
}
