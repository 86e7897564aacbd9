// Shuffles of narrow lanes that move words of 64 bits, or put bits into them, as shuffles and bits of words: of what
// doubles are, as like as not, so that those are seen on their way.
//
// Not handled: lanes that move within a word.

#include "support.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

static unsigned lanesOf(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 0;
}

// What `vector` is cast from, if that is of this type. Nothing comes of any type.
static Value *castFrom(Value *vector, Type *type) {
  if (isa<UndefValue>(vector))
    return isa<PoisonValue>(vector) ? PoisonValue::get(type) : UndefValue::get(type);
  auto *cast = dyn_cast<BitCastInst>(vector);
  return cast && cast->getSrcTy() == type ? cast->getOperand(0) : nullptr;
}

static bool isCastToWords(const User *user) {
  return isa<BitCastInst>(user) && user->getType()->getScalarSizeInBits() == 64;
}

// Lanes of words that stay where they are, beside lanes of a constant, as words that are masked and put together; null
// if others move, or if they are wanted as lanes. So do libraries make doubles of integers.
static Value *blended(IRBuilder<> &builder, ShuffleVectorInst &shuffle) {
  const unsigned bits = shuffle.getType()->getScalarSizeInBits(), lanes = lanesOf(shuffle.getType());
  const bool first = isa<Constant>(shuffle.getOperand(0));
  auto *constant = dyn_cast<Constant>(shuffle.getOperand(first ? 0 : 1));
  Value *vector = shuffle.getOperand(first ? 1 : 0);
  if (!constant || isa<Constant>(vector) || lanesOf(vector->getType()) != lanes || 64 % bits != 0 ||
      lanes * bits % 64 != 0)
    return nullptr;
  SmallVector<uint64_t, 8> kept(lanes * bits / 64), put(kept.size());
  for (unsigned n = 0; n < lanes; ++n) {
    const int from = shuffle.getMaskValue(n);
    const unsigned word = n * bits / 64, at = n * bits % 64;
    if (from < 0)
      continue;
    const unsigned lane = static_cast<unsigned>(from) % lanes;
    if ((static_cast<unsigned>(from) < lanes) != first) {
      if (lane != n)
        return nullptr;
      kept[word] |= maskTrailingOnes<uint64_t>(bits) << at;
    } else if (const auto *element = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(lane))) {
      put[word] |= element->getZExtValue() << at;
    } else {
      return nullptr;
    }
  }
  auto *type = FixedVectorType::get(builder.getInt64Ty(), static_cast<unsigned>(kept.size()));
  Value *words = castFrom(vector, type);
  if (!words || !all_of(shuffle.users(), isCastToWords))
    return nullptr;
  words = builder.CreateAnd(words, ConstantDataVector::get(builder.getContext(), kept));
  return builder.CreateOr(words, ConstantDataVector::get(builder.getContext(), put));
}

// A shuffle of 32-bit lanes that moves them in pairs moves 64-bit lanes: doubles, as like as not; of floats only if
// they were cast from doubles.
void enz::widenShuffles(Function &function) {
  SmallVector<ShuffleVectorInst *, 8> work;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&inst);
          shuffle && lanesOf(shuffle->getType()) && shuffle->getType()->getScalarSizeInBits() < 64 &&
          (shuffle->getType()->getScalarType()->isIntegerTy() || shuffle->getType()->getScalarType()->isFloatTy()))
        work.push_back(shuffle);
  for (ShuffleVectorInst *shuffle : work) {
    const unsigned bits = shuffle->getType()->getScalarSizeInBits(), times = 64 / bits;
    const unsigned from = lanesOf(shuffle->getOperand(0)->getType());
    SmallVector<int, 16> wide;
    IRBuilder<> builder(shuffle);
    const bool floats = shuffle->getType()->getScalarType()->isFloatTy();
    if (Value *words = floats ? nullptr : blended(builder, *shuffle)) {
      for (User *user : make_early_inc_range(shuffle->users())) {
        user->replaceAllUsesWith(builder.CreateBitCast(words, user->getType()));
        cast<Instruction>(user)->eraseFromParent();
      }
      shuffle->eraseFromParent();
      continue;
    }
    if (64 % bits != 0 || from % times != 0 ||
        !widenShuffleMaskElts(static_cast<int>(times), shuffle->getShuffleMask(), wide))
      continue;
    auto *type = FixedVectorType::get(floats ? builder.getDoubleTy() : builder.getInt64Ty(), from / times);
    const auto widened = [&](Value *vector) {
      Value *wide = castFrom(vector, type);
      return wide || floats ? wide : builder.CreateBitCast(vector, type);
    };
    WeakTrackingVH operands[] = {shuffle->getOperand(0), shuffle->getOperand(1)};
    Value *first = widened(operands[0]), *second = widened(operands[1]);
    if (!first || !second)
      continue;
    Value *shuffled = builder.CreateShuffleVector(first, second, wide);
    for (User *user : make_early_inc_range(shuffle->users()))
      if (auto *cast = dyn_cast<BitCastInst>(user); cast && cast->getType() == shuffled->getType()) {
        cast->replaceAllUsesWith(shuffled);
        cast->eraseFromParent();
      }
    shuffle->replaceAllUsesWith(builder.CreateBitCast(shuffled, shuffle->getType()));
    shuffle->eraseFromParent();
    for (WeakTrackingVH &operand : operands)
      if (auto *cast = dyn_cast_or_null<BitCastInst>(operand); cast && cast->use_empty())
        cast->eraseFromParent();
  }
}
