// Floats that are computed by way of their bits as integers: approximate logarithms, powers and roots, mantissas and
// exponents that are taken apart and put together, roundings to fewer bits.
//
// Read as an integer, the bits of a float are a function of it that is linear between two powers of two: where x has
// M bits of mantissa and the power of two P(x) below it, with its sign, d bits / d x = 2^M / P(x). Shifts, sums,
// masks and conversions to integers are linear too, as long as one looks at steps that are wide against what they cut
// off. So for a float y made of such an integer, or converted from it, the slope dy/dx is a power of two times what the
// integer operations make of it. (N. Schraudolph, "A Fast, Compact Approximation of the Exponential Function", Neural
// Computation 11, 1999, has the idea for one function.)
//
// From each cast of an integer to a float, and each conversion of one, the search goes back and notes as *terms* which
// bits of which floats went in, moved by how many places. What lands in the exponent alone is a constant: so are
// exponents, indices of tables, and powers of two that scale a result. Where a quarter of a mantissa or more is left,
// with its top, or a float's value was converted to the integer, there is a slope. y becomes
// `enzyme.along(x, y, slope)`, which is y and has the derivative `slope` by x; y itself is `enzyme.steady(bits)`, the
// bits as a float without a derivative. The tables of rules have both (core/rules, "Parts"). What calls them at the end
// of the work is made ordinary code again.
//
// The bits of a sum with a number so large that nothing is left behind the point are the other number, rounded. That
// has a slope as the bits of a float, but not as a number, nor as those of a float whose last place counts one or more.
//
// Invariants: values do not change. What is not understood stays as it is: casts of it are refused where a derivative
// must go through them. An integer that was mixed (multiplied, combined with itself) is none of this, so that hashes of
// floats are numbers without a derivative.
// Not handled: loops, products and calls between the bits and the float, parts of vectors of other widths, floats of
// other formats than `float` and `double`. Bits that are read from memory count if the read is one of a float
// (reads.cpp).

#include "reads.h"
#include "support.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

#include <cmath>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral kSteady = "enzyme.steady.";
constexpr StringLiteral kAlong = "enzyme.along.";

constexpr unsigned kDepthLimit = 40;
constexpr unsigned kTermLimit = 12;

bool isFloat(const Type *type) { return type->isFloatTy() || type->isDoubleTy(); }

unsigned mantissaOf(const Type *type) { return type->getScalarType()->isDoubleTy() ? 52 : 23; }

unsigned lanesOf(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

// A part of an integer that is the bits `low` to `high`, the latter excluded, of something else, moved by `shift`
// places.
struct Term {
  enum Kind : uint8_t {
    Bits,    // of the mantissa of `source`, a float, or an integer that is read where a float lies
    Whole,   // of `source`, a float, converted to an integer
    Unknown, // of `source`, an integer of which nothing is known
  };
  Kind kind;
  Value *source;
  int lane = -1; // of `source`, if it is a vector and this is not
  int shift = 0;
  int low = 0;
  int high = 0;
  bool minus = false;
  double factor = 1;  // the quotient of a division; then bits have no places any more
  bool vague = false; // whether it is there is not known
  SmallVector<std::pair<Value *, bool>, 1> when;

  bool isScaled() const { return factor != 1; }
  bool sameBut(const Term &other) const {
    return kind == other.kind && source == other.source && lane == other.lane && shift == other.shift &&
           minus == other.minus && factor == other.factor && vague == other.vague && when == other.when;
  }
};

// What an integer is made of; constants count for nothing.
struct Sum {
  bool known = true;
  bool floats = false; // some float went in, also if nothing of it is left
  bool worked = false; // something was done to it but choosing
  SmallVector<Term, 2> terms;
};

Sum failed() {
  Sum out;
  out.known = false;
  out.floats = true;
  return out;
}

class Slopes {
public:
  Slopes(Function &function) : function_(function), query_(function.getDataLayout()) {}

  bool run() {
    SmallVector<CastInst *, 32> roots;
    SmallVector<StoreInst *, 8> stores;
    for (BasicBlock &block : function_)
      for (Instruction &inst : block) {
        if (auto *cast = dyn_cast<CastInst>(&inst); cast && isRoot(*cast))
          roots.push_back(cast);
        if (auto *store = dyn_cast<StoreInst>(&inst);
            store && store->isSimple() && isa<Instruction>(store->getValueOperand()) && enz::floatOf(*store))
          stores.push_back(store);
      }
    bool changed = forgetOverflow();
    changed |= chooseBySelection();
    // LLVM writes bits as an integer, though they are meant to be a float.
    for (StoreInst *store : stores) {
      auto *cast = new BitCastInst(store->getValueOperand(), enz::floatOf(*store), "", store->getIterator());
      cast->setDebugLoc(store->getDebugLoc());
      if (rewrite(*cast, store)) {
        changed = true;
        store->setMetadata(LLVMContext::MD_tbaa, nullptr);
      }
      if (cast->use_empty())
        cast->eraseFromParent();
    }
    for (CastInst *root : roots)
      changed |= rewrite(*root);
    return changed;
  }

private:
  static bool isRoot(const CastInst &cast) {
    const Type *from = cast.getSrcTy(), *to = cast.getDestTy();
    if (!from->isIntOrIntVectorTy() || !isFloat(to->getScalarType()) || isa<ScalableVectorType>(to) ||
        from->isVectorTy() != to->isVectorTy() || lanesOf(from) != lanesOf(to))
      return false;
    return isa<BitCastInst, SIToFPInst, UIToFPInst>(cast) && from->getScalarSizeInBits() > 1 &&
           from->getScalarSizeInBits() <= 64;
  }

  // Sums, differences and products of bits that are checked for overflow (-ftrapv, Rust's debug builds) become plain
  // ones; the check stays.
  bool forgetOverflow() {
    bool any = false;
    ReversePostOrderTraversal<Function *> order(&function_);
    for (BasicBlock *block : order)
      for (Instruction &inst : make_early_inc_range(*block)) {
        auto *checked = checkedOf(inst);
        if (!checked || (!look(checked->getLHS(), 0).floats && !look(checked->getRHS(), 0).floats))
          continue;
        inst.replaceAllUsesWith(
            IRBuilder<>(&inst).CreateBinOp(checked->getBinaryOp(), checked->getLHS(), checked->getRHS()));
        inst.eraseFromParent();
        sums_.clear();
        any = true;
      }
    return any;
  }

  // The arithmetic that an instruction takes the result of; null if it is something else.
  static WithOverflowInst *checkedOf(Instruction &inst) {
    auto *extract = dyn_cast<ExtractValueInst>(&inst);
    return extract && extract->getIndices() == ArrayRef<unsigned>(0)
               ? dyn_cast<WithOverflowInst>(extract->getAggregateOperand())
               : nullptr;
  }

  // The larger or smaller of two integers that are made of floats becomes one of the two by a condition.
  bool chooseBySelection() {
    bool any = false;
    for (BasicBlock &block : function_)
      for (Instruction &inst : make_early_inc_range(block)) {
        auto *extreme = dyn_cast<MinMaxIntrinsic>(&inst);
        if (!extreme || (!look(extreme->getLHS(), 0).floats && !look(extreme->getRHS(), 0).floats))
          continue;
        IRBuilder<> at(extreme);
        Value *first = at.CreateICmp(extreme->getPredicate(), extreme->getLHS(), extreme->getRHS());
        extreme->replaceAllUsesWith(at.CreateSelect(first, extreme->getLHS(), extreme->getRHS()));
        extreme->eraseFromParent();
        sums_.clear();
        any = true;
      }
    return any;
  }

  static int widthOf(const Value *value) { return static_cast<int>(value->getType()->getScalarSizeInBits()); }

  Sum unknown(Value *value) const {
    Sum out;
    out.terms.push_back({Term::Unknown, value, -1, 0, 0, widthOf(value), false, 1, false, {}});
    return out;
  }

  // What an instruction of which nothing is known makes of what goes in.
  Sum otherwise(Instruction &inst, ArrayRef<Sum> from) const {
    return any_of(from, [](const Sum &sum) { return sum.floats; }) ? failed() : unknown(&inst);
  }

  // The same, looking at all operands; calls hide what they do with theirs.
  Sum otherwise(Instruction &inst, unsigned depth) {
    SmallVector<Sum, 4> from;
    for (Value *operand : inst.operands())
      if (operand->getType()->isIntOrIntVectorTy())
        from.push_back(look(operand, depth + 1));
    return otherwise(inst, from);
  }

  const Sum &look(Value *value, unsigned depth) {
    const auto known = sums_.find(value);
    if (known != sums_.end())
      return known->second;
    // What goes round is a loop's own count, until something else is found.
    sums_[value] = unknown(value);
    Sum found = depth > kDepthLimit ? failed() : find(value, depth);
    if (found.terms.size() > kTermLimit)
      found = failed();
    return sums_[value] = std::move(found);
  }

  Sum find(Value *value, unsigned depth) {
    if (isa<Constant>(value))
      return {};
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst)
      return unknown(value);
    if (auto *cast = dyn_cast<CastInst>(inst))
      return ofCast(*cast, depth);
    if (auto *math = dyn_cast<BinaryOperator>(inst))
      return ofBinary(*math, depth);
    if (auto *select = dyn_cast<SelectInst>(inst))
      return ofSelect(*select, depth);
    if (auto *phi = dyn_cast<PHINode>(inst))
      return ofParts(*phi, SmallVector<Value *, 4>(phi->incoming_values()), depth);
    if (isa<InsertElementInst>(inst))
      return ofParts(*inst, {inst->getOperand(0), inst->getOperand(1)}, depth);
    if (isa<FreezeInst>(inst))
      return look(inst->getOperand(0), depth + 1);
    if (auto *extract = dyn_cast<ExtractElementInst>(inst))
      return ofElement(*extract, depth);
    if (auto *call = dyn_cast<IntrinsicInst>(inst))
      switch (call->getIntrinsicID()) {
      case Intrinsic::fptosi_sat:
      case Intrinsic::fptoui_sat:
      case Intrinsic::lrint:
      case Intrinsic::llrint:
      case Intrinsic::lround:
      case Intrinsic::llround:
        return whole(*call);
      default:
        return otherwise(*inst, depth);
      }
    if (isa<CallBase>(inst))
      return unknown(inst);
    if (auto *checked = checkedOf(*inst))
      return otherwise(*inst, {look(checked->getLHS(), depth + 1), look(checked->getRHS(), depth + 1)});
    if (auto *load = dyn_cast<LoadInst>(inst)) {
      // A table of constants.
      const auto *global = dyn_cast<GlobalVariable>(getUnderlyingObject(load->getPointerOperand()));
      if (global && global->isConstant())
        return {};
      const Type *real = enz::floatOf(*load);
      return real ? bitsOf(load, mantissaOf(real)) : unknown(inst);
    }
    return otherwise(*inst, depth);
  }

  // Whether a float has no digits behind the point left, for what was added to it, so that its bits count: by an
  // integer that is rounded. If so, what that is made of.
  static std::optional<Sum> ofCounted(Value *source, int mantissa) {
    Value *number = nullptr, *by = nullptr;
    const APFloat *large = nullptr;
    const auto isLarge = [&](Value *value) {
      // Of one or two leading bits: others are added to numbers of their own size.
      return match(value, m_APFloat(large)) && large->isFiniteNonZero() && ilogb(*large) >= mantissa &&
             large->bitcastToAPInt().countr_zero() >= static_cast<unsigned>(mantissa) - 1;
    };
    if (match(source, m_Intrinsic<Intrinsic::fmuladd>(m_Value(), m_Value(), m_Value(by))) ||
        match(source, m_Intrinsic<Intrinsic::fma>(m_Value(), m_Value(), m_Value(by))))
      return isLarge(by) ? std::optional(counted(source, ilogb(*large) - mantissa, mantissa)) : std::nullopt;
    const bool difference = match(source, m_FSub(m_Value(number), m_Value(by)));
    if (!difference && !match(source, m_FAdd(m_Value(number), m_Value(by))))
      return std::nullopt;
    if (!isLarge(by))
      std::swap(number, by);
    if (!isLarge(by))
      return std::nullopt;
    // The bits of a negative float count its size: that of `x - c` is `c - x`.
    Sum out = counted(number, ilogb(*large) - mantissa, mantissa);
    out.terms[0].minus = large->isNegative() != difference;
    out.terms[0].vague = false;
    return out;
  }

  // The bits of a rounded number; of which, is not known yet.
  static Sum counted(Value *number, int places, int mantissa) {
    Sum out;
    out.floats = out.worked = true;
    out.terms.push_back({Term::Whole, number, -1, -places, places, mantissa + places, false, 1, true, {}});
    return out;
  }

  static Sum bitsOf(Value *source, unsigned mantissa) {
    if (source->getType()->isFPOrFPVectorTy())
      if (const auto counted = ofCounted(source, static_cast<int>(mantissa)))
        return *counted;
    Sum out;
    out.floats = true;
    out.terms.push_back({Term::Bits, source, -1, 0, 0, static_cast<int>(mantissa), false, 1, false, {}});
    return out;
  }

  static Sum whole(Instruction &inst) {
    Value *from = enz::unrounded(inst.getOperand(0));
    if (!isFloat(from->getType()->getScalarType()) || isa<ScalableVectorType>(from->getType()))
      return failed();
    Sum out;
    out.floats = true;
    out.terms.push_back({Term::Whole, from, -1, 0, 0, widthOf(&inst), false, 1, false, {}});
    return out;
  }

  Sum ofCast(CastInst &cast, unsigned depth) {
    Value *from = cast.getOperand(0);
    switch (cast.getOpcode()) {
    case Instruction::BitCast: {
      if (!isFloat(from->getType()->getScalarType()))
        return from->getType()->getScalarType()->isFloatingPointTy() ? failed() : otherwise(cast, depth);
      if (isa<ScalableVectorType>(from->getType()) || lanesOf(from->getType()) != lanesOf(cast.getType()) ||
          from->getType()->isVectorTy() != cast.getType()->isVectorTy())
        return failed();
      return bitsOf(from, mantissaOf(from->getType()));
    }
    case Instruction::FPToSI:
    case Instruction::FPToUI:
      return whole(cast);
    case Instruction::Trunc:
    case Instruction::ZExt:
    case Instruction::SExt:
      // Of one bit: a condition.
      if (from->getType()->isIntOrIntVectorTy(1))
        return {};
      return cut(look(from, depth + 1), widthOf(&cast));
    case Instruction::PtrToInt:
      return unknown(&cast);
    default:
      return failed();
    }
  }

  // `sum`, of which the places below zero and from `width` on are lost.
  static Sum cut(Sum sum, int width) {
    sum.worked = true;
    for (Term &term : sum.terms) {
      const int low = std::max(term.low, -term.shift), high = std::min(term.high, width - term.shift);
      if (term.isScaled() && (low != term.low || high != term.high))
        return failed();
      term.low = low;
      term.high = high;
    }
    erase_if(sum.terms, [](const Term &term) { return term.low >= term.high; });
    return sum;
  }

  static Sum shifted(Sum sum, int by, int width) {
    for (Term &term : sum.terms) {
      if (term.isScaled() && by < 0)
        return failed();
      term.shift += by;
    }
    return cut(std::move(sum), width);
  }

  // `sum` where `mask` is set, zero elsewhere.
  static Sum masked(Sum sum, const APInt &mask) {
    sum.worked = true;
    for (Term &term : sum.terms) {
      const APInt part = APInt::getBitsSet(mask.getBitWidth(), static_cast<unsigned>(term.low + term.shift),
                                           static_cast<unsigned>(term.high + term.shift));
      const APInt left = part & mask;
      if (left == part)
        continue;
      unsigned first = 0, count = 0;
      if (left.isZero()) {
        term.high = term.low;
      } else if (left.isShiftedMask(first, count) && !term.isScaled()) {
        term.low = static_cast<int>(first) - term.shift;
        term.high = term.low + static_cast<int>(count);
      } else {
        return failed();
      }
    }
    erase_if(sum.terms, [](const Term &term) { return term.low >= term.high; });
    return sum;
  }

  static Sum negated(Sum sum) {
    for (Term &term : sum.terms)
      term.minus = !term.minus;
    return sum;
  }

  static Sum added(Sum a, const Sum &b) {
    if (!a.known || !b.known)
      return failed();
    a.floats |= b.floats;
    a.worked = true;
    for (const Term &term : b.terms) {
      // Two parts of one number that are put together again.
      auto *beside = find_if(a.terms, [&](const Term &other) {
        return term.sameBut(other) && (term.high == other.low || other.high == term.low);
      });
      if (beside == a.terms.end()) {
        a.terms.push_back(term);
        continue;
      }
      beside->low = std::min(beside->low, term.low);
      beside->high = std::max(beside->high, term.high);
    }
    return a;
  }

  Sum ofBinary(BinaryOperator &math, unsigned depth) {
    const int width = widthOf(&math);
    // By value: looking at the second may move the first.
    const Sum a = look(math.getOperand(0), depth + 1), b = look(math.getOperand(1), depth + 1);
    if (!a.known || !b.known)
      return failed();
    const APInt *by = nullptr;
    const bool constant = match(math.getOperand(1), m_APInt(by));
    const auto places = [&] {
      return by->ult(static_cast<unsigned>(width)) ? static_cast<int>(by->getZExtValue()) : width;
    };
    switch (math.getOpcode()) {
    case Instruction::Add:
      return added(a, b);
    case Instruction::Sub:
      return added(a, negated(b));
    case Instruction::Shl:
      // A bit at a place that was computed: a power of two, or the end of an exponent, and no line through it.
      if (!constant && match(math.getOperand(0), m_ImmConstant()) && b.floats) {
        Sum out;
        out.floats = out.worked = true;
        return out;
      }
      return constant ? shifted(a, places(), width) : otherwise(math, {a, b});
    case Instruction::LShr:
    case Instruction::AShr:
      return constant ? shifted(a, -places(), width) : otherwise(math, {a, b});
    case Instruction::Mul:
      return constant && by->isPowerOf2() ? shifted(a, static_cast<int>(by->logBase2()), width)
                                          : otherwise(math, {a, b});
    case Instruction::SDiv:
    case Instruction::UDiv: {
      if (!constant || by->isZero() || by->isNegative())
        return otherwise(math, {a, b});
      if (!a.floats)
        return unknown(&math);
      Sum out = a;
      out.worked = true;
      for (Term &term : out.terms)
        term.factor /= by->roundToDouble();
      return out;
    }
    case Instruction::And:
      if (constant)
        return masked(a, *by);
      break;
    case Instruction::Or:
      if (constant)
        return masked(a, ~*by);
      break;
    case Instruction::Xor:
      if (constant) {
        Sum out = a;
        out.worked = true;
        for (Term &term : out.terms) {
          if (term.isScaled())
            return otherwise(math, {a, b});
          const APInt part = APInt::getBitsSet(by->getBitWidth(), static_cast<unsigned>(term.low + term.shift),
                                               static_cast<unsigned>(term.high + term.shift));
          if (part.isSubsetOf(*by))
            term.minus = !term.minus;
          else if (part.intersects(*by))
            return otherwise(math, {a, b});
        }
        return out;
      }
      break;
    default:
      return otherwise(math, {a, b});
    }
    if (!a.floats && !b.floats)
      return unknown(&math);
    if (math.getOpcode() == Instruction::And)
      return otherwise(math, {a, b});
    const KnownBits left = computeKnownBits(math.getOperand(0), query_);
    const KnownBits right = computeKnownBits(math.getOperand(1), query_);
    return KnownBits::haveNoCommonBitsSet(left, right) ? added(a, b) : otherwise(math, {a, b});
  }

  Sum ofSelect(SelectInst &select, unsigned depth) {
    const Sum a = look(select.getTrueValue(), depth + 1), b = look(select.getFalseValue(), depth + 1);
    if (!a.known || !b.known)
      return failed();
    if (!a.floats && !b.floats)
      return a.terms.empty() && b.terms.empty() ? Sum() : unknown(&select);
    Sum out;
    out.floats = true;
    out.worked = a.worked || b.worked;
    for (const auto &[sum, taken] : {std::pair(&a, true), std::pair(&b, false)})
      for (Term term : sum->terms) {
        term.when.emplace_back(select.getCondition(), taken);
        out.terms.push_back(std::move(term));
      }
    return out;
  }

  // What comes from one block or another, or from several lanes. What does not come from all may be there or not.
  Sum ofParts(Instruction &inst, ArrayRef<Value *> parts, unsigned depth) {
    SmallVector<Sum, 4> from;
    for (Value *value : parts)
      from.push_back(look(value, depth + 1));
    if (none_of(from, [](const Sum &sum) { return sum.floats; }))
      return unknown(&inst);
    Sum out;
    for (const Sum &sum : from) {
      if (!sum.known)
        return failed();
      out.floats |= sum.floats;
      out.worked |= sum.worked;
      out.terms.append(sum.terms);
    }
    const auto inAll = [&](const Term &term) {
      return all_of(from, [&](const Sum &sum) {
        return sum.terms.size() == 1 && sum.terms[0].sameBut(term) && sum.terms[0].low == term.low &&
               sum.terms[0].high == term.high;
      });
    };
    if (!out.terms.empty() && isa<PHINode>(inst) && inAll(out.terms[0]))
      out.terms.truncate(1);
    else
      for (Term &term : out.terms)
        term.vague = true;
    return out;
  }

  Sum ofElement(ExtractElementInst &extract, unsigned depth) {
    Value *vector = extract.getVectorOperand();
    const auto *index = dyn_cast<ConstantInt>(extract.getIndexOperand());
    if (!index || !isa<FixedVectorType>(vector->getType()) || index->getZExtValue() >= lanesOf(vector->getType()))
      return otherwise(extract, depth);
    const int lane = static_cast<int>(index->getZExtValue());
    // One half of a number.
    if (auto *cast = dyn_cast<BitCastInst>(vector); cast && isFloat(cast->getSrcTy())) {
      return shifted(bitsOf(cast->getOperand(0), mantissaOf(cast->getSrcTy())), -lane * widthOf(&extract),
                     widthOf(&extract));
    }
    Sum out = look(vector, depth + 1);
    for (Term &term : out.terms) {
      if (term.lane >= 0 || !term.source->getType()->isVectorTy() || !term.when.empty())
        return out.floats ? failed() : unknown(&extract);
      term.lane = lane;
    }
    return out;
  }

  static int mantissaOfSource(const Value &source) {
    const Type *type = source.getType();
    return static_cast<int>(mantissaOf(type->isIntegerTy() ? enz::floatOf(cast<LoadInst>(source)) : type));
  }

  // Whether the bits are those of the integer as a number, but for a constant: where its steps are of one or more.
  bool isConverted(const CastInst &root, const Term &term) const {
    const KnownBits bits = computeKnownBits(root.getOperand(0), query_);
    const unsigned width = bits.getBitWidth(), mantissa = mantissaOf(root.getDestTy());
    const KnownBits exponent = bits.extractBits(width - 1 - mantissa, mantissa);
    if (!exponent.isConstant())
      return false;
    const int bias = (1 << (width - 2 - mantissa)) - 1;
    return static_cast<int>(exponent.getConstant().getZExtValue()) - bias - static_cast<int>(mantissa) + term.shift >=
           0;
  }

  // The terms of the root that have a slope; nothing if it stays as it is.
  std::optional<SmallVector<Term, 2>> slopesOf(CastInst &root) {
    const Sum sum = look(root.getOperand(0), 0);
    if (!sum.known || !sum.floats)
      return std::nullopt;
    SmallVector<Term, 2> out;
    const bool cast = isa<BitCastInst>(root);
    const int mantissa = static_cast<int>(mantissaOf(root.getDestTy()));
    bool coarse = false, bits = false;
    for (const Term &term : sum.terms) {
      const int own = term.kind == Term::Bits ? mantissaOfSource(*term.source) : 0;
      // A quotient reaches down to the last place.
      const int low = term.isScaled() ? 0 : term.low + term.shift, high = term.high + term.shift;
      const int landed = cast ? std::min(high, mantissa) - low : high - low;
      if (landed <= 0)
        continue;
      if (term.vague)
        return std::nullopt;
      const bool enough = landed >= (cast ? mantissa : own) / 4;
      switch (term.kind) {
      case Term::Unknown:
        if (cast)
          return std::nullopt;
        break;
      case Term::Whole:
        // As a number it is rounded, which has no slope; so it is in the bits of one whose last place counts as much.
        if (cast && enough && !isConverted(root, term))
          out.push_back(term);
        break;
      case Term::Bits:
        bits = true;
        if (term.high == own && enough)
          out.push_back(term);
        else if (term.high == own || enough)
          coarse = true;
        break;
      }
    }
    if (cast && coarse)
      return std::nullopt;
    if (out.empty() && (!cast || !comesFromBits(root.getOperand(0))))
      return std::nullopt;
    // What is only moved is followed as it is.
    if (cast && bits && !sum.worked)
      return std::nullopt;
    return out;
  }

  // Whether bits of floats went into `value`, rather than only numbers that were converted.
  bool comesFromBits(Value *value) const {
    SmallVector<Value *, 16> work{value};
    SmallPtrSet<Value *, 16> seen;
    while (!work.empty()) {
      auto *inst = dyn_cast<Instruction>(work.pop_back_val());
      if (!inst || !seen.insert(inst).second)
        continue;
      if (auto *load = dyn_cast<LoadInst>(inst); load && enz::floatOf(*load))
        return true;
      if (isa<CallBase, LoadInst>(inst))
        continue;
      if (isa<BitCastInst>(inst) && inst->getOperand(0)->getType()->isFPOrFPVectorTy())
        return true;
      if (inst->getType()->isIntOrIntVectorTy())
        work.append(inst->op_begin(), inst->op_end());
    }
    return false;
  }

  FunctionCallee named(StringRef name, Type *real, ArrayRef<Type *> params) const {
    FunctionCallee callee = function_.getParent()->getOrInsertFunction(
        (name + (real->isDoubleTy() ? "f64" : "f32")).str(), FunctionType::get(real, params, false));
    if (auto *declared = dyn_cast<Function>(callee.getCallee())) {
      declared->setDoesNotAccessMemory();
      declared->setDoesNotThrow();
      declared->setWillReturn();
      declared->addFnAttr(Attribute::NoFree);
      declared->addFnAttr(Attribute::NoSync);
      declared->addFnAttr(Attribute::Speculatable);
    }
    return callee;
  }

  Value *steady(IRBuilder<> &at, Value *bits, Type *real) const {
    return at.CreateCall(named(kSteady, real, {bits->getType()}), {bits});
  }

  // The power of two below a float with these bits, and its sign; below the smallest normal number that one.
  Value *powerOf(IRBuilder<> &at, Value *bits, Type *real) const {
    const unsigned width = bits->getType()->getIntegerBitWidth(), mantissa = mantissaOf(real);
    const APInt exponent = APInt::getBitsSet(width, mantissa, width - 1);
    const APInt sign = APInt::getSignMask(width);
    const auto constant = [&](const APInt &value) { return ConstantInt::get(bits->getType(), value); };
    Value *kept = at.CreateAnd(bits, constant(sign | exponent));
    Value *least = at.CreateOr(kept, constant(APInt::getOneBitSet(width, mantissa)));
    return steady(at, at.CreateSelect(isSmall(at, bits, real), least, kept), real);
  }

  // Whether a float with these bits is below the smallest normal number.
  static Value *isSmall(IRBuilder<> &at, Value *bits, Type *real) {
    const unsigned width = bits->getType()->getIntegerBitWidth();
    const APInt exponent = APInt::getBitsSet(width, mantissaOf(real), width - 1);
    Value *kept = at.CreateAnd(bits, ConstantInt::get(bits->getType(), exponent));
    return at.CreateICmpEQ(kept, ConstantInt::get(bits->getType(), 0));
  }

  static Value *inLane(IRBuilder<> &at, Value *value, unsigned lane) {
    return value->getType()->isVectorTy() ? at.CreateExtractElement(value, lane) : value;
  }

  // Gives slopes to what `root` makes of bits, for its users or for `store`; whether there are any.
  bool rewrite(CastInst &root, StoreInst *store = nullptr) {
    const auto terms = slopesOf(root);
    if (!terms)
      return false;
    Type *real = root.getDestTy()->getScalarType();
    IRBuilder<> at(root.getNextNode());
    at.SetCurrentDebugLocation(root.getDebugLoc());
    // What other roots have made of this one gets its slopes, too.
    made_.clear();
    Value *whole = nullptr;
    if (root.getDestTy()->isVectorTy()) {
      Value *made = PoisonValue::get(root.getDestTy());
      for (unsigned lane = 0; lane < lanesOf(root.getDestTy()); ++lane)
        made = at.CreateInsertElement(made, along(at, root, lane, real, *terms), lane);
      whole = made;
    } else {
      whole = along(at, root, 0, real, *terms);
    }
    if (store)
      store->setOperand(0, whole);
    root.replaceUsesWithIf(whole, [&](const Use &use) { return !made_.contains(use.getUser()); });
    // What is made of the root is made of something else now.
    sums_.clear();
    return true;
  }

  // One lane of the root, with its slopes.
  Value *along(IRBuilder<> &at, CastInst &root, unsigned lane, Type *real, ArrayRef<Term> terms) {
    const bool cast = isa<BitCastInst>(root);
    Value *bits = inLane(at, root.getOperand(0), lane);
    Value *value = cast ? steady(at, bits, real) : inLane(at, &root, lane);
    if (!cast)
      made_.insert(value);
    for (const Term &term : terms) {
      Value *x = inLane(at, term.source, term.lane >= 0 ? static_cast<unsigned>(term.lane) : lane);
      if (x->getType()->isIntegerTy())
        x = at.CreateBitCast(x, enz::floatOf(*llvm::cast<LoadInst>(x)));
      Type *from = x->getType();
      Type *wide = from->isDoubleTy() || real->isDoubleTy() ? Type::getDoubleTy(real->getContext()) : real;
      const auto widened = [&](Value *v) { return at.CreateFPCast(v, wide); };
      int power = term.shift;
      Value *slope = nullptr;
      if (cast) {
        power -= static_cast<int>(mantissaOf(real));
        slope = widened(powerOf(at, bits, real));
      }
      double factor = term.minus ? -term.factor : term.factor;
      if (term.kind == Term::Bits)
        power += static_cast<int>(mantissaOf(from));
      Value *scale = ConstantFP::get(wide, std::ldexp(factor, power));
      slope = slope ? at.CreateFMul(slope, scale) : scale;
      if (term.kind == Term::Bits) {
        Type *word = IntegerType::get(real->getContext(), from->getPrimitiveSizeInBits());
        Value *read = at.CreateBitCast(x, word);
        slope = at.CreateFDiv(slope, widened(powerOf(at, read, from)));
        // Where a count shares its place with a float, the float is none: its exponent is zero.
        if (!cast)
          slope = at.CreateSelect(isSmall(at, read, from), ConstantFP::getZero(wide), slope);
      }
      for (const auto &[when, taken] : term.when) {
        Value *zero = ConstantFP::getZero(wide), *holds = inLane(at, when, lane);
        slope = taken ? at.CreateSelect(holds, slope, zero) : at.CreateSelect(holds, zero, slope);
      }
      Value *call = at.CreateCall(named(kAlong, real, {real, real, real}),
                                  {at.CreateFPCast(x, real), value, at.CreateFPCast(slope, real)});
      made_.insert(call);
      value = call;
    }
    return value;
  }

  Function &function_;
  SimplifyQuery query_;
  DenseMap<Value *, Sum> sums_;
  SmallPtrSet<Value *, 16> made_;
};

} // namespace

namespace enz {

bool giveSlopes(Function &function) { return Slopes(function).run(); }

void dropSlopes(Module &module) {
  for (Function &function : make_early_inc_range(module)) {
    const bool is_steady = function.getName().starts_with(kSteady);
    if (!function.isDeclaration() || (!is_steady && !function.getName().starts_with(kAlong)))
      continue;
    for (User *user : make_early_inc_range(function.users()))
      if (auto *call = dyn_cast<CallInst>(user); call && call->getCalledOperand() == &function) {
        IRBuilder<> at(call);
        Value *value = is_steady ? at.CreateBitCast(call->getArgOperand(0), call->getType()) : call->getArgOperand(1);
        call->replaceAllUsesWith(value);
        call->eraseFromParent();
      }
    if (function.use_empty())
      function.eraseFromParent();
  }
}

} // namespace enz
