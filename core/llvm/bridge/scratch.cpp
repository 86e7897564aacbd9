// Memory that each iteration of a loop writes before it reads it, and that nothing reads afterwards: arrays declared or
// allocated before the loop that hold what one iteration works on. An iteration might as well have its own.
//
//   t = malloc(m); for (i = 0; i < n; i++) { for (j = 0; j < m; j++) t[j] = f(x, i, j);  s += g(t, m); }  free(t);
//
// (Array privatisation: Tu, Padua, "Automatic array privatization", LCPC 1993.)
//
// Each read is looked for a write that comes before it in the same iteration and covers it: one that is made once, or a
// loop that writes one element after another from one end to the other, and has ended. Both may be in an inner
// iteration, which then is the one that counts. What a read reaches is the range of its address over all loops between
// that iteration and the read; ScalarEvolution says whether it is within what was written.
//
// Invariant: all accesses to the object are known, its address goes nowhere else.
//
// Not handled: ranges that only several writes cover together, reads of what the same inner loop wrote before, objects
// that are read after the loop, addresses by way of a choice between objects.

#include "scratch.h"

#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

constexpr size_t kMostUses = 200;
constexpr size_t kMostComparisons = 2000;

} // namespace

enz::Scratch::Scratch(EnzOpaqueHost &host, Function &function, Loop &loop)
    : loop_(loop), evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
      dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
      loops_(host.functions->getResult<LoopAnalysis>(function)),
      library_(host.functions->getResult<TargetLibraryAnalysis>(function)), layout_(function.getDataLayout()) {
  SmallVector<BasicBlock *, 16> work;
  loop.getExitBlocks(work);
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (after_.insert(block).second)
      append_range(work, successors(const_cast<BasicBlock *>(block)));
  }
}

bool enz::Scratch::isObject(const Instruction &object) const {
  const BasicBlock *preheader = loop_.getLoopPreheader();
  if (!preheader || loop_.contains(&object) || !dominators_.dominates(&object, preheader->getTerminator()))
    return false;
  if (const auto *slot = dyn_cast<AllocaInst>(&object))
    return slot->isStaticAlloca() && !slot->getAllocatedType()->isScalableTy();
  const auto *call = dyn_cast<CallInst>(&object);
  return call && isAllocLikeFn(call, &library_);
}

bool enz::Scratch::follow(ScratchObject &out, Uses &uses) {
  SmallVector<Instruction *, 16> work{out.object};
  SmallPtrSet<const Instruction *, 16> seen{out.object};
  SmallVector<Instruction *, 8> outside;
  size_t count = 0;
  while (!work.empty()) {
    Instruction *value = work.pop_back_val();
    for (Use &use : value->uses()) {
      auto *user = cast<Instruction>(use.getUser());
      const bool inside = loop_.contains(user);
      if (++count > kMostUses)
        return false;
      if (isa<GetElementPtrInst>(user) || (isa<PHINode>(user) && inside)) {
        if (user->getType()->isVectorTy())
          return false;
        if (seen.insert(user).second) {
          work.push_back(user);
          if (!inside)
            outside.push_back(user);
        }
      } else if (auto *load = dyn_cast<LoadInst>(user)) {
        if (isAfter(*load) || !load->isSimple())
          return false;
        if (inside)
          uses.reads.push_back(load);
      } else if (auto *store = dyn_cast<StoreInst>(user)) {
        if (use.getOperandNo() != StoreInst::getPointerOperandIndex() || !store->isSimple())
          return false;
        if (inside)
          uses.writes.push_back(store);
      } else if (auto *fill = dyn_cast<MemSetInst>(user)) {
        if (fill->isVolatile())
          return false;
        if (inside)
          uses.writes.push_back(fill);
      } else if (auto *call = dyn_cast<CallInst>(user); call && getFreedOperand(call, &library_) == out.object) {
        if (out.release || inside || value != out.object || isa<AllocaInst>(out.object))
          return false;
        out.release = call;
      } else if (!user->isLifetimeStartOrEnd()) {
        return false;
      }
    }
  }
  // Addresses from before the loop that the loop uses, or that such are made of.
  SmallPtrSet<const Instruction *, 8> needed;
  for (Instruction *address : reverse(outside))
    if (any_of(address->users(), [&](const User *user) {
          return loop_.contains(cast<Instruction>(user)) || needed.contains(cast<Instruction>(user));
        }))
      needed.insert(address);
  for (Instruction *address : outside)
    if (needed.contains(address)) {
      if (!dominators_.dominates(address, loop_.getLoopPreheader()->getTerminator()))
        return false;
      out.addresses.push_back(address);
    }
  return isa<AllocaInst>(out.object) || (out.release && isAfter(*out.release));
}

// The smallest or largest value over the iterations of `loop`; null if it is not known.
const SCEV *enz::Scratch::extreme(const SCEV *value, const Loop &loop, bool largest) {
  if (evolution_.isLoopInvariant(value, &loop))
    return value;
  const auto *steps = dyn_cast<SCEVAddRecExpr>(value);
  if (!steps || steps->getLoop() != &loop || !steps->isAffine())
    return nullptr;
  const SCEV *step = steps->getStepRecurrence(evolution_);
  const bool grows = evolution_.isKnownNonNegative(step);
  if (!grows && !evolution_.isKnownNonPositive(step))
    return nullptr;
  if (grows != largest)
    return steps->getStart();
  const SCEV *count = evolution_.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(count) ||
      evolution_.getTypeSizeInBits(count->getType()) > evolution_.getTypeSizeInBits(step->getType()))
    return nullptr;
  return steps->evaluateAtIteration(evolution_.getNoopOrZeroExtend(count, step->getType()), evolution_);
}

const SCEV *enz::Scratch::sizeOf(const Instruction &access, const Type *like) {
  const TypeSize size = layout_.getTypeStoreSize(getLoadStoreType(&access));
  return size.isScalable() ? nullptr : evolution_.getConstant(const_cast<Type *>(like), size.getFixedValue());
}

// Whether `block` was run before `later` is in one iteration of `around`, since both are run under one condition: the
// branch that leads to `block` comes before `later` on all ways, and another with the same condition leads there.
bool enz::Scratch::isGuardedAlike(const BasicBlock *block, const Loop &around, const BasicBlock *later) const {
  const BasicBlock *from = block->getSinglePredecessor();
  for (; from && from->getUniqueSuccessor(); from = block->getSinglePredecessor())
    block = from;
  const auto *branch = from ? dyn_cast<BranchInst>(from->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1) ||
      loops_.getLoopFor(from) != &around || !dominators_.dominates(from, later))
    return false;
  // One value throughout the iteration.
  const Value *condition = branch->getCondition();
  if (const auto *inst = dyn_cast<Instruction>(condition);
      inst && around.contains(inst) && loops_.getLoopFor(inst->getParent()) != &around)
    return false;
  const bool sense = branch->getSuccessor(0) == block;
  for (const DomTreeNode *node = dominators_.getNode(later); node && node->getBlock() != from; node = node->getIDom()) {
    const DomTreeNode *above = node->getIDom();
    const auto *other = above ? dyn_cast<BranchInst>(above->getBlock()->getTerminator()) : nullptr;
    if (other && above->getBlock() != from && other->isConditional() && other->getCondition() == condition &&
        other->getSuccessor(0) != other->getSuccessor(1) &&
        dominators_.dominates(BasicBlockEdge(above->getBlock(), other->getSuccessor(sense ? 0 : 1)), later))
      return true;
  }
  return false;
}

// What a write, with all its repetitions in one iteration of `around`, has covered when `before` is reached.
std::optional<enz::Scratch::Span> enz::Scratch::writtenIn(Instruction &write, const Loop &around,
                                                          const Instruction &before) {
  const Loop *inner = loops_.getLoopFor(write.getParent());
  auto *fill = dyn_cast<MemSetInst>(&write);
  const SCEV *place = evolution_.getSCEV(fill ? fill->getRawDest() : getLoadStorePointerOperand(&write));
  const Type *width = evolution_.getEffectiveSCEVType(place->getType());
  if (inner == &around) {
    if (!dominators_.dominates(&write, &before) && !isGuardedAlike(write.getParent(), around, before.getParent()))
      return std::nullopt;
    const SCEV *size =
        fill ? evolution_.getNoopOrZeroExtend(evolution_.getSCEV(fill->getLength()), const_cast<Type *>(width))
             : sizeOf(write, width);
    return size ? std::optional<Span>(Span{place, evolution_.getAddExpr(place, size)}) : std::nullopt;
  }
  // A loop that is the only one between, makes the write in each iteration, and has come to its end.
  const SCEV *size = fill ? nullptr : sizeOf(write, width);
  const BasicBlock *end = inner->getUniqueExitBlock();
  if (!size || inner->getParentLoop() != &around || !inner->isLoopSimplifyForm() || !inner->getExitingBlock() || !end ||
      !dominators_.dominates(write.getParent(), inner->getLoopLatch()) ||
      !dominators_.dominates(write.getParent(), inner->getExitingBlock()) ||
      !(dominators_.dominates(end, before.getParent()) ||
        isGuardedAlike(inner->getLoopPreheader(), around, before.getParent())))
    return std::nullopt;
  const auto *steps = dyn_cast<SCEVAddRecExpr>(place);
  if (!steps || steps->getLoop() != inner || !steps->isAffine())
    return std::nullopt;
  const SCEV *step = steps->getStepRecurrence(evolution_);
  if (step != size && step != evolution_.getNegativeSCEV(size))
    return std::nullopt;
  const SCEV *low = extreme(place, *inner, false), *high = extreme(place, *inner, true), *first = steps->getStart();
  if (!low || !high)
    return std::nullopt;
  return Span{low, evolution_.getAddExpr(high, size), first, evolution_.getAddExpr(first, size)};
}

// What a read may reach in one iteration of `around`.
std::optional<enz::Scratch::Span> enz::Scratch::readIn(LoadInst &read, const Loop &around) {
  const SCEV *low = evolution_.getSCEV(read.getPointerOperand()), *high = low;
  for (const Loop *loop = loops_.getLoopFor(read.getParent()); loop != &around; loop = loop->getParentLoop()) {
    low = extreme(low, *loop, false);
    high = low ? extreme(high, *loop, true) : nullptr;
    if (!high)
      return std::nullopt;
  }
  const SCEV *size = sizeOf(read, evolution_.getEffectiveSCEVType(low->getType()));
  return size ? std::optional<Span>(Span{low, evolution_.getAddExpr(high, size)}) : std::nullopt;
}

bool enz::Scratch::covers(Instruction &write, LoadInst &read) {
  // The innermost iteration that has both.
  const Loop *around = loops_.getLoopFor(read.getParent());
  while (around != &loop_ && !around->contains(&write))
    around = around->getParentLoop();
  const std::optional<Span> written = writtenIn(write, *around, read);
  const std::optional<Span> wanted = written ? readIn(read, *around) : std::nullopt;
  if (!wanted)
    return false;
  const auto isAtMost = [&](const SCEV *left, const SCEV *right) {
    const SCEV *difference = evolution_.getMinusSCEV(right, left);
    return !isa<SCEVCouldNotCompute>(difference) &&
           (evolution_.isKnownNonNegative(difference) ||
            evolution_.isKnownNonNegative(evolution_.applyLoopGuards(difference, loops_.getLoopFor(read.getParent()))));
  };
  const auto isWithin = [&](const Span &span) {
    return isAtMost(span.low, wanted->low) && isAtMost(wanted->high, span.high);
  };
  // A loop that has run wrote its first element, however many there are.
  return isWithin(*written) || (written->first && isWithin({written->first, written->firstEnd}));
}

bool enz::Scratch::isWrittenBefore(LoadInst &read, ArrayRef<Instruction *> writes) {
  return read.use_empty() || any_of(writes, [&](Instruction *write) { return covers(*write, read); });
}

std::optional<enz::ScratchObject> enz::Scratch::find(Instruction &object) {
  ScratchObject out{&object, nullptr, {}};
  Uses uses;
  if (!isObject(object) || !follow(out, uses) || uses.reads.size() * uses.writes.size() > kMostComparisons ||
      !all_of(uses.reads, [&](LoadInst *read) { return isWrittenBefore(*read, uses.writes); }))
    return std::nullopt;
  if (out.release && !all_of(out.release->args(), [&](const Use &arg) {
        const auto *inst = dyn_cast<Instruction>(arg.get());
        return !inst || dominators_.dominates(inst, loop_.getLoopPreheader()->getTerminator());
      }))
    return std::nullopt;
  return out;
}
