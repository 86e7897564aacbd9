// Loads in loop nests whose value is the same in each iteration of an outer loop, because the address is and nobody
// writes there meanwhile: one value for each iteration of the loop around the load is then all that there is to keep.
//
// Where stores in the loop may reach what is loaded, as far as alias analysis knows, the ranges of addresses that both
// touch over the whole loop are compared before it, at run time: the condition is written into the preheader. Ranges
// are those of extents.h: affine in the counters of the loops, with bounds known before the loop. If an access of a
// range does not happen, the range may be anything: then there is nothing to keep, or nothing that is written.
//
// Not handled: addresses that vary in two loops inside of the outer one; writes that are no stores; bases that change.

#include "steady.h"

#include "extents.h"

using namespace llvm;

namespace {

// More stores than this are not compared at run time.
constexpr size_t kMostStores = 4;

// Whether `value` is the same function of the iteration of `inner` throughout `loop`.
bool isSameIn(ScalarEvolution &evolution, const SCEV *value, const Loop &loop, const Loop *inner) {
  return !SCEVExprContains(value, [&](const SCEV *part) {
    if (isa<SCEVCouldNotCompute>(part))
      return true;
    if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(part))
      return recurrence->getLoop() != inner && loop.contains(recurrence->getLoop());
    if (const auto *unknown = dyn_cast<SCEVUnknown>(part))
      return !evolution.isLoopInvariant(unknown, &loop);
    return false;
  });
}

class Comparison : public enz::Extents {
public:
  using Extents::Extents;

  // The condition under which `load` and `store` touch different memory in the whole loop: true, a value in the
  // preheader, or null if nobody knows.
  Value *apart(SCEVExpander &expander, LoadInst &load, StoreInst &store) {
    enz::Range read, written;
    Value *read_base = rangeAt(load, read), *written_base = rangeAt(store, written);
    Instruction *place = loop_.getLoopPreheader()->getTerminator();
    if (!read_base || !written_base)
      return nullptr;
    if (read_base == written_base && (evolution_.isKnownPredicate(CmpInst::ICMP_SLE, read.high, written.low) ||
                                      evolution_.isKnownPredicate(CmpInst::ICMP_SLE, written.high, read.low)))
      return ConstantInt::getTrue(function_.getContext());
    for (const SCEV *bound : {read.low, read.high, written.low, written.high})
      if (!expander.isSafeToExpandAt(bound, place))
        return nullptr;
    const auto at = [&](Value *base, const SCEV *offset) {
      Value *bytes = expander.expandCodeFor(offset, offset->getType(), place);
      return IRBuilder<>(place).CreatePtrAdd(base, bytes);
    };
    Value *first = at(read_base, read.low), *end = at(read_base, read.high);
    Value *other = at(written_base, written.low), *other_end = at(written_base, written.high);
    IRBuilder<> build(place);
    return build.CreateOr(build.CreateICmpULE(end, other), build.CreateICmpULE(other_end, first));
  }

private:
  // The base of an access, and the bytes from there on that it touches in the whole loop.
  Value *rangeAt(Instruction &access, enz::Range &out) {
    const SCEV *address = evolution_.getSCEV(getPointerOperand(&access));
    const auto *base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(address));
    const TypeSize size = layout_.getTypeStoreSize(getLoadStoreType(&access));
    if (!base || !evolution_.isLoopInvariant(base, &loop_) || base->getType()->getPointerAddressSpace() != 0 ||
        size.isScalable())
      return nullptr;
    const enz::Range range = rangeOf(evolution_.removePointerBase(address));
    if (!range || evolution_.getTypeSizeInBits(range.low->getType()) != 64)
      return nullptr;
    out = {range.low, evolution_.getAddExpr(range.high, evolution_.getConstant(range.high->getType(), size))};
    return base->getValue();
  }
};

} // namespace

std::optional<enz::Steady> enz::findSteady(ScalarEvolution &evolution, LoopInfo &loops, LoadInst &load,
                                           const ConflictsIn &conflicts) {
  std::optional<Steady> out;
  Loop *inner = loops.getLoopFor(load.getParent());
  if (!inner || !load.isSimple())
    return out;
  const SCEV *address = evolution.getSCEV(load.getPointerOperand());
  const bool varies = !evolution.isLoopInvariant(address, inner);
  const SCEV *count = evolution.getBackedgeTakenCount(inner);
  if (varies && isa<SCEVCouldNotCompute>(count))
    return out;
  for (Loop *loop = varies ? inner->getParentLoop() : inner; loop; loop = loop->getParentLoop()) {
    Steady found{&load, loop, varies, {}};
    const bool same = isSameIn(evolution, address, *loop, varies ? inner : nullptr) &&
                      (!varies || evolution.isLoopInvariant(count, loop));
    if (!same || !loop->getLoopPreheader() || !conflicts(*loop, found.stores) || found.stores.size() > kMostStores)
      break;
    // A condition is only worth it where nothing is known without.
    if (out && !found.stores.empty())
      break;
    out = found;
  }
  return out;
}

Value *enz::steadyCondition(EnzOpaqueHost &host, Function &function, SCEVExpander &expander, const Steady &steady) {
  static const EnzPrepare kNothing{};
  Comparison comparison(host, function, *steady.loop, kNothing);
  Value *all = ConstantInt::getTrue(function.getContext());
  for (StoreInst *store : steady.stores) {
    Value *one = comparison.apart(expander, *steady.load, *store);
    if (!one)
      return nullptr;
    IRBuilder<> build(steady.loop->getLoopPreheader()->getTerminator());
    all = isa<ConstantInt>(all) ? one : isa<ConstantInt>(one) ? all : build.CreateAnd(all, one);
  }
  return all;
}
