// Operations on the bits of floats as operations on floats, where a sequence of exact ones does the same: moves of
// whole lanes, signs flipped, cleared, set or taken from another number, and choices by masks of comparisons.
//
// From every cast of an integer or a vector of integers to floats, and from every store of one, the search goes back
// through all that moves bits (the web of the root) to casts from floats, loads, constants and arguments. If every
// operation in the web has an equal on floats of that size, all of them are made; the old ones stay only for other
// uses. Where a vector is only read, has signs changed and is written, its lanes are taken for floats.
//
// Not handled: arithmetic, exponents and mantissas taken apart, lanes narrower than the floats unless they move
// together, targets with the first lane at the high end. They stay, and are refused if a derivative must go through
// them.

#include "support.h"

#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr size_t kWebLimit = 20000;
constexpr unsigned kDepthLimit = 2000;

unsigned widthOf(const Value *value) { return value->getType()->getScalarSizeInBits(); }

unsigned lanesOf(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

unsigned bitsOf(const Value *value) { return lanesOf(value->getType()) * widthOf(value); }

bool isBits(const Type *type) {
  return type->isIntOrIntVectorTy() && !isa<ScalableVectorType>(type) && type->getScalarSizeInBits() > 1;
}

bool isLane(const Type *type) { return type->isHalfTy() || type->isFloatTy() || type->isDoubleTy(); }

// What an operation does to one lane of its operand.
enum class Lane : uint8_t { Keep, Zero, Abs, Sign, Negate, Minus };

// A condition by lanes, or its contrary.
struct Choice {
  Value *when = nullptr;
  bool contrary = false;
};

class Web {
public:
  Web(Function &function) : function_(function), layout_(function.getDataLayout()), query_(layout_) {}

  bool run() {
    SmallVector<std::pair<Instruction *, Type *>, 32> roots;
    for (BasicBlock &block : function_)
      for (Instruction &inst : block) {
        if (auto *cast = dyn_cast<BitCastInst>(&inst)) {
          Type *lane = cast->getDestTy()->getScalarType();
          const bool plain = !cast->getDestTy()->isVectorTy() || lanesOf(cast->getDestTy()) > 1;
          if (isBits(cast->getSrcTy()) && isLane(lane) && !isa<ScalableVectorType>(cast->getDestTy()) && plain)
            roots.emplace_back(cast, lane);
        } else if (auto *store = dyn_cast<StoreInst>(&inst)) {
          if (store->isSimple() && isBits(store->getValueOperand()->getType()) &&
              isa<Instruction>(store->getValueOperand()))
            roots.emplace_back(store, nullptr);
        }
      }
    bool changed = false;
    // Stores last: casts may tell what lanes the values that they store have.
    std::stable_partition(roots.begin(), roots.end(), [](const auto &root) { return isa<BitCastInst>(root.first); });
    for (auto [inst, lane] : roots)
      changed |= rewrite(*inst, lane);
    return changed;
  }

private:
  bool rewrite(Instruction &root, Type *lane) {
    auto *store = dyn_cast<StoreInst>(&root);
    Value *from = store ? store->getValueOperand() : root.getOperand(0);
    if (!lane)
      lane = laneBehind(from);
    const bool guessed = !lane;
    if (!lane)
      lane = laneOfSigns(from);
    if (!lane)
      return false;
    lane_ = lane;
    bits_ = lane->getPrimitiveSizeInBits();
    seen_.clear();
    hard_ = floats_ = false;
    if (!look(from, 0) || !hard_ || (store && !floats_ && !guessed))
      return false;
    Value *made = make(from);
    // What was said of the type of the memory was said of integers.
    if (store) {
      store->setOperand(0, made);
      store->setMetadata(LLVMContext::MD_tbaa, nullptr);
    } else {
      root.replaceAllUsesWith(made);
    }
    return true;
  }

  // The float that was cast to the bits that `from` is made of.
  static Type *laneBehind(Value *from) {
    SmallVector<Value *, 16> work{from};
    SmallPtrSet<Value *, 16> seen;
    while (!work.empty() && seen.size() < 256) {
      auto *inst = dyn_cast<Instruction>(work.pop_back_val());
      if (!inst || !seen.insert(inst).second)
        continue;
      if (auto *cast = dyn_cast<BitCastInst>(inst); cast && isLane(cast->getSrcTy()->getScalarType()))
        return cast->getSrcTy()->getScalarType();
      if (isa<BitCastInst, PHINode, ShuffleVectorInst, SelectInst, FreezeInst, ExtractElementInst, InsertElementInst>(
              inst) ||
          inst->isBitwiseLogicOp())
        work.append(inst->op_begin(), inst->op_end());
    }
    return nullptr;
  }

  // Vectors that are read, have signs of floats changed, and are written, with nothing said of integers.
  static Type *laneOfSigns(Value *from) {
    Value *inner = from;
    Constant *mask = nullptr;
    const unsigned width = from->getType()->getScalarSizeInBits();
    if (!isa<FixedVectorType>(from->getType()) || (width != 32 && width != 64))
      return nullptr;
    while (match(inner, m_c_BinOp(m_Value(from), m_Constant(mask))) && cast<Instruction>(inner)->isBitwiseLogicOp()) {
      bool signs = false;
      for (unsigned n = 0; n < lanesOf(mask->getType()); ++n) {
        const auto *lane = dyn_cast_or_null<ConstantInt>(mask->getAggregateElement(n));
        if (!lane)
          return nullptr;
        const APInt &bits = lane->getValue();
        signs |= bits.isSignMask() || bits.isMaxSignedValue();
        if (!bits.isSignMask() && !bits.isMaxSignedValue() && !bits.isZero() && !bits.isAllOnes())
          return nullptr;
      }
      if (!signs)
        return nullptr;
      inner = from;
    }
    const auto *load = dyn_cast<LoadInst>(inner);
    if (!load || !mask)
      return nullptr;
    const MDNode *access = load->getMetadata(LLVMContext::MD_tbaa);
    if (access && access->getNumOperands() > 0) {
      const auto *type = dyn_cast<MDNode>(access->getOperand(0));
      const auto *name = type && type->getNumOperands() > 0 ? dyn_cast<MDString>(type->getOperand(0)) : nullptr;
      if (!name || name->getString() != "omnipotent char")
        return nullptr;
    }
    return width == 64 ? Type::getDoubleTy(load->getContext()) : Type::getFloatTy(load->getContext());
  }

  Type *floatsFor(const Value *value) const {
    const unsigned lanes = bitsOf(value) / bits_;
    return lanes == 1 ? lane_ : FixedVectorType::get(lane_, lanes);
  }

  Type *integersFor(const Value *value) const {
    const unsigned lanes = bitsOf(value) / bits_;
    Type *lane = IntegerType::get(value->getContext(), bits_);
    return lanes == 1 ? lane : FixedVectorType::get(lane, lanes);
  }

  // What is known of the bits of one float lane.
  KnownBits known(const Value *value, unsigned lane) const {
    const unsigned width = widthOf(value);
    KnownBits out(bits_);
    if (!value->getType()->isVectorTy())
      return computeKnownBits(value, query_).extractBits(bits_, lane * bits_);
    const unsigned elements = lanesOf(value->getType());
    if (width >= bits_) {
      const unsigned per = width / bits_;
      return computeKnownBits(value, APInt::getOneBitSet(elements, lane / per), query_)
          .extractBits(bits_, lane % per * bits_);
    }
    const unsigned parts = bits_ / width;
    for (unsigned n = 0; n < parts; ++n)
      out.insertBits(computeKnownBits(value, APInt::getOneBitSet(elements, lane * parts + n), query_), n * width);
    return out;
  }

  static bool isSignOnly(const KnownBits &bits) {
    return (bits.Zero | APInt::getSignMask(bits.getBitWidth())).isAllOnes();
  }

  // Lanes of `mask` in the width of the floats, or false.
  bool lanesMoved(const ShuffleVectorInst &shuffle, SmallVectorImpl<int> &out) const {
    const unsigned width = widthOf(&shuffle);
    const ArrayRef<int> mask = shuffle.getShuffleMask();
    if (width < bits_) {
      const unsigned times = bits_ / width;
      return lanesOf(shuffle.getOperand(0)->getType()) % times == 0 && mask.size() % times == 0 &&
             widenShuffleMaskElts(static_cast<int>(times), mask, out);
    }
    narrowShuffleMaskElts(static_cast<int>(width / bits_), mask, out);
    return true;
  }

  static Value *throughCasts(Value *value) {
    while (auto *cast = dyn_cast<BitCastInst>(value))
      value = cast->getOperand(0);
    return value;
  }

  // The condition of which a value is the mask: all ones in the lanes where it holds, else zero.
  std::optional<Choice> maskOf(Value *value) const {
    const unsigned lanes = bitsOf(value) / bits_;
    value = throughCasts(value);
    Value *inner = nullptr;
    if (match(value, m_Not(m_Value(inner)))) {
      auto out = maskOf(inner);
      if (out)
        out->contrary = !out->contrary;
      return out;
    }
    if (match(value, m_SExt(m_Value(inner))) && inner->getType()->isIntOrIntVectorTy(1) &&
        lanesOf(inner->getType()) == lanes && inner->getType()->isVectorTy() == (lanes > 1))
      return conditionOf(inner);
    return std::nullopt;
  }

  static Choice conditionOf(Value *when) {
    Choice out{when, false};
    Value *inner = nullptr;
    while (match(out.when, m_Not(m_Value(inner)))) {
      out.when = inner;
      out.contrary = !out.contrary;
    }
    return out;
  }

  // Where alone a value can be other than zero, and what it is there.
  std::optional<std::pair<Choice, Value *>> onlyWhere(Value *value) const {
    const unsigned lanes = bitsOf(value) / bits_;
    value = throughCasts(value);
    if (!isBits(value->getType()))
      return std::nullopt;
    Value *a = nullptr, *b = nullptr;
    if (match(value, m_And(m_Value(a), m_Value(b)))) {
      if (const auto mask = maskOf(a))
        return std::pair(*mask, b);
      if (const auto mask = maskOf(b))
        return std::pair(*mask, a);
    }
    if (auto *select = dyn_cast<SelectInst>(value)) {
      Value *when = select->getCondition();
      if (when->getType()->isVectorTy() && lanesOf(when->getType()) != lanes)
        return std::nullopt;
      Choice choice = conditionOf(when);
      if (match(select->getFalseValue(), m_Zero()))
        return std::pair(choice, select->getTrueValue());
      choice.contrary = !choice.contrary;
      if (match(select->getTrueValue(), m_Zero()))
        return std::pair(choice, select->getFalseValue());
    }
    return std::nullopt;
  }

  struct Plan {
    enum { Failed, Masked, Split, Each, Flip, Minus, Blend } how = Failed;
    Choice choice;                             // Masked, Split
    Value *first = nullptr, *second = nullptr; // Operands of the float operation.
    Value *signs = nullptr;            // Flip, Minus: where its lanes are negative, the first is negated or made so.
    SmallVector<Lane, 16> lanes;       // Each
    SmallVector<bool, 16> from_second; // Blend
  };

  // What each lane becomes by an operation with the constant bits `with`.
  std::optional<Lane> laneOf(unsigned opcode, const KnownBits &with) const {
    if (!with.isConstant())
      return std::nullopt;
    const APInt bits = with.getConstant();
    const bool sign = bits.isSignMask();
    switch (opcode) {
    case Instruction::And:
      if (bits.isAllOnes())
        return Lane::Keep;
      if (bits.isZero())
        return Lane::Zero;
      if (bits.isMaxSignedValue())
        return Lane::Abs;
      return sign ? std::optional(Lane::Sign) : std::nullopt;
    case Instruction::Or:
      return bits.isZero() ? std::optional(Lane::Keep) : sign ? std::optional(Lane::Minus) : std::nullopt;
    default:
      return bits.isZero() ? std::optional(Lane::Keep) : sign ? std::optional(Lane::Negate) : std::nullopt;
    }
  }

  Plan planOf(BinaryOperator &math) const {
    Plan plan;
    const unsigned lanes = bitsOf(&math) / bits_, opcode = math.getOpcode();
    Value *const sides[] = {math.getOperand(0), math.getOperand(1)};
    SmallVector<KnownBits, 16> bits[2];
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned n = 0; n < lanes; ++n)
        bits[side].push_back(known(sides[side], n));
    for (unsigned side = 0; side < 2; ++side) {
      plan.lanes.clear();
      for (unsigned n = 0; n < lanes; ++n)
        if (const auto lane = laneOf(opcode, bits[side][n]))
          plan.lanes.push_back(*lane);
      if (plan.lanes.size() == lanes) {
        plan.how = Plan::Each;
        plan.first = sides[1 - side];
        return plan;
      }
    }
    if (opcode == Instruction::And) {
      for (unsigned side = 0; side < 2; ++side)
        if (const auto mask = maskOf(sides[side])) {
          plan.how = Plan::Masked;
          plan.choice = *mask;
          plan.first = sides[1 - side];
          return plan;
        }
      return plan;
    }
    // In each lane one side is zero.
    for (unsigned n = 0; n < lanes; ++n)
      if (bits[1][n].isZero() || bits[0][n].isZero())
        plan.from_second.push_back(!bits[1][n].isZero());
    if (plan.from_second.size() == lanes) {
      plan.how = Plan::Blend;
      plan.first = sides[0];
      plan.second = sides[1];
      return plan;
    }
    const auto left = onlyWhere(sides[0]), right = onlyWhere(sides[1]);
    if (left && right && left->first.when == right->first.when && left->first.contrary != right->first.contrary &&
        isBits(left->second->getType()) && isBits(right->second->getType())) {
      plan.how = Plan::Split;
      plan.choice = left->first;
      plan.first = left->second;
      plan.second = right->second;
      return plan;
    }
    for (unsigned side = 0; side < 2; ++side) {
      const bool signs = all_of(bits[side], isSignOnly);
      const bool positive = all_of(bits[1 - side], [](const KnownBits &b) { return b.isNonNegative(); });
      if (!signs)
        continue;
      plan.how = opcode == Instruction::Xor || positive ? Plan::Flip : Plan::Minus;
      plan.first = sides[1 - side];
      plan.signs = sides[side];
      return plan;
    }
    return plan;
  }

  // Whether the bits of `value` can be had as floats by exact operations.
  bool look(Value *value, unsigned depth) {
    if (bitsOf(value) % bits_ != 0 || depth > kDepthLimit || seen_.size() > kWebLimit)
      return false;
    if (isa<Constant>(value) || !seen_.insert(value).second)
      return true;
    if (made_.count({value, lane_})) {
      hard_ = floats_ = true;
      return true;
    }
    const unsigned width = widthOf(value);
    if (width % bits_ != 0 && bits_ % width != 0)
      return false;
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst || isa<CallBase, ExtractValueInst>(inst))
      return true;
    if (auto *cast = dyn_cast<BitCastInst>(inst)) {
      Type *from = cast->getSrcTy();
      if (isBits(from))
        return look(cast->getOperand(0), depth + 1);
      const bool same = from->getScalarType() == lane_;
      floats_ |= same;
      return same && !isa<ScalableVectorType>(from);
    }
    if (auto *load = dyn_cast<LoadInst>(inst)) {
      hard_ |= load->getType()->isVectorTy();
      return true;
    }
    // Vectors of integers are not followed, even where they are only chosen from.
    hard_ |= isa<PHINode, SelectInst>(inst) && isa<FixedVectorType>(inst->getType());
    if (isa<PHINode>(inst))
      return all_of(inst->operands(), [&](Value *operand) { return look(operand, depth + 1); });
    if (isa<FreezeInst>(inst))
      return look(inst->getOperand(0), depth + 1);
    if (auto *select = dyn_cast<SelectInst>(inst)) {
      const Type *when = select->getCondition()->getType();
      if (when->isVectorTy() && (lanesOf(when) != bitsOf(value) / bits_ || lanesOf(when) == 1))
        return false;
      return look(select->getTrueValue(), depth + 1) && look(select->getFalseValue(), depth + 1);
    }
    hard_ = true;
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(inst)) {
      SmallVector<int, 16> mask;
      return lanesMoved(*shuffle, mask) && look(shuffle->getOperand(0), depth + 1) &&
             look(shuffle->getOperand(1), depth + 1);
    }
    if (auto *extract = dyn_cast<ExtractElementInst>(inst))
      return width >= bits_ && (width == bits_ || isa<ConstantInt>(extract->getIndexOperand())) &&
             look(extract->getVectorOperand(), depth + 1);
    if (auto *insert = dyn_cast<InsertElementInst>(inst))
      return width >= bits_ && (width == bits_ || isa<ConstantInt>(insert->getOperand(2))) &&
             look(insert->getOperand(0), depth + 1) && look(insert->getOperand(1), depth + 1);
    if (!inst->isBitwiseLogicOp())
      return false;
    const Plan plan = planOf(*cast<BinaryOperator>(inst));
    plans_[{inst, lane_}] = plan;
    return plan.how != Plan::Failed && look(plan.first, depth + 1) && (!plan.second || look(plan.second, depth + 1));
  }

  // Operands may be of another type than the operation, of as many bits.
  Value *make(Value *value) {
    Type *type = floatsFor(value);
    if (auto *constant = dyn_cast<Constant>(value)) {
      if (isa<PoisonValue>(constant))
        return PoisonValue::get(type);
      return IRBuilder<>(value->getContext()).CreateBitCast(constant, type);
    }
    if (Value *old = made_.lookup({value, lane_}))
      return old;
    Value *out = makeNew(value, type);
    made_[{value, lane_}] = out;
    return out;
  }

  Value *makeNew(Value *value, Type *type) {
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst) {
      IRBuilder<> builder(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      return builder.CreateBitCast(value, type);
    }
    if (auto *phi = dyn_cast<PHINode>(inst)) {
      PHINode *out = PHINode::Create(type, phi->getNumIncomingValues(), "", phi->getIterator());
      made_[{value, lane_}] = out;
      for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n)
        out->addIncoming(make(phi->getIncomingValue(n)), phi->getIncomingBlock(n));
      return out;
    }
    if (isa<CallBase, ExtractValueInst>(inst)) {
      IRBuilder<> builder(value->getContext());
      const auto at = inst->getInsertionPointAfterDef();
      if (at)
        builder.SetInsertPoint((*at)->getParent(), *at);
      else
        builder.SetInsertPoint(inst);
      return builder.CreateBitCast(value, type);
    }
    IRBuilder<> builder(inst);
    if (auto *cast = dyn_cast<BitCastInst>(inst)) {
      Value *from = cast->getOperand(0);
      if (isBits(from->getType()))
        return make(from);
      return from->getType() == type ? from : builder.CreateBitCast(from, type);
    }
    if (auto *load = dyn_cast<LoadInst>(inst)) {
      if (!load->isSimple()) {
        builder.SetInsertPoint(load->getNextNode());
        return builder.CreateBitCast(load, type);
      }
      LoadInst *out = builder.CreateAlignedLoad(type, load->getPointerOperand(), load->getAlign());
      out->copyMetadata(*load, {LLVMContext::MD_dbg, LLVMContext::MD_noalias, LLVMContext::MD_alias_scope,
                                LLVMContext::MD_invariant_load});
      return out;
    }
    if (isa<FreezeInst>(inst))
      return builder.CreateFreeze(make(inst->getOperand(0)));
    if (auto *select = dyn_cast<SelectInst>(inst))
      return builder.CreateSelect(select->getCondition(), make(select->getTrueValue()), make(select->getFalseValue()));
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(inst)) {
      SmallVector<int, 16> mask;
      lanesMoved(*shuffle, mask);
      return gather(builder, make(shuffle->getOperand(0)), make(shuffle->getOperand(1)), mask, type);
    }
    if (auto *extract = dyn_cast<ExtractElementInst>(inst)) {
      Value *from = make(extract->getVectorOperand());
      if (!from->getType()->isVectorTy())
        return from;
      if (type == lane_)
        return builder.CreateExtractElement(from, extract->getIndexOperand());
      const unsigned lanes = lanesOf(type);
      SmallVector<int, 16> mask;
      for (unsigned n = 0; n < lanes; ++n)
        mask.push_back(static_cast<int>(indexOf(extract->getIndexOperand()) * lanes + n));
      return gather(builder, from, from, mask, type);
    }
    if (auto *insert = dyn_cast<InsertElementInst>(inst)) {
      Value *into = make(insert->getOperand(0)), *what = make(insert->getOperand(1));
      if (!type->isVectorTy())
        return what;
      if (what->getType() == lane_)
        return builder.CreateInsertElement(into, what, insert->getOperand(2));
      const unsigned lanes = lanesOf(what->getType());
      for (unsigned n = 0; n < lanes; ++n)
        into = builder.CreateInsertElement(into, builder.CreateExtractElement(what, n),
                                           indexOf(insert->getOperand(2)) * lanes + n);
      return into;
    }
    return makeLogic(builder, *cast<BinaryOperator>(inst), type);
  }

  static uint64_t indexOf(const Value *index) { return cast<ConstantInt>(index)->getZExtValue(); }

  static Value *laneAt(IRBuilder<> &builder, Value *from, uint64_t lane) {
    return from->getType()->isVectorTy() ? builder.CreateExtractElement(from, lane) : from;
  }

  static Value *gather(IRBuilder<> &builder, Value *a, Value *b, ArrayRef<int> mask, Type *type) {
    if (a->getType()->isVectorTy() && type->isVectorTy())
      return builder.CreateShuffleVector(a, b, mask);
    const unsigned lanes = lanesOf(a->getType());
    Value *out = PoisonValue::get(type);
    for (unsigned n = 0; n < mask.size(); ++n) {
      if (mask[n] < 0)
        continue;
      const auto lane = static_cast<unsigned>(mask[n]);
      Value *x = laneAt(builder, lane < lanes ? a : b, lane % lanes);
      out = type->isVectorTy() ? builder.CreateInsertElement(out, x, n) : x;
    }
    return out;
  }

  // `then` in the lanes for which `test` holds.
  static Value *blend(IRBuilder<> &builder, unsigned lanes, function_ref<bool(unsigned)> test, Value *then,
                      Value *otherwise) {
    SmallVector<Constant *, 16> when;
    bool any = false, all = true;
    for (unsigned n = 0; n < lanes; ++n) {
      when.push_back(builder.getInt1(test(n)));
      any |= test(n);
      all &= test(n);
    }
    if (!any || all)
      return any ? then : otherwise;
    return builder.CreateSelect(ConstantVector::get(when), then, otherwise);
  }

  Value *makeLogic(IRBuilder<> &builder, BinaryOperator &math, Type *type) {
    const Plan plan = plans_[{&math, lane_}];
    const unsigned lanes = lanesOf(type);
    Constant *zero = Constant::getNullValue(type);
    Value *first = make(plan.first), *second = plan.second ? make(plan.second) : nullptr;
    switch (plan.how) {
    case Plan::Masked:
      return plan.choice.contrary ? builder.CreateSelect(plan.choice.when, zero, first)
                                  : builder.CreateSelect(plan.choice.when, first, zero);
    case Plan::Split:
      return plan.choice.contrary ? builder.CreateSelect(plan.choice.when, second, first)
                                  : builder.CreateSelect(plan.choice.when, first, second);
    case Plan::Blend:
      return blend(builder, lanes, [&](unsigned n) { return plan.from_second[n]; }, second, first);
    case Plan::Flip:
    case Plan::Minus: {
      Type *integers = integersFor(&math);
      Value *negative =
          builder.CreateICmpSLT(builder.CreateBitCast(plan.signs, integers), Constant::getNullValue(integers));
      Value *size = plan.how == Plan::Minus ? builder.CreateUnaryIntrinsic(Intrinsic::fabs, first) : first;
      return builder.CreateSelect(negative, builder.CreateFNeg(size), first);
    }
    default:
      break;
    }
    Value *out = first;
    for (Lane what : {Lane::Zero, Lane::Abs, Lane::Sign, Lane::Negate, Lane::Minus}) {
      if (!is_contained(plan.lanes, what))
        continue;
      Value *then = zero;
      if (what == Lane::Abs || what == Lane::Minus)
        then = builder.CreateUnaryIntrinsic(Intrinsic::fabs, first);
      if (what == Lane::Sign)
        then = builder.CreateCopySign(zero, first);
      if (what == Lane::Negate || what == Lane::Minus)
        then = builder.CreateFNeg(what == Lane::Minus ? then : first);
      out = blend(builder, lanes, [&](unsigned n) { return plan.lanes[n] == what; }, then, out);
    }
    return out;
  }

  Function &function_;
  const DataLayout &layout_;
  const SimplifyQuery query_;
  Type *lane_ = nullptr;
  unsigned bits_ = 0;
  bool hard_ = false, floats_ = false;
  SmallPtrSet<Value *, 32> seen_;
  DenseMap<std::pair<Value *, Type *>, WeakTrackingVH> made_;
  DenseMap<std::pair<Value *, Type *>, Plan> plans_;
};

// Masks of which LLVM left lanes undefined that nobody reads are the same in all lanes.
void completeMasks(Function &function) {
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      auto *mask = inst.isBitwiseLogicOp() ? dyn_cast<Constant>(inst.getOperand(1)) : nullptr;
      if (!mask || !isa<FixedVectorType>(mask->getType()) || !mask->containsUndefOrPoisonElement())
        continue;
      if (Constant *lane = mask->getSplatValue(/*AllowPoison=*/true))
        inst.setOperand(1, ConstantVector::getSplat(ElementCount::getFixed(lanesOf(mask->getType())), lane));
    }
}

} // namespace

// The bits of a number and those of its absolute value differ in the sign, if it has one: that is the sign.
static void revealSigns(Function &function) {
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      Value *x = nullptr;
      if (!match(&inst, m_c_Xor(m_BitCast(m_Value(x)), m_BitCast(m_FAbs(m_Deferred(x))))) ||
          x->getType()->getScalarType()->isPPC_FP128Ty() || x->getType()->getScalarSizeInBits() != widthOf(&inst))
        continue;
      IRBuilder<> builder(&inst);
      Value *bits = builder.CreateBitCast(x, inst.getType());
      Constant *sign = ConstantInt::get(inst.getType(), APInt::getSignMask(widthOf(&inst)));
      inst.replaceAllUsesWith(builder.CreateAnd(bits, sign));
    }
}

bool enz::floatBits(Function &function) {
  if (!function.getDataLayout().isLittleEndian())
    return false;
  completeMasks(function);
  revealSigns(function);
  return Web(function).run();
}

Value *enz::unrounded(Value *value) {
  constexpr StringLiteral names[] = {"rint", "nearbyint", "round", "roundeven", "floor", "ceil", "trunc"};
  // Roundings of what was rounded are few, but in code that is never reached a value may be made of itself.
  for (unsigned depth = 0; depth < 4; ++depth) {
    auto *call = dyn_cast<CallInst>(value);
    if (!call || call->arg_size() == 0 || call->getArgOperand(0)->getType() != call->getType())
      return value;
    switch (call->getIntrinsicID()) {
    case Intrinsic::rint:
    case Intrinsic::nearbyint:
    case Intrinsic::round:
    case Intrinsic::roundeven:
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
      break;
    default: {
      const Function *callee = call->getCalledFunction();
      StringRef name = callee && callee->isDeclaration() ? callee->getName() : StringRef();
      if (call->getType()->isFloatTy() && !name.consume_back("f"))
        return value;
      if (call->arg_size() != 1 || !is_contained(names, name))
        return value;
    }
    }
    value = call->getArgOperand(0);
  }
  return value;
}
