// Shuffles of narrow lanes that move words of 64 bits, or put bits into them, as shuffles and bits of words: of what
// doubles are, as like as not, so that those are seen on their way. And lanes of floats that are cut out of a vector
// taken for one integer (`trunc (lshr (bitcast v), 64)`), as lanes.
//
// Not handled: lanes that move within a word.

#include "support.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"

#include <numeric>

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

// The lanes of a vector of floats that a number holds which was cut out of all of its bits; null if it holds others.
static Value *cutOut(IRBuilder<> &builder, TruncInst &cut, const DataLayout &layout) {
  Value *whole = cut.getOperand(0);
  uint64_t shift = 0;
  if (auto *shifted = dyn_cast<BinaryOperator>(whole); shifted && shifted->getOpcode() == Instruction::LShr)
    if (const auto *by = dyn_cast<ConstantInt>(shifted->getOperand(1)); by && by->getValue().getActiveBits() <= 16) {
      shift = by->getZExtValue();
      whole = shifted->getOperand(0);
    }
  auto *cast = dyn_cast<BitCastInst>(whole);
  const unsigned lanes = cast ? lanesOf(cast->getSrcTy()) : 0;
  if (lanes == 0 || !cast->getSrcTy()->isFPOrFPVectorTy() || !cut.getType()->isIntegerTy() || layout.isBigEndian())
    return nullptr;
  const uint64_t bits = cast->getSrcTy()->getScalarSizeInBits(), wanted = cut.getType()->getIntegerBitWidth();
  if (shift % bits != 0 || wanted % bits != 0 || shift / bits + wanted / bits > lanes)
    return nullptr;
  SmallVector<int, 8> mask(wanted / bits);
  std::iota(mask.begin(), mask.end(), static_cast<int>(shift / bits));
  Value *vector = cast->getOperand(0);
  Value *part = mask.size() == 1 ? builder.CreateExtractElement(vector, builder.getInt64(mask[0]))
                                 : builder.CreateShuffleVector(vector, mask);
  return builder.CreateBitCast(part, cut.getType());
}

static void separateLanes(Function &function) {
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      auto *cut = dyn_cast<TruncInst>(&inst);
      if (!cut)
        continue;
      IRBuilder<> builder(cut);
      if (Value *lanes = cutOut(builder, *cut, function.getDataLayout())) {
        cut->replaceAllUsesWith(lanes);
        cut->eraseFromParent();
      }
    }
}

// A shuffle of 32-bit lanes that moves them in pairs moves 64-bit lanes: doubles, as like as not; of floats only if
// they were cast from doubles.
void enz::widenShuffles(Function &function) {
  separateLanes(function);
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
