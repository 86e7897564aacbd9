// Operations on whole vectors of bits, and choices among them, where a library writes neither: what a processor without
// an instruction for it does lane by lane is put together again, and what is put together by masks becomes a choice.
//
// Lanes that are taken out of vectors, go through the same operations, and come back to their places are operations on
// the vectors. A lane that is read as an integer, where the same place is read as a float, is the bits of that float. A
// sign that is spread over a number is a mask. `((a ^ b) & mask) ^ b` is `a` where the mask is set and `b` elsewhere.
// Bits of floats are seen as those of floats then (bits.cpp, slopes.cpp).
//
// Invariant: values do not change.
// Not handled: lanes that move, lanes of different operations.

#include "support.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned kDepthLimit = 8;
// How far apart two reads of one place are looked for.
constexpr unsigned kReach = 8;

bool isWide(const Type *type) {
  const unsigned bits = type->getScalarSizeInBits();
  return type->isIntOrIntVectorTy() && (bits == 32 || bits == 64);
}

// A read of what `load` reads as an integer that takes it for a float, in the same block with nothing written between.
LoadInst *readAsFloat(LoadInst &load) {
  const auto fits = [&](Instruction &inst) {
    auto *other = dyn_cast<LoadInst>(&inst);
    return other && other->isSimple() && other->getPointerOperand() == load.getPointerOperand() &&
           (other->getType()->isDoubleTy() || other->getType()->isFloatTy()) &&
           other->getType()->getPrimitiveSizeInBits() == load.getType()->getPrimitiveSizeInBits();
  };
  Instruction *inst = load.getPrevNode();
  for (unsigned n = 0; inst && n < kReach && !inst->mayWriteToMemory(); ++n, inst = inst->getPrevNode())
    if (fits(*inst))
      return cast<LoadInst>(inst);
  inst = load.getNextNode();
  for (unsigned n = 0; inst && n < kReach && !inst->mayWriteToMemory(); ++n, inst = inst->getNextNode())
    if (fits(*inst)) {
      auto *later = cast<LoadInst>(inst);
      later->moveBefore(load.getIterator());
      later->dropUBImplyingAttrsAndMetadata();
      later->setAlignment(std::min(later->getAlign(), load.getAlign()));
      return later;
    }
  return nullptr;
}

// The type of the floats for which a vector of integers is taken that `insert` puts a lane into, and that are computed
// with; null if there are none.
Type *takenFor(InsertElementInst &insert) {
  SmallVector<Value *, 8> work{&insert};
  SmallPtrSet<Value *, 8> seen;
  while (!work.empty() && seen.size() < 16) {
    Value *vector = work.pop_back_val();
    for (User *user : vector->users()) {
      if (isa<InsertElementInst>(user) && user->getOperand(0) == vector && seen.insert(user).second)
        work.push_back(user);
      Type *type = isa<BitCastInst>(user) ? user->getType()->getScalarType() : nullptr;
      if (type && (type->isDoubleTy() || type->isFloatTy()) &&
          type->getPrimitiveSizeInBits() == insert.getType()->getScalarSizeInBits() &&
          any_of(user->users(), [](const User *by) { return isa<FPMathOperator>(by); }))
        return type;
    }
  }
  return nullptr;
}

bool shareReads(Function &function) {
  bool any = false;
  for (Instruction &inst : instructions(function)) {
    auto *insert = dyn_cast<InsertElementInst>(&inst);
    auto *load = insert ? dyn_cast<LoadInst>(insert->getOperand(1)) : nullptr;
    if (!load || !load->isSimple() || !isWide(load->getType()))
      continue;
    LoadInst *real = readAsFloat(*load);
    if (Type *type = real ? nullptr : takenFor(*insert)) {
      real = new LoadInst(type, load->getPointerOperand(), "", false, load->getAlign(), load->getIterator());
      real->setDebugLoc(load->getDebugLoc());
    }
    if (!real)
      continue;
    load->replaceAllUsesWith(IRBuilder<>(load).CreateBitCast(real, load->getType()));
    any = true;
  }
  return any;
}

// The lanes of a vector that is put together of all of them; empty if it is not.
SmallVector<Value *, 8> lanesOf(InsertElementInst &last) {
  auto *type = dyn_cast<FixedVectorType>(last.getType());
  if (!type || !isWide(type) || type->getNumElements() > 16)
    return {};
  SmallVector<Value *, 8> lanes(type->getNumElements(), nullptr);
  // In code that is never reached a vector may be made of itself.
  SmallPtrSet<const Value *, 16> seen;
  for (Value *vector = &last; auto *insert = dyn_cast<InsertElementInst>(vector); vector = insert->getOperand(0)) {
    if (!seen.insert(insert).second)
      return {};
    const auto *index = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!index || index->getValue().uge(lanes.size()))
      return {};
    Value *&lane = lanes[index->getZExtValue()];
    if (!lane)
      lane = insert->getOperand(1);
  }
  return is_contained(lanes, nullptr) ? SmallVector<Value *, 8>() : lanes;
}

// The vector of these lanes by operations on vectors; null if there is none.
Value *together(IRBuilder<> &at, ArrayRef<Value *> lanes, unsigned depth) {
  Type *scalar = lanes[0]->getType();
  if (depth > kDepthLimit || any_of(lanes, [&](Value *lane) { return lane->getType() != scalar; }))
    return nullptr;
  if (all_of(lanes, [](Value *lane) { return isa<Constant>(lane); })) {
    SmallVector<Constant *, 8> constants;
    for (Value *lane : lanes)
      constants.push_back(cast<Constant>(lane));
    return ConstantVector::get(constants);
  }
  if (auto *first = dyn_cast<ExtractElementInst>(lanes[0])) {
    Value *vector = first->getVectorOperand();
    const auto *type = dyn_cast<FixedVectorType>(vector->getType());
    bool same = type && type->getNumElements() == lanes.size();
    for (unsigned n = 0; same && n < lanes.size(); ++n)
      same = match(lanes[n], m_ExtractElt(m_Specific(vector), m_SpecificInt(n)));
    return same ? vector : nullptr;
  }
  auto *first = dyn_cast<Instruction>(lanes[0]);
  const auto alike = [&](Value *lane) {
    auto *inst = dyn_cast<Instruction>(lane);
    return inst && inst->isSameOperationAs(first, Instruction::CompareIgnoringAlignment);
  };
  // Conversions stay apart: what is made of their bits is a number (slopes.cpp).
  if (!first || !isa<BinaryOperator, CmpInst, CastInst, SelectInst>(first) || isa<FPToSIInst, FPToUIInst>(first) ||
      !all_of(lanes, alike))
    return nullptr;
  // Floats whose bits these are have no vector yet.
  if (isa<BitCastInst>(first) && first->getOperand(0)->getType()->isFloatingPointTy()) {
    Value *floats = PoisonValue::get(FixedVectorType::get(first->getOperand(0)->getType(), lanes.size()));
    for (unsigned n = 0; n < lanes.size(); ++n)
      floats = at.CreateInsertElement(floats, cast<Instruction>(lanes[n])->getOperand(0), n);
    return at.CreateBitCast(floats, FixedVectorType::get(scalar, lanes.size()));
  }
  SmallVector<Value *, 3> operands;
  for (unsigned n = 0; n < first->getNumOperands(); ++n) {
    SmallVector<Value *, 8> of;
    for (Value *lane : lanes)
      of.push_back(cast<Instruction>(lane)->getOperand(n));
    Value *operand = together(at, of, depth + 1);
    if (!operand)
      return nullptr;
    operands.push_back(operand);
  }
  if (auto *math = dyn_cast<BinaryOperator>(first))
    return at.CreateBinOp(math->getOpcode(), operands[0], operands[1]);
  if (auto *compare = dyn_cast<CmpInst>(first))
    return at.CreateCmp(compare->getPredicate(), operands[0], operands[1]);
  if (isa<SelectInst>(first))
    return at.CreateSelect(operands[0], operands[1], operands[2]);
  return at.CreateCast(cast<CastInst>(first)->getOpcode(), operands[0], FixedVectorType::get(scalar, lanes.size()));
}

bool putTogether(Function &function) {
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      auto *last = dyn_cast<InsertElementInst>(&inst);
      const SmallVector<Value *, 8> lanes = last ? lanesOf(*last) : SmallVector<Value *, 8>();
      // Lanes that are simply put there have nothing done to them.
      if (lanes.empty() || all_of(lanes, [](Value *lane) { return isa<Constant, ExtractElementInst>(lane); }))
        continue;
      IRBuilder<> at(last);
      if (Value *vector = together(at, lanes, 0)) {
        last->replaceAllUsesWith(vector);
        any = true;
      }
    }
  return any;
}

// What is cast to bits and back is what it was.
bool castOnce(Function &function) {
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      Value *from = nullptr;
      if (!isa<FixedVectorType>(inst.getType()) || !match(&inst, m_BitCast(m_BitCast(m_Value(from)))) ||
          from->getType() != inst.getType() || from == &inst)
        continue;
      inst.replaceAllUsesWith(from);
      any = true;
    }
  return any;
}

// A sign that is spread over all bits becomes a mask by a comparison.
bool maskSigns(Function &function) {
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      Value *number = nullptr;
      if (!isWide(inst.getType()) || !isa<FixedVectorType>(inst.getType()) ||
          !match(&inst, m_AShr(m_Value(number), m_SpecificInt(inst.getType()->getScalarSizeInBits() - 1))))
        continue;
      IRBuilder<> at(&inst);
      Value *negative = at.CreateICmpSLT(number, Constant::getNullValue(number->getType()));
      inst.replaceAllUsesWith(at.CreateSExt(negative, inst.getType()));
      any = true;
    }
  return any;
}

// One bit less one, or none less it: all ones or zero.
bool spreadsBit(Value *mask, Value *&number) {
  return match(mask, m_Add(m_And(m_Value(number), m_One()), m_AllOnes())) ||
         match(mask, m_Neg(m_And(m_Value(number), m_One())));
}

// Whether the lanes of a value are all ones or zero.
bool isMask(Value *value, unsigned depth = 0) {
  Value *a = nullptr, *b = nullptr;
  if (depth > kDepthLimit || !isa<FixedVectorType>(value->getType()))
    return false;
  if (match(value, m_Zero()) || match(value, m_AllOnes()) || spreadsBit(value, a))
    return true;
  if (match(value, m_SExt(m_Value(a))))
    return a->getType()->isIntOrIntVectorTy(1);
  return isa<Instruction>(value) &&
         (match(value, m_Select(m_Value(), m_Value(a), m_Value(b))) ||
          match(value, m_BitwiseLogic(m_Value(a), m_Value(b)))) &&
         isMask(a, depth + 1) && isMask(b, depth + 1);
}

// The condition, by lanes, of which a value is the mask.
Value *conditionOf(IRBuilder<> &at, Value *mask) {
  Value *a = nullptr, *b = nullptr, *when = nullptr;
  Type *conditions = mask->getType()->getWithNewType(at.getInt1Ty());
  if (match(mask, m_Zero()))
    return Constant::getNullValue(conditions);
  if (match(mask, m_AllOnes()))
    return Constant::getAllOnesValue(conditions);
  if (match(mask, m_SExt(m_Value(when))))
    return when;
  if (spreadsBit(mask, a)) {
    Value *bit = at.CreateTrunc(a, conditions);
    return match(mask, m_Neg(m_Value())) ? bit : at.CreateNot(bit);
  }
  if (match(mask, m_Select(m_Value(when), m_Value(a), m_Value(b)))) {
    a = conditionOf(at, a);
    return at.CreateSelect(when, a, conditionOf(at, b));
  }
  auto *logic = cast<BinaryOperator>(mask);
  a = conditionOf(at, logic->getOperand(0));
  return at.CreateBinOp(logic->getOpcode(), a, conditionOf(at, logic->getOperand(1)));
}

// What `logic ^ otherwise` is, where `logic` is `(x ^ otherwise)` under masks: `x` where these are set. Null if it is
// none of these.
Value *chosen(IRBuilder<> &at, Value *logic, Value *otherwise, unsigned depth = 0) {
  Value *then = nullptr, *when = nullptr;
  if (depth > kDepthLimit)
    return nullptr;
  if (match(logic, m_c_Xor(m_Specific(otherwise), m_Value(then))))
    return then;
  const auto under = [&](Value *condition, Value *inner, bool contrary) -> Value * {
    Value *value = chosen(at, inner, otherwise, depth + 1);
    if (!value)
      return nullptr;
    return contrary ? at.CreateSelect(condition, otherwise, value) : at.CreateSelect(condition, value, otherwise);
  };
  if (match(logic, m_Select(m_Value(when), m_Value(then), m_Zero())))
    return under(when, then, false);
  if (match(logic, m_Select(m_Value(when), m_Zero(), m_Value(then))))
    return under(when, then, true);
  Value *sides[2] = {};
  if (!match(logic, m_And(m_Value(sides[0]), m_Value(sides[1]))))
    return nullptr;
  for (unsigned n = 0; n < 2; ++n) {
    Value *mask = sides[n], *inner = sides[1 - n];
    Constant *bits = nullptr;
    // Some bits of each lane in some lanes.
    Value *lanes = nullptr;
    if (match(mask, m_And(m_Value(lanes), m_Constant(bits))))
      mask = lanes;
    else if (!match(mask, m_Constant(bits)))
      bits = nullptr;
    if (bits && (bits->containsUndefOrPoisonElement() || isa<UndefValue>(bits)))
      return nullptr;
    if (mask != bits && !isMask(mask))
      continue;
    Value *value = chosen(at, inner, otherwise, depth + 1);
    if (value && bits)
      value = at.CreateOr(at.CreateAnd(value, bits), at.CreateAnd(otherwise, ConstantExpr::getNot(bits)));
    if (value)
      return mask == bits ? value : at.CreateSelect(conditionOf(at, mask), value, otherwise);
  }
  return nullptr;
}

// The absolute value of what is a mask is that without the signs.
bool unmakeAbsolutes(Function &function) {
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      Value *mask = nullptr;
      if (!match(&inst, m_BitCast(m_FAbs(m_BitCast(m_Value(mask))))) || mask->getType() != inst.getType() ||
          !isWide(inst.getType()) || !isMask(mask))
        continue;
      IRBuilder<> at(&inst);
      const APInt rest = APInt::getSignedMaxValue(inst.getType()->getScalarSizeInBits());
      inst.replaceAllUsesWith(at.CreateAnd(mask, ConstantInt::get(inst.getType(), rest)));
      any = true;
    }
  return any;
}

// What is masked by lanes is chosen, or zero.
bool chooseOrZero(Function &function) {
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      if (inst.getOpcode() != Instruction::And || !isWide(inst.getType()) || !isa<FixedVectorType>(inst.getType()))
        continue;
      IRBuilder<> at(&inst);
      for (unsigned n = 0; n < 2; ++n) {
        Value *value = inst.getOperand(n), *mask = inst.getOperand(1 - n);
        // Masks make a mask.
        if (isa<Constant>(mask) || isMask(value) || !isMask(mask))
          continue;
        Constant *zero = Constant::getNullValue(inst.getType());
        inst.replaceAllUsesWith(at.CreateSelect(conditionOf(at, mask), value, zero));
        any = true;
        break;
      }
    }
  return any;
}

// `logic ^ otherwise` as a choice, if it is one; of a plain `(a ^ b) ^ b` nothing is chosen.
Value *choiceOf(IRBuilder<> &at, Value *logic, Value *otherwise) {
  return match(logic, m_Xor(m_Value(), m_Value())) ? nullptr : chosen(at, logic, otherwise);
}

bool chooseByMasks(Function &function) {
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      if (inst.getOpcode() != Instruction::Xor || !isWide(inst.getType()))
        continue;
      IRBuilder<> at(&inst);
      Value *out = nullptr;
      for (unsigned n = 0; n < 2 && !out; ++n) {
        Value *logic = inst.getOperand(n), *otherwise = inst.getOperand(1 - n), *parts[2] = {};
        out = choiceOf(at, logic, otherwise);
        // Signs may have been put in between.
        if (!out && match(logic, m_Xor(m_Value(parts[0]), m_Value(parts[1]))))
          for (unsigned part = 0; part < 2 && !out; ++part)
            if (Value *choice = choiceOf(at, parts[part], otherwise))
              out = at.CreateXor(choice, parts[1 - part]);
      }
      if (!out)
        continue;
      inst.replaceAllUsesWith(out);
      any = true;
    }
  return any;
}

} // namespace

bool enz::revealBlends(Function &function) {
  if (none_of(instructions(function),
              [](const Instruction &inst) { return isa<FixedVectorType>(inst.getType()) && isWide(inst.getType()); }))
    return false;
  bool any = shareReads(function);
  any |= putTogether(function);
  any |= castOnce(function);
  any |= maskSigns(function);
  any |= unmakeAbsolutes(function);
  any |= chooseByMasks(function);
  any |= chooseOrZero(function);
  return any;
}
