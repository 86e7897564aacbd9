// What LLVM's analyses know of a prepared clone: trip counts, and memory that stays as it was.
//
// Trip counts are those that ScalarEvolution states exactly, without what they owe to the place where a loop starts if
// it ends so far from there; they are expanded in the preheader as ordinary instructions.
//
// A load is stable if no instruction that can run after it, in any iteration, may write its memory; a store, if what it
// writes stays in the same sense. Alias analysis is
// asked in cross-iteration mode, since load and write may belong to different iterations of a common loop. Alias scopes
// are left out of the question: those that inlining made of `restrict` hold for one call of the inlined function, not
// for two iterations around it; but for those that hold for the whole run (disjoint.cpp). TBAA and attributes of the
// function's own parameters hold throughout.

#include "carry.h"
#include "order.h"
#include "products.h"
#include "scopes.h"
#include "steady.h"
#include "support.h"
#include "undo.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <map>

using namespace llvm;

namespace {

// Beyond this many questions (accesses times writes) the rest are answered with "may be written".
constexpr uint64_t kAliasQueryLimit = 400000;
// Beyond this many pairs of a load and a store their order is not looked at.
constexpr uint64_t kOrderQueryLimit = 20000;
// After this many questions it is no longer told what overwrites what a load has read.
constexpr uint64_t kMostTellings = 20000;
// Beyond this many blocks every write is assumed to be reachable.
constexpr size_t kReachabilityLimit = 4096;
// Objects that are used more often than this are taken for known to others.
constexpr size_t kMostUses = 500;

class Reachability {
public:
  explicit Reachability(Function &function) {
    for (BasicBlock &block : function)
      numbers_[&block] = static_cast<unsigned>(numbers_.size());
    rows_.resize(numbers_.size());
  }

  // Whether `later` can run after `earlier` did.
  bool follows(const Instruction *earlier, const Instruction *later) {
    if (earlier->getParent() == later->getParent() && earlier->comesBefore(later))
      return true;
    if (rows_.size() > kReachabilityLimit)
      return true;
    return from(earlier->getParent()).test(numbers_.lookup(later->getParent()));
  }

private:
  // Blocks that can be entered after `block` was left.
  const BitVector &from(const BasicBlock *block) {
    BitVector &row = rows_[numbers_.lookup(block)];
    if (row.empty()) {
      row.resize(rows_.size());
      SmallVector<const BasicBlock *, 32> work{block};
      while (!work.empty())
        for (const BasicBlock *next : successors(work.pop_back_val())) {
          const unsigned number = numbers_.lookup(next);
          if (!row.test(number)) {
            row.set(number);
            work.push_back(next);
          }
        }
    }
    return row;
  }

  DenseMap<const BasicBlock *, unsigned> numbers_;
  std::vector<BitVector> rows_;
};

// What a load or store touches, with what is known of its alias scopes throughout the function, but not of its type.
MemoryLocation untypedPlace(const Instruction &access) {
  return MemoryLocation(getLoadStorePointerOperand(&access), MemoryLocation::get(&access).Size,
                        enz::lastingScopes(access));
}

MemoryLocation typedPlace(const LoadInst &load) {
  MemoryLocation where = untypedPlace(load);
  where.AATags.TBAA = MemoryLocation::get(&load).AATags.TBAA;
  where.AATags.TBAAStruct = MemoryLocation::get(&load).AATags.TBAAStruct;
  return where;
}

class Stability {
public:
  Stability(EnzOpaqueHost &host, Function &function, const EnzFactSink &sink)
      : function_(function), aliases_(host.functions->getResult<AAManager>(function)),
        libraries_(host.functions->getResult<TargetLibraryAnalysis>(function)), reach_(function),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        loops_(host.functions->getResult<LoopAnalysis>(function)) {
    aliases_.enableCrossIterationMode();
    irreducible_ = enz::isIrreducible(function, loops_);
    for (BasicBlock &block : function)
      for (Instruction &inst : block)
        if (inst.mayWriteToMemory() && !isa<AssumeInst>(inst) && !isNoaliasScope(inst) &&
            !enz::isHarmless(inst, sink.context, sink.harmless))
          writes_.push_back(&inst);
  }

  // Whether no write after `after` reaches `where`; `by_type` is set if only the types of the accesses say so.
  bool keeps(const Instruction *after, const MemoryLocation &where, bool *by_type = nullptr) {
    MemoryLocation untyped = where;
    untyped.AATags.TBAA = nullptr;
    const bool typed = by_type && where.AATags.TBAA;
    for (Instruction *write : writes_) {
      if (write == after ? !reach_.follows(after, after) : !reach_.follows(after, write))
        continue;
      if (++queries_ > kAliasQueryLimit)
        return false;
      const bool written = isModSet(aliases_.getModRefInfo(write, where)) || sharesArena(where.Ptr, *write);
      if (written && !differentObjects(where.Ptr, *write) && !comesBefore(*write, after))
        return false;
      if (typed && !written && !*by_type && isModSet(aliases_.getModRefInfo(write, untyped)) &&
          !differentObjects(where.Ptr, *write))
        *by_type = true;
    }
    return true;
  }

  // What may overwrite what `load` has read, and whether all of that goes through other pointers.
  std::pair<Instruction *, bool> overwriter(LoadInst &load) {
    Instruction *first = nullptr;
    bool apart = true;
    const MemoryLocation where = untypedPlace(load);
    const uint64_t order_queries = order_queries_;
    for (Instruction *write : writes_) {
      if (!apart || ++tellings_ > kMostTellings)
        break;
      if (!reach_.follows(&load, write) || !isModSet(aliases_.getModRefInfo(write, where)) ||
          differentObjects(where.Ptr, *write) || comesBefore(*write, &load))
        continue;
      apart = isThroughAnother(*write, where.Ptr);
      first = first && apart ? first : write;
    }
    order_queries_ = order_queries;
    return {first, apart};
  }

  // As `keeps`, for all memory that can be reached from a pointer by following pointers in memory too: only writes to
  // memory that has not been captured anywhere cannot be meant.
  bool keepsReachable(const Instruction *after, const Value *pointer) {
    const MemoryLocation whole = MemoryLocation::getBeforeOrAfter(pointer);
    for (Instruction *write : writes_) {
      if (write == after ? !reach_.follows(after, after) : !reach_.follows(after, write))
        continue;
      if (++queries_ > kAliasQueryLimit || isModSet(aliases_.getModRefInfo(write, whole)))
        return false;
      if (!writesPrivately(*write))
        return false;
    }
    return true;
  }

  // The stores in `loop` that may reach `where` in any iteration; false if other writes may, or if it is not known.
  bool conflictsIn(const Loop &loop, const MemoryLocation &where, SmallVectorImpl<StoreInst *> &out) {
    return storesTo(
        where, [&](const Instruction &write) { return loop.contains(&write); }, [](Instruction &) { return false; },
        out);
  }

  // As `conflictsIn`, without the stores that never write what `load` has read before: what it reads at one address is
  // the same each time.
  bool changesIn(const Loop &loop, LoadInst &load, SmallVectorImpl<StoreInst *> &out) {
    return storesTo(
        untypedPlace(load), [&](const Instruction &write) { return loop.contains(&write); },
        [&](Instruction &write) { return comesBefore(write, &load); }, out);
  }

  // The stores that may reach after `load`, in any iteration, what it has read; false if other writes may, or if it is
  // not known.
  bool overwrittenBy(LoadInst &load, SmallVectorImpl<StoreInst *> &out) {
    return storesTo(
        untypedPlace(load), [&](const Instruction &write) { return reach_.follows(&load, &write); },
        [&](Instruction &write) { return comesBefore(write, &load); }, out);
  }

  // Whether a pointer leads to memory that nobody but the function can know.
  bool isPrivate(const Value *pointer) {
    return all_of(objectsOf(pointer), [&](const Value *object) { return isOwn(object); });
  }

private:
  // Where a store or fill writes.
  static const Value *targetOf(const Instruction &write) {
    const auto *fill = dyn_cast<AnyMemIntrinsic>(&write);
    return fill ? fill->getRawDest() : getLoadStorePointerOperand(&write);
  }

  bool isThroughAnother(const Instruction &write, const Value *pointer) {
    const Value *target = targetOf(write);
    const auto &ours = objectsOf(pointer);
    return target && none_of(objectsOf(target), [&](const Value *object) { return is_contained(ours, object); });
  }

  // Of the writes that are `asked` for, those that may reach `where`, but for the `harmless` ones, if all are stores.
  bool storesTo(const MemoryLocation &where, function_ref<bool(const Instruction &)> asked,
                function_ref<bool(Instruction &)> harmless, SmallVectorImpl<StoreInst *> &out) {
    for (Instruction *write : writes_) {
      if (!asked(*write))
        continue;
      if (irreducible_ || ++queries_ > kAliasQueryLimit)
        return false;
      const bool apart = !isModSet(aliases_.getModRefInfo(write, where)) || differentObjects(where.Ptr, *write);
      if ((apart && !sharesArena(where.Ptr, *write)) || harmless(*write))
        continue;
      auto *store = dyn_cast<StoreInst>(write);
      if (!store || !store->isSimple())
        return false;
      out.push_back(store);
    }
    return true;
  }

  // Whether a store or fill can only reach other objects than `pointer` can: objects are looked up through all phis,
  // where alias analysis across iterations gives up, and are the same ones in every iteration.
  bool differentObjects(const Value *pointer, const Instruction &write) {
    const Value *target = targetOf(write);
    if (!target || isa<LoadInst>(write))
      return false;
    for (const Value *a : objectsOf(pointer))
      for (const Value *b : objectsOf(target))
        if (a == b || !(isIdentifiedObject(a) || isIdentifiedObject(b)) || !areApart(a, b))
          return false;
    return true;
  }

  // Whether a store in a loop only writes elements that the access does not touch before, although it is the same
  // array.
  bool comesBefore(Instruction &write, const Instruction *after) {
    auto *store = dyn_cast<StoreInst>(&write);
    auto *access = const_cast<Instruction *>(after);
    return store && isa<LoadInst, StoreInst>(access) && !irreducible_ && ++order_queries_ <= kOrderQueryLimit &&
           enz::neverOverwrites(evolution_, loops_, *access, *store, turns_);
  }

  static bool areApart(const Value *a, const Value *b) {
    if (isIdentifiedObject(a) && isIdentifiedObject(b))
      return !(isHandedOut(a) && isHandedOut(b));
    const auto local = [](const Value *v) { return isa<AllocaInst>(v) || isNoAliasCall(v); };
    return (isa<Argument>(a) && local(b)) || (isa<Argument>(b) && local(a));
  }

  // Functions that are declared to return memory of their own, but are no allocators that LLVM knows: regions that are
  // handed out again after a reset are so declared. Two of them may share memory, one life after the other.
  bool sharesArena(const Value *pointer, const Instruction &write) {
    const Value *target = targetOf(write);
    return target && any_of(objectsOf(pointer), isHandedOut) && any_of(objectsOf(target), isHandedOut);
  }

  static bool isHandedOut(const Value *object) {
    const auto *call = dyn_cast<CallBase>(object);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && isNoAliasCall(call) && !callee->hasFnAttribute(Attribute::AllocKind) && !callee->isDeclaration();
  }

  const SmallVector<const Value *, 4> &objectsOf(const Value *pointer) {
    auto [it, fresh] = objects_.try_emplace(pointer);
    if (fresh) {
      getUnderlyingObjects(pointer, it->second, /*LI=*/nullptr, /*MaxLookup=*/0);
      // Where a vector is still empty nothing is read or written.
      const auto leadsNowhere = [&](const Value *object) {
        return isa<ConstantPointerNull, UndefValue>(object) &&
               !NullPointerIsDefined(&function_, object->getType()->getPointerAddressSpace());
      };
      if (it->second.size() > 1)
        erase_if(it->second, leadsNowhere);
    }
    return it->second;
  }

  static bool isNoaliasScope(const Instruction &inst) { return isa<NoAliasScopeDeclInst>(inst); }

  bool writesPrivately(const Instruction &write) {
    if (const auto *store = dyn_cast<StoreInst>(&write))
      return isPrivate(store->getPointerOperand());
    if (const auto *set = dyn_cast<AnyMemIntrinsic>(&write))
      return isPrivate(set->getRawDest());
    if (const auto *call = dyn_cast<CallBase>(&write))
      return call->getMemoryEffects().onlyAccessesInaccessibleMem();
    return false;
  }

  // Whether an object is the function's own and its address stays in it.
  bool isOwn(const Value *object) {
    auto [it, fresh] = private_.try_emplace(object, false);
    if (fresh)
      it->second = isIdentifiedFunctionLocal(object) && !isa<Argument>(object) && staysHere(*object);
    return private_[object];
  }

  // Whether nobody is told where `object` is. That its address is a number from which lengths are computed, as those of
  // vectors are, and that it is given back tell nobody.
  bool staysHere(const Value &object) {
    SmallPtrSet<const Use *, 32> seen;
    SmallVector<const Use *, 32> work;
    const auto addUses = [&](const Value &value) {
      for (const Use &use : value.uses())
        if (seen.insert(&use).second)
          work.push_back(&use);
    };
    addUses(object);
    while (!work.empty()) {
      if (seen.size() > kMostUses)
        return false;
      const Use &use = *work.pop_back_val();
      const auto *user = cast<Instruction>(use.getUser());
      if (isLength(*user)) {
        if (becomesAddress(*user))
          return false;
        continue;
      }
      if (isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst, BinaryOperator, CastInst>(user)) {
        if (isa<IntToPtrInst>(user))
          return false;
        addUses(*user);
      } else if (const auto *call = dyn_cast<CallBase>(user)) {
        const bool argument = call->isArgOperand(&use) && use->getType()->isPointerTy();
        const bool freed = argument && getFreedOperand(call, &libraries_) == use.get();
        // What returns a pointer may return this one, as llvm.launder.invariant.group does.
        if (!freed &&
            (!argument || call->getType()->isPointerTy() || !call->doesNotCapture(call->getArgOperandNo(&use))))
          return false;
      } else if (const auto *store = dyn_cast<StoreInst>(user)) {
        if (use.getOperandNo() != StoreInst::getPointerOperandIndex() || store->isVolatile())
          return false;
      } else if (!isa<LoadInst, CmpInst>(user)) {
        return false;
      }
    }
    return true;
  }

  // Whether `user` is the difference of two addresses.
  static bool isLength(const Instruction &user) {
    return user.getOpcode() == Instruction::Sub && all_of(user.operands(), [](const Use &use) {
             const auto *phi = dyn_cast<PHINode>(use);
             return phi ? all_of(phi->incoming_values(), isAddressOrNull) : isa<PtrToIntInst>(use);
           });
  }

  // Whether a pointer is made of a number, with no other pointer: the distance from null is an address.
  static bool becomesAddress(const Instruction &number) {
    SmallPtrSet<const User *, 16> seen;
    SmallVector<const User *, 16> work(number.users());
    while (!work.empty()) {
      const User *user = work.pop_back_val();
      if (!seen.insert(user).second)
        continue;
      const auto *step = dyn_cast<GetElementPtrInst>(user);
      if (seen.size() > kMostUses || isa<IntToPtrInst>(user) || (step && isa<Constant>(step->getPointerOperand())))
        return true;
      if (isa<BinaryOperator, PHINode, SelectInst, CastInst, FreezeInst>(user))
        work.append(user->user_begin(), user->user_end());
    }
    return false;
  }

  // An address as a number, or that of a vector which is empty.
  static bool isAddressOrNull(const Value *value) {
    const auto *number = dyn_cast<ConstantInt>(value);
    return number ? number->isZero() : isa<PtrToIntInst>(value);
  }

  const Function &function_;
  BatchAAResults aliases_;
  const TargetLibraryInfo &libraries_;
  Reachability reach_;
  ScalarEvolution &evolution_;
  LoopInfo &loops_;
  // Whether there are cycles that are no loops: values in them change although no loop is around them.
  bool irreducible_ = false;
  SmallVector<Instruction *, 64> writes_;
  DenseMap<const Value *, bool> private_;
  std::map<const Value *, SmallVector<const Value *, 4>> objects_;
  uint64_t queries_ = 0;
  uint64_t order_queries_ = 0;
  uint64_t tellings_ = 0;
  enz::Turns turns_;
};

// Calls whose only pointers lead to memory and that follow no pointer in memory.
bool followsNoPointers(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  return (isa<IntrinsicInst>(call) && call.getMemoryEffects().onlyAccessesArgPointees()) ||
         (callee && callee->hasFnAttribute(enz::kProduct));
}

} // namespace

// The backedge count of `for (k = x; k < x + y; ++k)` is that of `for (k = 0; k < y; ++k)`, whatever x is: where
// neither sum may overflow, and the branch that would then be undefined is taken in each iteration. Null for other
// loops.
static const SCEV *countFromStart(ScalarEvolution &evolution, const Loop &loop) {
  const auto *test = loop.getExitingBlock() == loop.getLoopLatch() ? loop.getLatchCmpInst() : nullptr;
  if (!test)
    return nullptr;
  const auto *branch = cast<BranchInst>(loop.getLoopLatch()->getTerminator());
  auto predicate = branch->getSuccessor(0) == loop.getHeader() ? test->getPredicate() : test->getInversePredicate();
  const Value *moving = test->getOperand(0), *bound = test->getOperand(1);
  if (loop.isLoopInvariant(moving)) {
    std::swap(moving, bound);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  const auto *next = dyn_cast<BinaryOperator>(moving), *sum = dyn_cast<BinaryOperator>(bound);
  const auto adds = [](const BinaryOperator *op) {
    return op && op->getOpcode() == Instruction::Add && op->hasNoSignedWrap();
  };
  if (predicate != CmpInst::ICMP_SLT || !adds(next) || !adds(sum) || !loop.isLoopInvariant(sum))
    return nullptr;
  const auto *phi = dyn_cast<PHINode>(next->getOperand(0));
  const auto *step = dyn_cast<ConstantInt>(next->getOperand(1));
  if (!phi || phi->getParent() != loop.getHeader() || !step || !step->isOne() ||
      phi->getIncomingValueForBlock(loop.getLoopLatch()) != next)
    return nullptr;
  const Value *start = phi->getIncomingValueForBlock(loop.getLoopPreheader());
  for (const unsigned i : {0u, 1u})
    if (sum->getOperand(i) == start) {
      const SCEV *one = evolution.getOne(sum->getType());
      return evolution.getMinusSCEV(evolution.getSMaxExpr(one, evolution.getSCEV(sum->getOperand(1 - i))), one);
    }
  return nullptr;
}

void enz_trip_counts(EnzHost host, EnzValue raw, const EnzFactSink *sink) {
  auto *function = enz::as<Function>(raw);
  auto &loops = host->functions->getResult<LoopAnalysis>(*function);
  if (loops.empty())
    return;
  auto &evolution = host->functions->getResult<ScalarEvolutionAnalysis>(*function);
  enz::clarifySubscripts(evolution, loops, *function);
  Type *i64 = Type::getInt64Ty(function->getContext());
  SmallVector<std::pair<BasicBlock *, WeakTrackingVH>, 16> counts;
  {
    SCEVExpander expander(evolution, "enzyme.trip");
    for (Loop *loop : loops.getLoopsInPreorder()) {
      BasicBlock *preheader = loop->getLoopPreheader();
      const SCEV *count = evolution.getBackedgeTakenCount(loop);
      if (!preheader || isa<SCEVCouldNotCompute>(count) || !count->getType()->isIntegerTy() ||
          count->getType()->getIntegerBitWidth() > 64)
        continue;
      if (const SCEV *known = countFromStart(evolution, *loop))
        count = known;
      const SCEV *wide = evolution.getNoopOrZeroExtend(count, i64);
      Instruction *place = preheader->getTerminator();
      if (!expander.isSafeToExpandAt(wide, place))
        continue;
      counts.emplace_back(loop->getHeader(), expander.expandCodeFor(wide, i64, place));
    }
  }
  enz::lowerConstantExpressions(*function);
  for (auto &[header, count] : counts)
    if (count && !isa<ConstantExpr>(count))
      sink->trip_count(sink->context, EnzTripCount{enz::in(header), enz::in(static_cast<Value *>(count))});
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  host->functions->invalidate(*function, preserved);
}

// The most backedges of the loop around a load that is steady in a triangle, at the end of the preheader.
static Value *mostTurnsBefore(EnzOpaqueHost &host, Function &function, SCEVExpander &expander,
                              const enz::Steady &steady) {
  auto &evolution = host.functions->getResult<ScalarEvolutionAnalysis>(function);
  const Loop *inner = host.functions->getResult<LoopAnalysis>(function).getLoopFor(steady.load->getParent());
  const SCEV *most = enz::mostTurns(evolution, *steady.loop, *inner);
  Instruction *place = steady.loop->getLoopPreheader()->getTerminator();
  if (!most || !expander.isSafeToExpandAt(most, place))
    return nullptr;
  return expander.expandCodeFor(most, most->getType(), place);
}

// Conditions are written into the function: after all questions, since they make addresses known.
static void reportSteady(EnzOpaqueHost &host, Function &function, ArrayRef<enz::Steady> steady,
                         const EnzFactSink &sink) {
  if (steady.empty())
    return;
  SmallVector<WeakTrackingVH, 8> conditions, most;
  {
    auto &evolution = host.functions->getResult<ScalarEvolutionAnalysis>(function);
    SCEVExpander expander(evolution, "enzyme.steady");
    for (const enz::Steady &each : steady) {
      conditions.emplace_back(enz::steadyCondition(host, function, expander, each));
      most.emplace_back(each.is_triangular ? mostTurnsBefore(host, function, expander, each) : nullptr);
    }
    // What was expanded may use values of loops that come before.
    auto &loops = host.functions->getResult<LoopAnalysis>(function);
    auto &tree = host.functions->getResult<DominatorTreeAnalysis>(function);
    for (Loop *loop : loops)
      formLCSSARecursively(*loop, tree, &loops, &evolution);
  }
  enz::lowerConstantExpressions(function);
  for (auto [each, condition, turns] : zip(steady, conditions, most)) {
    Value *value = condition, *limit = turns;
    if (!value || isa<ConstantExpr>(value) || (each.is_triangular && !limit))
      continue;
    const bool always = isa<ConstantInt>(value);
    sink.steady_load(sink.context,
                     EnzSteadyLoad{enz::in(static_cast<Value *>(each.load)), enz::in(each.loop->getHeader()),
                                   always ? nullptr : enz::in(value), each.varies, limit ? enz::in(limit) : nullptr});
  }
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  host.functions->invalidate(function, preserved);
}

// Calls of functions that compute a number of numbers, and at most set `errno`.
static bool isMath(const CallBase &call, const EnzFactSink &sink) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || !call.getType()->isFPOrFPVectorTy() ||
      any_of(call.args(), [](const Use &arg) { return arg->getType()->isPtrOrPtrVectorTy(); }))
    return false;
  const StringRef name = callee->getName();
  return callee->isIntrinsic() ? call.doesNotAccessMemory()
                               : sink.harmless(sink.context, EnzStr{name.data(), name.size()}) == 1;
}

// Whether an innermost loop only sums up, and its iterations do not wait for each other.
static bool mayRunInVectors(Loop &loop) {
  return loop.getNumBlocks() == 1 && loop.isLoopSimplifyForm() &&
         none_of(*loop.getHeader(), [](const Instruction &inst) { return inst.mayWriteToMemory(); }) &&
         all_of(loop.getHeader()->phis(), [&](PHINode &phi) {
           RecurrenceDescriptor reduction;
           return !phi.getType()->isFloatingPointTy() || RecurrenceDescriptor::isReductionPHI(&phi, &loop, reduction);
         });
}

void enz_memory_facts(EnzHost host, EnzValue raw, const EnzFactSink *sink) {
  auto *function = enz::as<Function>(raw);
  const auto pure = [&](const CallBase &call) { return isMath(call, *sink); };
  if (enz::delayStores(*function, host->functions->getResult<LoopAnalysis>(*function), pure)) {
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    host->functions->invalidate(*function, preserved);
  }
  Stability stability(*host, *function, *sink);
  auto &loops = host->functions->getResult<LoopAnalysis>(*function);
  auto &evolution = host->functions->getResult<ScalarEvolutionAnalysis>(*function);
  const auto &libraries = host->functions->getResult<TargetLibraryAnalysis>(*function);
  SmallVector<LoadInst *, 16> unstable;
  for (BasicBlock &block : *function)
    for (Instruction &inst : block) {
      if (auto *load = dyn_cast<LoadInst>(&inst)) {
        bool by_type = false;
        if (load->isSimple() && stability.keeps(load, typedPlace(*load), &by_type))
          sink->stable_load(sink->context, enz::in(static_cast<Value *>(load)), by_type);
        else if (load->isSimple() && load->getType()->isFloatingPointTy())
          unstable.push_back(load);
        continue;
      }
      if (auto *store = dyn_cast<StoreInst>(&inst)) {
        // Of a store without types: memory that has several lives holds what was stored last.
        if (store->isSimple() && store->getValueOperand()->getType()->isFPOrFPVectorTy() &&
            isa<Instruction>(store->getValueOperand()) && stability.keeps(store, untypedPlace(*store)))
          sink->stable_store(sink->context, enz::in(static_cast<Value *>(store)));
        continue;
      }
      auto *call = dyn_cast<CallBase>(&inst);
      if (const auto *plain = dyn_cast<CallInst>(&inst); plain && enz::runsInVectors(*plain, libraries))
        if (Loop *loop = loops.getLoopFor(&block); loop && mayRunInVectors(*loop))
          sink->vector_call(sink->context, enz::in(static_cast<Value *>(call)));
      if (call && call->hasFnAttr(enz::kFallback) && call->isIndirectCall())
        sink->fallback(sink->context, enz::in(static_cast<Value *>(call)));
      if (call && call->hasFnAttr(enz::kOverlapping)) {
        sink->overlapping(sink->context, enz::in(static_cast<Value *>(call)));
        call->removeFnAttr(enz::kOverlapping);
      }
      if (call && call->hasFnAttr(enz::kGuess)) {
        sink->guess(sink->context, enz::in(static_cast<Value *>(call)));
        call->removeFnAttr(enz::kGuess);
      }
      if (!call || isa<AssumeInst>(call) || !call->mayReadFromMemory())
        continue;
      for (unsigned i = 0; i < call->arg_size(); ++i) {
        const Value *pointer = call->getArgOperand(i);
        if (!pointer->getType()->isPointerTy())
          continue;
        const bool stable = followsNoPointers(*call) ? stability.keeps(call, MemoryLocation::getBeforeOrAfter(pointer))
                                                     : stability.keepsReachable(call, pointer);
        if (stable)
          sink->stable_arg(sink->context, EnzArgFact{enz::in(static_cast<Value *>(call)), i});
      }
    }
  for (LoadInst *load : unstable)
    if (loops.getLoopFor(load->getParent()))
      if (const auto [write, apart] = stability.overwriter(*load); write)
        sink->overwritten(sink->context, enz::in(static_cast<Value *>(load)), enz::in(static_cast<Value *>(write)),
                          apart);
  SmallVector<enz::Steady, 8> steady;
  SmallVector<LoadInst *, 16> changing;
  for (LoadInst *load : unstable) {
    const auto conflicts = [&](const Loop &loop, SmallVectorImpl<StoreInst *> &out) {
      return stability.changesIn(loop, *load, out);
    };
    const auto found = enz::findSteady(evolution, loops, *load, conflicts, /*triangles=*/true);
    if (found)
      steady.push_back(*found);
    if (!found || !found->stores.empty())
      changing.push_back(load);
  }
  const auto stores = [&](const LoadInst &load, const Loop &loop, SmallVectorImpl<StoreInst *> &out) {
    return stability.conflictsIn(loop, untypedPlace(load), out);
  };
  enz::Undoing undoing(
      *host, *function,
      [&](LoadInst &load, SmallVectorImpl<StoreInst *> &out) { return stability.overwrittenBy(load, out); },
      [&](const LoadInst &load, const Loop &loop) {
        SmallVector<StoreInst *, 4> none;
        return stores(load, loop, none) && none.empty();
      },
      [&](const Value *pointer) { return stability.isPrivate(pointer); }, pure);
  undoing.find(unstable);
  if (const auto carried = enz::carryLoads(*host, *function, changing, stores, undoing); !carried.empty()) {
    erase_if(steady, [&](const enz::Steady &each) { return carried.contains(each.load); });
    enz::lowerConstantExpressions(*function);
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    host->functions->invalidate(*function, preserved);
  }
  reportSteady(*host, *function, steady, *sink);
  undoing.report(*sink);
}
