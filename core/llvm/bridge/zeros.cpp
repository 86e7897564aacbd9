// Zeros that the next iteration overwrites are not stored.
//
// Where a loop goes over an array and replaces its elements by what depends on their neighbours, its adjoint takes the
// adjoint of an element, sets it to zero, and adds to those of the neighbours. Sums go from one iteration to the next
// in registers, so that what is stored is, in a loop of vectors as well,
//
//   for j going down by w:   s[j .. j + w] = 0;   s[j + 1 .. j + w + 1] = ...
//
// and each zero is overwritten at once or in the next iteration. One is left when the loop ends, and is stored then.
// (Dead store elimination over a loop's edge: Muchnick, "Advanced Compiler Design and Implementation", section 18.10.)
//
// Taken are loops of one block and one exit; the other store begins one element beside the zeros, on the side from
// which the loop comes. Nothing may read the zeros meanwhile: other objects are told apart by alias analysis, places in
// one object by their distance.
//
// Not handled: stores under a mask; zeros of which the second next iteration overwrites some.

#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace {

constexpr size_t kLargestBlock = 400;

class Zeros {
public:
  Zeros(const Loop &loop, ScalarEvolution &evolution, AAResults &aliases)
      : loop_(loop), block_(*loop.getHeader()), evolution_(evolution), aliases_(aliases),
        layout_(block_.getDataLayout()) {}

  bool run() {
    exit_ = loop_.getUniqueExitBlock();
    if (!exit_ || exit_->isEHPad() || exit_->getSinglePredecessor() != &block_)
      return false;
    SmallVector<StoreInst *, 8> zeros, others;
    for (Instruction &inst : block_) {
      auto *store = dyn_cast<StoreInst>(&inst);
      if (!store || !store->isSimple() || !store->getValueOperand()->getType()->isFPOrFPVectorTy())
        continue;
      const auto *value = dyn_cast<Constant>(store->getValueOperand());
      (value && value->isNullValue() ? zeros : others).push_back(store);
    }
    bool changed = false;
    for (StoreInst *zero : zeros)
      for (StoreInst *other : others)
        if (overwrites(*zero, *other) && !isTouched(*zero, *other)) {
          moveOut(*zero);
          changed = true;
          break;
        }
    return changed;
  }

private:
  // How far `to` lies above `from` in one iteration; nothing if that is no constant.
  std::optional<int64_t> distance(const Value *from, const Value *to) {
    const SCEV *one = evolution_.getSCEV(const_cast<Value *>(from)),
               *other = evolution_.getSCEV(const_cast<Value *>(to));
    if (evolution_.getPointerBase(one) != evolution_.getPointerBase(other))
      return std::nullopt;
    const auto *apart = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(other, one));
    if (!apart || apart->getAPInt().getSignificantBits() > 32)
      return std::nullopt;
    return apart->getAPInt().getSExtValue();
  }

  // Whether all that `zero` sets to zero is overwritten by `other`, in the same iteration but for one element, and that
  // in the next one.
  bool overwrites(const StoreInst &zero, const StoreInst &other) {
    Type *type = zero.getValueOperand()->getType();
    if (other.getValueOperand()->getType() != type || isa<ScalableVectorType>(type) || !zero.comesBefore(&other) ||
        layout_.getTypeSizeInBits(type) != layout_.getTypeStoreSizeInBits(type))
      return false;
    const auto *address = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(const_cast<Value *>(zero.getPointerOperand())));
    const auto *step = address && address->getLoop() == &loop_ && address->isAffine()
                           ? dyn_cast<SCEVConstant>(address->getStepRecurrence(evolution_))
                           : nullptr;
    const std::optional<int64_t> beside = distance(zero.getPointerOperand(), other.getPointerOperand());
    if (!step || step->getAPInt().getSignificantBits() > 32 || !beside)
      return false;
    size_ = static_cast<int64_t>(layout_.getTypeStoreSize(type).getFixedValue());
    element_ = static_cast<int64_t>(layout_.getTypeStoreSize(type->getScalarType()).getFixedValue());
    step_ = step->getAPInt().getSExtValue();
    beside_ = *beside;
    return std::abs(step_) == size_ && std::abs(beside_) == element_ && (step_ < 0) == (beside_ > 0);
  }

  // The first byte of the element that the next iteration overwrites, from where the zeros begin.
  int64_t last() const { return beside_ > 0 ? 0 : size_ - element_; }

  // Whether anything may read a zero before it is overwritten, or else write to the last one.
  bool isTouched(const StoreInst &zero, const StoreInst &other) {
    const Value *base = getUnderlyingObject(zero.getPointerOperand());
    const auto meets = [&](int64_t at, int64_t size, int64_t from, int64_t length) {
      return at < from + length && from < at + size;
    };
    for (const Instruction &inst : block_) {
      if (inst.mayThrow() || !inst.willReturn())
        return true;
      if (!inst.mayReadOrWriteMemory() || &inst == &zero || &inst == &other)
        continue;
      const auto *load = dyn_cast<LoadInst>(&inst);
      const auto *store = dyn_cast<StoreInst>(&inst);
      const Value *pointer = getLoadStorePointerOperand(&inst);
      if (!pointer || inst.isAtomic() || inst.isVolatile() || isa<ScalableVectorType>(getLoadStoreType(&inst)))
        return true;
      if (getUnderlyingObject(pointer) != base) {
        // In whatever iteration.
        const MemoryLocation zeros = MemoryLocation::get(&zero), there = MemoryLocation::get(&inst);
        if (!aliases_.isNoAlias(MemoryLocation::getBeforeOrAfter(zeros.Ptr, zeros.AATags),
                                MemoryLocation::getBeforeOrAfter(there.Ptr, there.AATags)))
          return true;
        continue;
      }
      const std::optional<int64_t> at = distance(zero.getPointerOperand(), pointer);
      if (!at)
        return true;
      const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue());
      const bool isEarly = inst.comesBefore(&other);
      if (store && zero.comesBefore(store) && meets(*at, size, last(), element_))
        return true;
      if (load && zero.comesBefore(load) && meets(*at, size, isEarly ? 0 : last(), isEarly ? size_ : element_))
        return true;
      if (load && isEarly && meets(*at + step_, size, last(), element_))
        return true;
    }
    return false;
  }

  void moveOut(StoreInst &zero) {
    IRBuilder<> build(exit_, exit_->getFirstInsertionPt());
    build.SetCurrentDebugLocation(zero.getDebugLoc());
    PHINode *end = PHINode::Create(zero.getPointerOperandType(), 1, "", exit_->begin());
    end->addIncoming(zero.getPointerOperand(), &block_);
    Type *element = zero.getValueOperand()->getType()->getScalarType();
    StoreInst *store =
        build.CreateAlignedStore(Constant::getNullValue(element), build.CreatePtrAdd(end, build.getInt64(last())),
                                 std::min(zero.getAlign(), layout_.getABITypeAlign(element)));
    store->setAAMetadata(zero.getAAMetadata());
    zero.eraseFromParent();
  }

  const Loop &loop_;
  BasicBlock &block_;
  ScalarEvolution &evolution_;
  AAResults &aliases_;
  const DataLayout &layout_;
  BasicBlock *exit_ = nullptr;
  // Of the pair that is looked at: bytes of the zeros and of an element, from one iteration to the next, and from the
  // zeros to the other store.
  int64_t size_ = 0, element_ = 0, step_ = 0, beside_ = 0;
};

} // namespace

bool enz::leaveZeros(LoopInfo &loops, ScalarEvolution &evolution, AAResults &aliases) {
  bool changed = false;
  for (const Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getNumBlocks() == 1 && loop->getHeader()->size() <= kLargestBlock)
      changed |= Zeros(*loop, evolution, aliases).run();
  return changed;
}
