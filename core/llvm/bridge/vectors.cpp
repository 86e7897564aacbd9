// Vector operations as the scalar or lane-wise ones that they stand for: reductions in order, accesses under masks lane
// by lane, and instructions of x86 by what its manual says that they do. The primal computes the same values, but for
// the order of sums that the instruction leaves open.
//
// Not handled: vectors of unknown length, accesses that compress or expand, instructions with a rounding mode or mask
// of AVX-512. They stay, and are refused if a derivative must go through them.

#include "support.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cmath>

using namespace llvm;

namespace {

unsigned lanesOf(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 0;
}

// --------------------------------------------------------------------------------------------------------- reductions

bool reduce(CallInst &call, Intrinsic::ID id) {
  Value *vector = call.getArgOperand(call.arg_size() - 1);
  const unsigned lanes = lanesOf(vector->getType());
  if (lanes == 0)
    return false;
  IRBuilder<> builder(&call);
  builder.setFastMathFlags(call.getFastMathFlags());
  const bool has_start = id == Intrinsic::vector_reduce_fadd || id == Intrinsic::vector_reduce_fmul;
  Value *sum = has_start ? call.getArgOperand(0) : builder.CreateExtractElement(vector, uint64_t(0));
  for (unsigned n = has_start ? 0 : 1; n < lanes; ++n) {
    Value *x = builder.CreateExtractElement(vector, n);
    switch (id) {
    case Intrinsic::vector_reduce_fadd:
      sum = builder.CreateFAdd(sum, x);
      break;
    case Intrinsic::vector_reduce_fmul:
      sum = builder.CreateFMul(sum, x);
      break;
    case Intrinsic::vector_reduce_fmin:
      sum = builder.CreateBinaryIntrinsic(Intrinsic::minnum, sum, x);
      break;
    case Intrinsic::vector_reduce_fmax:
      sum = builder.CreateBinaryIntrinsic(Intrinsic::maxnum, sum, x);
      break;
    case Intrinsic::vector_reduce_fminimum:
      sum = builder.CreateBinaryIntrinsic(Intrinsic::minimum, sum, x);
      break;
    default:
      sum = builder.CreateBinaryIntrinsic(Intrinsic::maximum, sum, x);
      break;
    }
  }
  call.replaceAllUsesWith(sum);
  return true;
}

// -------------------------------------------------------------------------------------------------------------- masks

// What a lane does if its bit of the mask is set; `body` gives the value that the lane then has, or null.
Value *underMask(CallInst &call, Value *mask, unsigned lane, Value *otherwise,
                 function_ref<Value *(IRBuilder<> &)> body) {
  IRBuilder<> builder(&call);
  Value *bit = nullptr;
  if (auto *constant = dyn_cast<Constant>(mask))
    bit = constant->getAggregateElement(lane);
  if (!bit)
    bit = builder.CreateExtractElement(mask, lane);
  if (auto *known = dyn_cast<ConstantInt>(bit))
    return known->isZero() ? otherwise : body(builder);
  Instruction *then = SplitBlockAndInsertIfThen(bit, call.getIterator(), /*Unreachable=*/false);
  IRBuilder<> inside(then);
  Value *value = body(inside);
  if (!value || !otherwise)
    return nullptr;
  IRBuilder<> after(call.getParent(), call.getParent()->begin());
  PHINode *phi = after.CreatePHI(value->getType(), 2);
  phi->addIncoming(value, then->getParent());
  phi->addIncoming(otherwise, cast<BasicBlock>(then->getParent()->getSinglePredecessor()));
  return phi;
}

bool isAllTrue(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  return constant && constant->isAllOnesValue();
}

// `address` of a lane; a lane of the vector of values `otherwise` or null.
using Address = function_ref<Value *(IRBuilder<> &, unsigned)>;

void loadLanes(CallInst &call, Type *type, Value *mask, Value *otherwise, Align align, Address address) {
  auto *vector = cast<FixedVectorType>(type);
  Value *out = otherwise;
  for (unsigned n = 0; n < vector->getNumElements(); ++n) {
    Value *old = otherwise;
    {
      IRBuilder<> builder(&call);
      old = builder.CreateExtractElement(otherwise, n);
    }
    Value *x = underMask(call, mask, n, old, [&](IRBuilder<> &builder) -> Value * {
      return builder.CreateAlignedLoad(vector->getElementType(), address(builder, n), align);
    });
    IRBuilder<> builder(&call);
    out = builder.CreateInsertElement(out, x, n);
  }
  call.replaceAllUsesWith(out);
}

void storeLanes(CallInst &call, Value *values, Value *mask, Align align, Address address) {
  for (unsigned n = 0; n < lanesOf(values->getType()); ++n)
    underMask(call, mask, n, nullptr, [&](IRBuilder<> &builder) -> Value * {
      builder.CreateAlignedStore(builder.CreateExtractElement(values, n), address(builder, n), align);
      return nullptr;
    });
}

Align laneAlign(const CallInst &call, unsigned operand, Type *type) {
  const uint64_t size = type->getScalarType()->getPrimitiveSizeInBits().getFixedValue() / 8;
  const Align stated = call.getParamAlign(operand).valueOrOne();
  return size ? commonAlignment(stated, size) : Align(1);
}

bool masked(CallInst &call, Intrinsic::ID id) {
  const bool stores = id == Intrinsic::masked_store || id == Intrinsic::masked_scatter;
  const bool scattered = id == Intrinsic::masked_gather || id == Intrinsic::masked_scatter;
  const unsigned at = stores ? 1 : 0;
  Type *type = stores ? call.getArgOperand(0)->getType() : call.getType();
  Value *mask = nullptr, *otherwise = nullptr;
  for (unsigned n = at + 1; n < call.arg_size(); ++n) {
    Value *arg = call.getArgOperand(n);
    if (arg->getType()->isVectorTy() && arg->getType()->getScalarType()->isIntegerTy(1) && !mask)
      mask = arg;
    else if (arg->getType() == type)
      otherwise = arg;
  }
  if (lanesOf(type) == 0 || !mask || (!stores && !otherwise))
    return false;
  Value *pointer = call.getArgOperand(at);
  Type *element = type->getScalarType();
  const Align align = laneAlign(call, at, type);
  if (!scattered && isAllTrue(mask)) {
    IRBuilder<> builder(&call);
    const Align whole = call.getParamAlign(at).valueOrOne();
    if (stores)
      builder.CreateAlignedStore(call.getArgOperand(0), pointer, whole);
    else
      call.replaceAllUsesWith(builder.CreateAlignedLoad(type, pointer, whole));
    return true;
  }
  auto address = [&](IRBuilder<> &builder, unsigned n) -> Value * {
    return scattered ? builder.CreateExtractElement(pointer, n)
                     : builder.CreateConstInBoundsGEP1_64(element, pointer, n);
  };
  if (stores)
    storeLanes(call, call.getArgOperand(0), mask, align, address);
  else
    loadLanes(call, type, mask, otherwise, align, address);
  return true;
}

// Lanes turned round, taken out or put in.
bool rearrange(CallInst &call, Intrinsic::ID id) {
  Value *from = call.getArgOperand(0);
  const unsigned lanes = lanesOf(call.getType()), given = lanesOf(from->getType());
  if (lanes == 0 || given == 0)
    return false;
  IRBuilder<> builder(&call);
  Value *out = nullptr;
  if (id == Intrinsic::vector_insert) {
    Value *part = call.getArgOperand(1);
    const auto *at = dyn_cast<ConstantInt>(call.getArgOperand(2));
    if (!at || lanesOf(part->getType()) == 0)
      return false;
    out = from;
    for (unsigned n = 0; n < lanesOf(part->getType()); ++n)
      out = builder.CreateInsertElement(out, builder.CreateExtractElement(part, n), at->getZExtValue() + n);
  } else {
    const auto *at = id == Intrinsic::vector_extract ? dyn_cast<ConstantInt>(call.getArgOperand(1)) : nullptr;
    if (id == Intrinsic::vector_extract && !at)
      return false;
    SmallVector<int, 16> mask;
    for (unsigned n = 0; n < lanes; ++n)
      mask.push_back(static_cast<int>(at ? at->getZExtValue() + n : given - 1 - n));
    out = builder.CreateShuffleVector(from, mask);
  }
  call.replaceAllUsesWith(out);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- x86

Value *signMask(IRBuilder<> &builder, Value *vector) {
  if (vector->getType()->getScalarType()->isFloatingPointTy())
    vector = builder.CreateBitCast(vector, VectorType::getInteger(cast<VectorType>(vector->getType())));
  return builder.CreateICmpSLT(vector, Constant::getNullValue(vector->getType()));
}

// Lanes of `a` and `b` (numbered on) picked by `pick`.
Value *shuffle(IRBuilder<> &builder, Value *a, Value *b, unsigned lanes, function_ref<int(unsigned)> pick) {
  SmallVector<int, 16> mask;
  for (unsigned n = 0; n < lanes; ++n)
    mask.push_back(pick(n));
  return builder.CreateShuffleVector(a, b, mask);
}

// Lane 0 of `value` in place of that of `rest`.
Value *inLaneZero(IRBuilder<> &builder, Value *rest, Value *value) {
  return builder.CreateInsertElement(rest, value, uint64_t(0));
}

Value *laneZero(IRBuilder<> &builder, Value *vector) { return builder.CreateExtractElement(vector, uint64_t(0)); }

std::optional<uint64_t> constantOf(const Value *value) {
  const auto *number = dyn_cast<ConstantInt>(value);
  return number ? std::optional<uint64_t>(number->getZExtValue()) : std::nullopt;
}

// Sums or differences of neighbours, within each 128 bits: those of `a`, then those of `b`.
Value *horizontal(IRBuilder<> &builder, Value *a, Value *b, bool subtract) {
  const unsigned lanes = lanesOf(a->getType());
  const unsigned group = 128 / a->getType()->getScalarSizeInBits();
  auto pick = [&](unsigned odd) {
    return shuffle(builder, a, b, lanes, [&](unsigned n) {
      const unsigned base = n / group * group, within = n % group, half = group / 2;
      const unsigned lane = base + within % half * 2 + odd;
      return static_cast<int>(within < half ? lane : lanes + lane);
    });
  };
  Value *even = pick(0), *odd = pick(1);
  return subtract ? builder.CreateFSub(even, odd) : builder.CreateFAdd(even, odd);
}

Value *dotProduct(IRBuilder<> &builder, Value *a, Value *b, uint64_t control) {
  const unsigned lanes = lanesOf(a->getType());
  const unsigned group = 128 / a->getType()->getScalarSizeInBits();
  Type *element = a->getType()->getScalarType();
  Value *zero = ConstantFP::getZero(element);
  Value *out = Constant::getNullValue(a->getType());
  Value *products = builder.CreateFMul(a, b);
  for (unsigned base = 0; base < lanes; base += group) {
    SmallVector<Value *, 4> terms;
    for (unsigned n = 0; n < group; ++n)
      terms.push_back(control >> (4 + n) & 1 ? builder.CreateExtractElement(products, base + n) : zero);
    while (terms.size() > 1) {
      SmallVector<Value *, 4> sums;
      for (unsigned n = 0; n + 1 < terms.size(); n += 2)
        sums.push_back(builder.CreateFAdd(terms[n], terms[n + 1]));
      terms = sums;
    }
    for (unsigned n = 0; n < group; ++n)
      if (control >> n & 1)
        out = builder.CreateInsertElement(out, terms[0], base + n);
  }
  return out;
}

Value *roundTo(IRBuilder<> &builder, Value *x, uint64_t control) {
  Intrinsic::ID id = Intrinsic::nearbyint;
  if (!(control & 4)) {
    constexpr Intrinsic::ID modes[] = {Intrinsic::roundeven, Intrinsic::floor, Intrinsic::ceil, Intrinsic::trunc};
    id = modes[control & 3];
  }
  return builder.CreateUnaryIntrinsic(id, x);
}

// Estimates: through a wrapper with a name that the table of rules knows.
Value *estimate(IRBuilder<> &builder, CallInst &call, StringRef what, Intrinsic::ID packed, Value *x) {
  Module &module = *call.getModule();
  const unsigned lanes = lanesOf(x->getType());
  const std::string name = ("enzyme.abi.llvm.x86" + what + ".v" + Twine(lanes) + "f32").str();
  Function *wrapper = module.getFunction(name);
  if (!wrapper) {
    auto *type = FunctionType::get(x->getType(), {x->getType()}, false);
    wrapper = Function::Create(type, GlobalValue::InternalLinkage, name, module);
    wrapper->setDoesNotAccessMemory();
    wrapper->setDoesNotThrow();
    wrapper->setWillReturn();
    wrapper->addFnAttr(Attribute::NoInline);
    for (StringRef feature : {"target-cpu", "target-features", "tune-cpu"})
      if (Attribute attribute = call.getFunction()->getFnAttribute(feature); attribute.isValid())
        wrapper->addFnAttr(attribute);
    IRBuilder<> body(BasicBlock::Create(module.getContext(), "entry", wrapper));
    body.CreateRet(body.CreateIntrinsic(packed, {}, {wrapper->getArg(0)}));
  }
  return builder.CreateCall(wrapper, {x});
}

// A lane chosen by a number within each group of `group` lanes.
Value *permute(IRBuilder<> &builder, Value *values, Value *indices, unsigned group, unsigned shift) {
  const unsigned lanes = lanesOf(values->getType());
  Type *number = indices->getType()->getScalarType();
  Value *out = PoisonValue::get(values->getType());
  for (unsigned n = 0; n < lanes; ++n) {
    Value *index = builder.CreateExtractElement(indices, n);
    index = builder.CreateAnd(builder.CreateLShr(index, shift), ConstantInt::get(number, group - 1));
    index = builder.CreateAdd(index, ConstantInt::get(number, n / group * group));
    out = builder.CreateInsertElement(out, builder.CreateExtractElement(values, index), n);
  }
  return out;
}

Value *minimum(IRBuilder<> &builder, Value *a, Value *b, bool largest) {
  return builder.CreateSelect(largest ? builder.CreateFCmpOGT(a, b) : builder.CreateFCmpOLT(a, b), a, b);
}

Value *gatherX86(CallInst &call) {
  // (otherwise, base, indices, mask, scale)
  Value *otherwise = call.getArgOperand(0), *base = call.getArgOperand(1), *indices = call.getArgOperand(2);
  const auto scale = constantOf(call.getArgOperand(4));
  if (!scale || !base->getType()->isPointerTy() || lanesOf(indices->getType()) < lanesOf(call.getType()))
    return nullptr;
  IRBuilder<> first(&call);
  Value *mask = signMask(first, call.getArgOperand(3));
  loadLanes(call, call.getType(), mask, otherwise, Align(1), [&](IRBuilder<> &builder, unsigned n) -> Value * {
    Value *index = builder.CreateSExt(builder.CreateExtractElement(indices, n), builder.getInt64Ty());
    return builder.CreateGEP(builder.getInt8Ty(), base, builder.CreateMul(index, builder.getInt64(*scale)));
  });
  return otherwise;
}

// All bits of the lanes for which the comparison is true. Only in whether they signal do the last sixteen differ.
Value *compared(IRBuilder<> &builder, Value *a, Value *b, uint64_t control) {
  constexpr CmpInst::Predicate predicates[] = {
      CmpInst::FCMP_OEQ, CmpInst::FCMP_OLT, CmpInst::FCMP_OLE, CmpInst::FCMP_UNO,
      CmpInst::FCMP_UNE, CmpInst::FCMP_UGE, CmpInst::FCMP_UGT, CmpInst::FCMP_ORD,
      CmpInst::FCMP_UEQ, CmpInst::FCMP_ULT, CmpInst::FCMP_ULE, CmpInst::FCMP_FALSE,
      CmpInst::FCMP_ONE, CmpInst::FCMP_OGE, CmpInst::FCMP_OGT, CmpInst::FCMP_TRUE};
  Type *bits = a->getType()->getScalarType()->isDoubleTy() ? builder.getInt64Ty() : builder.getInt32Ty();
  if (const unsigned lanes = lanesOf(a->getType()))
    bits = FixedVectorType::get(bits, lanes);
  Value *mask = builder.CreateSExt(builder.CreateFCmp(predicates[control % 16], a, b), bits);
  return builder.CreateBitCast(mask, a->getType());
}

// Numbers as integers: towards zero, or by the current rounding. What does not fit, and NaN, becomes the least integer.
Value *toIntegers(IRBuilder<> &builder, Value *x, Type *integer, bool towards_zero) {
  if (!towards_zero)
    x = builder.CreateUnaryIntrinsic(Intrinsic::rint, x);
  const unsigned bits = integer->getIntegerBitWidth();
  Type *type = x->getType()->getWithNewType(integer);
  const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
  Value *fits = builder.CreateAnd(builder.CreateFCmpOLT(x, ConstantFP::get(x->getType(), limit)),
                                  builder.CreateFCmpOGE(x, ConstantFP::get(x->getType(), -limit)));
  return builder.CreateSelect(fits, builder.CreateFPToSI(x, type),
                              ConstantInt::get(type, APInt::getSignedMinValue(bits)));
}

// `cvt` and `cvtt` from floats to signed integers, of a lane or of all, under a mask or not; null for other names.
Value *convertX86(IRBuilder<> &builder, CallInst &call, StringRef name) {
  auto arg = [&](unsigned n) { return call.getArgOperand(n); };
  Type *type = call.getType();
  StringRef what = name.substr(name.find('.') + 1);
  const bool masked = what.consume_front("mask.");
  if (!what.consume_front("cvt") || !type->getScalarType()->isIntegerTy())
    return nullptr;
  const bool towards_zero = what.consume_front("t");
  what.consume_front(".");
  const bool one = what.starts_with("ss2si") || what.starts_with("sd2si");
  if (!one && !what.starts_with("ps2dq") && !what.starts_with("pd2dq") && !what.starts_with("ps2qq") &&
      !what.starts_with("pd2qq"))
    return nullptr;
  if (one)
    return call.arg_size() == 1 ? toIntegers(builder, laneZero(builder, arg(0)), type, towards_zero) : nullptr;
  const unsigned lanes = lanesOf(type), given = lanesOf(arg(0)->getType());
  // 4 is the rounding that is set; 8 says that nothing is to be signalled.
  const auto rounding = call.arg_size() == 4 ? constantOf(arg(3)) : std::optional<uint64_t>(4);
  if (call.arg_size() > (masked ? 4 : 1) || !rounding || (*rounding != 4 && !(towards_zero && *rounding == 8)))
    return nullptr;
  // Lanes beyond those given are zero, whatever a mask says of them.
  const bool all = !masked || isAllTrue(arg(2));
  if (given > lanes || (given < lanes && !all))
    return nullptr;
  Value *out = toIntegers(builder, arg(0), type->getScalarType(), towards_zero);
  if (given < lanes)
    out = shuffle(builder, out, Constant::getNullValue(out->getType()), lanes,
                  [&](unsigned n) { return static_cast<int>(n < given ? n : given); });
  if (all)
    return out;
  const unsigned width = arg(2)->getType()->getIntegerBitWidth();
  Value *bits = builder.CreateBitCast(arg(2), FixedVectorType::get(builder.getInt1Ty(), width));
  bits = shuffle(builder, bits, bits, lanes, [](unsigned n) { return static_cast<int>(n); });
  return builder.CreateSelect(bits, out, arg(1));
}

// Whether `call` was replaced. `name` is what follows `llvm.x86.`.
bool rewriteX86(CallInst &call, StringRef name) {
  auto arg = [&](unsigned n) { return call.getArgOperand(n); };
  const unsigned count = call.arg_size();
  Type *type = call.getType();
  const bool single = name.ends_with(".ss") || name.ends_with(".sd");
  IRBuilder<> builder(&call);
  auto done = [&](Value *value) {
    call.replaceAllUsesWith(value);
    return true;
  };
  const StringRef stem = name.substr(name.find('.') + 1);
  const bool floats = type->getScalarType()->isFloatTy() || type->getScalarType()->isDoubleTy();

  if (name.contains(".maskload.") && count == 2 && lanesOf(type)) {
    loadLanes(call, type, signMask(builder, arg(1)), Constant::getNullValue(type), Align(1),
              [&](IRBuilder<> &b, unsigned n) -> Value * {
                return b.CreateConstInBoundsGEP1_64(type->getScalarType(), arg(0), n);
              });
    return true;
  }
  if (name.contains(".maskstore.") && count == 3) {
    Type *element = arg(2)->getType()->getScalarType();
    storeLanes(call, arg(2), signMask(builder, arg(1)), Align(1),
               [&](IRBuilder<> &b, unsigned n) -> Value * { return b.CreateConstInBoundsGEP1_64(element, arg(0), n); });
    return true;
  }
  if (name.starts_with("avx2.gather.") && count == 5 && lanesOf(type))
    return gatherX86(call) != nullptr;
  if (Value *integers = convertX86(builder, call, name))
    return done(integers);
  if (!floats || lanesOf(type) == 0)
    return false;

  if (stem.starts_with("min.") || stem.starts_with("max.")) {
    const bool current_rounding = count == 2 || (count == 3 && constantOf(arg(2)) == 4);
    if (!current_rounding)
      return false;
    const bool largest = stem.starts_with("max.");
    if (single)
      return done(
          inLaneZero(builder, arg(0), minimum(builder, laneZero(builder, arg(0)), laneZero(builder, arg(1)), largest)));
    return done(minimum(builder, arg(0), arg(1), largest));
  }
  if ((stem.starts_with("hadd.") || stem.starts_with("hsub.")) && count == 2)
    return done(horizontal(builder, arg(0), arg(1), stem.starts_with("hsub.")));
  if (stem.starts_with("addsub.") && count == 2) {
    const unsigned lanes = lanesOf(type);
    Value *less = builder.CreateFSub(arg(0), arg(1)), *more = builder.CreateFAdd(arg(0), arg(1));
    return done(shuffle(builder, less, more, lanes, [&](unsigned n) { return int(n % 2 ? lanes + n : n); }));
  }
  if (name.starts_with("fma.vfmaddsub.") && count == 3) {
    const unsigned lanes = lanesOf(type);
    Value *less = builder.CreateIntrinsic(Intrinsic::fma, {type}, {arg(0), arg(1), builder.CreateFNeg(arg(2))});
    Value *more = builder.CreateIntrinsic(Intrinsic::fma, {type}, {arg(0), arg(1), arg(2)});
    return done(shuffle(builder, less, more, lanes, [&](unsigned n) { return int(n % 2 ? lanes + n : n); }));
  }
  if ((stem == "dpps" || stem == "dppd" || stem.starts_with("dp.ps.")) && count == 3) {
    const auto control = constantOf(arg(2));
    return control && done(dotProduct(builder, arg(0), arg(1), *control));
  }
  if (stem.starts_with("cmp.") && count == 3 && arg(0)->getType() == type) {
    const auto control = constantOf(arg(2));
    if (!control || *control >= 32)
      return false;
    if (single)
      return done(inLaneZero(builder, arg(0),
                             compared(builder, laneZero(builder, arg(0)), laneZero(builder, arg(1)), *control)));
    return done(compared(builder, arg(0), arg(1), *control));
  }
  if (stem.starts_with("blendv") && count == 3)
    return done(builder.CreateSelect(signMask(builder, arg(2)), arg(1), arg(0)));
  if (stem.starts_with("round.")) {
    const auto control = constantOf(arg(count - 1));
    if (!control)
      return false;
    if (single)
      return count == 3 && done(inLaneZero(builder, arg(0), roundTo(builder, laneZero(builder, arg(1)), *control)));
    return count == 2 && done(roundTo(builder, arg(0), *control));
  }
  if (name == "sse41.insertps") {
    const auto control = constantOf(arg(2));
    if (!control)
      return false;
    Value *out =
        builder.CreateInsertElement(arg(0), builder.CreateExtractElement(arg(1), *control >> 6 & 3), *control >> 4 & 3);
    for (unsigned n = 0; n < 4; ++n)
      if (*control >> n & 1)
        out = builder.CreateInsertElement(out, ConstantFP::getZero(type->getScalarType()), n);
    return done(out);
  }
  if (stem.starts_with("vpermilvar.ps"))
    return done(permute(builder, arg(0), arg(1), 4, 0));
  if (stem.starts_with("vpermilvar.pd"))
    return done(permute(builder, arg(0), arg(1), 2, 1));
  if (name == "avx2.permps")
    return done(permute(builder, arg(0), arg(1), 8, 0));
  if (name.starts_with("avx512.permvar.") && count == 2)
    return done(permute(builder, arg(0), arg(1), lanesOf(type), 0));
  if (name == "avx.cvt.pd2.ps.256")
    return done(builder.CreateFPTrunc(arg(0), type));
  if (name == "sse2.cvtpd2ps") {
    Value *low = builder.CreateFPTrunc(arg(0), FixedVectorType::get(type->getScalarType(), 2));
    return done(shuffle(builder, low, Constant::getNullValue(low->getType()), 4, [](unsigned n) { return int(n); }));
  }
  if (name == "sse2.cvtsd2ss")
    return done(inLaneZero(builder, arg(0), builder.CreateFPTrunc(laneZero(builder, arg(1)), type->getScalarType())));

  for (const bool root : {false, true}) {
    const StringRef what = root ? "rsqrt" : "rcp";
    const StringRef packed = root ? "sse.rsqrt.ps" : "sse.rcp.ps", wide = root ? "avx.rsqrt.ps.256" : "avx.rcp.ps.256";
    const Intrinsic::ID four = root ? Intrinsic::x86_sse_rsqrt_ps : Intrinsic::x86_sse_rcp_ps;
    if (name == packed)
      return done(estimate(builder, call, what, four, arg(0)));
    if (name == wide)
      return done(estimate(builder, call, what, root ? Intrinsic::x86_avx_rsqrt_ps_256 : Intrinsic::x86_avx_rcp_ps_256,
                           arg(0)));
    if (name == (root ? "sse.rsqrt.ss" : "sse.rcp.ss"))
      return done(inLaneZero(builder, arg(0), laneZero(builder, estimate(builder, call, what, four, arg(0)))));
  }
  return false;
}

} // namespace

bool enz::rewriteVectorCall(CallInst &call) {
  const Function *callee = call.getCalledFunction();
  const Intrinsic::ID id = callee ? callee->getIntrinsicID() : Intrinsic::not_intrinsic;
  switch (id) {
  case Intrinsic::not_intrinsic:
    return false;
  case Intrinsic::vector_reduce_fadd:
  case Intrinsic::vector_reduce_fmul:
  case Intrinsic::vector_reduce_fmin:
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fminimum:
  case Intrinsic::vector_reduce_fmaximum:
    return reduce(call, id);
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
    return masked(call, id);
  case Intrinsic::vector_reverse:
  case Intrinsic::vector_extract:
  case Intrinsic::vector_insert:
    return rearrange(call, id);
  default: {
    StringRef name = callee->getName();
    return name.consume_front("llvm.x86.") && rewriteX86(call, name);
  }
  }
}

void enz::widenCopies(Function &function) {
  SmallVector<LoadInst *, 8> loads;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *load = dyn_cast<LoadInst>(&inst); load && load->isSimple() && lanesOf(load->getType()) &&
                                                  load->getType()->getScalarType()->isIntegerTy() &&
                                                  load->getType()->getScalarSizeInBits() % 8 == 0)
        if (!load->use_empty() && all_of(load->users(), [&](User *user) {
              auto *store = dyn_cast<StoreInst>(user);
              return store && store->isSimple() && store->getValueOperand() == load;
            }))
          loads.push_back(load);
  for (LoadInst *load : loads) {
    IRBuilder<> builder(load);
    Type *wide = builder.getIntNTy(static_cast<unsigned>(load->getType()->getPrimitiveSizeInBits().getFixedValue()));
    LoadInst *value = builder.CreateAlignedLoad(wide, load->getPointerOperand(), load->getAlign());
    value->copyMetadata(
        *load, {LLVMContext::MD_tbaa, LLVMContext::MD_dbg, LLVMContext::MD_noalias, LLVMContext::MD_alias_scope});
    for (User *user : make_early_inc_range(load->users())) {
      auto *store = cast<StoreInst>(user);
      IRBuilder<> there(store);
      StoreInst *copy = there.CreateAlignedStore(value, store->getPointerOperand(), store->getAlign());
      copy->copyMetadata(*store);
      store->eraseFromParent();
    }
    load->eraseFromParent();
  }
}

// Whether elements of this type may be floats that are moved as integers.
static bool movesFloats(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  const unsigned bits = vector && vector->getElementType()->isIntegerTy() ? vector->getScalarSizeInBits() : 0;
  return bits == 16 || bits == 32 || bits == 64;
}

// Reads and writes vectors of words as such where they are cast from or to ones of narrower integers. Returns whether
// there were any.
static bool moveWords(Function &function) {
  const auto isWords = [](const Value *value) {
    return lanesOf(value->getType()) && value->getType()->getScalarType()->isIntegerTy(64);
  };
  const auto isNarrow = [](const Value *value) {
    Type *type = value->getType()->getScalarType();
    return lanesOf(value->getType()) && type->isIntegerTy() && type->getIntegerBitWidth() < 64;
  };
  const auto widens = [&](const User *user) { return isa<BitCastInst>(user) && isWords(user); };
  SmallVector<LoadInst *, 8> loads;
  SmallVector<StoreInst *, 8> stores;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *load = dyn_cast<LoadInst>(&inst); load && load->isSimple() && isNarrow(load)) {
        if (!load->use_empty() && all_of(load->users(), widens))
          loads.push_back(load);
      } else if (auto *store = dyn_cast<StoreInst>(&inst);
                 store && store->isSimple() && isNarrow(store->getValueOperand())) {
        auto *cast = dyn_cast<BitCastInst>(store->getValueOperand());
        if (cast && isWords(cast->getOperand(0)))
          stores.push_back(store);
      }
  for (StoreInst *store : stores) {
    auto *cast = llvm::cast<BitCastInst>(store->getValueOperand());
    IRBuilder<> builder(store);
    builder.CreateAlignedStore(cast->getOperand(0), store->getPointerOperand(), store->getAlign());
    store->eraseFromParent();
    if (cast->use_empty())
      cast->eraseFromParent();
  }
  for (LoadInst *load : loads) {
    IRBuilder<> builder(load);
    Type *words = load->user_back()->getType();
    LoadInst *made = builder.CreateAlignedLoad(words, load->getPointerOperand(), load->getAlign());
    for (User *user : make_early_inc_range(load->users())) {
      user->replaceAllUsesWith(made);
      cast<Instruction>(user)->eraseFromParent();
    }
    load->eraseFromParent();
  }
  return !loads.empty() || !stores.empty();
}

// Whether the lanes of `vector` are only rearranged, and then written or taken out one by one.
static bool isRearranged(const Value &vector, unsigned depth = 0) {
  constexpr unsigned kDepth = 4;
  return depth < kDepth && !vector.use_empty() &&
         all_of(
             vector.users(),
             [&](const User *user) {
               if (const auto *store = dyn_cast<StoreInst>(user))
                 return store->isSimple() && store->getValueOperand() == &vector;
               if (const auto *part = dyn_cast<ExtractElementInst>(user))
                 return isa<ConstantInt>(part->getIndexOperand());
               return isa<ShuffleVectorInst>(user) && movesFloats(user->getType()) && isRearranged(*user, depth + 1);
             });
}

// Vectors of integers that are put together of what was read, or taken apart to be written, go element by element:
// integers that merely move are followed, whatever they are the bits of.
bool enz::splitIntegerVectors(Function &function) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  SmallVector<WeakTrackingVH, 16> dead;
  bool any = moveWords(function);
  const auto place = [&](IRBuilderBase &builder, Value *base, Type *elem, unsigned n) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base,
                                              n * layout.getTypeStoreSize(elem).getFixedValue());
  };
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      IRBuilder<> builder(&inst);
      if (auto *load = dyn_cast<LoadInst>(&inst); load && load->isSimple() && movesFloats(load->getType())) {
        const auto constant = [](const User *user) {
          const auto *part = dyn_cast<ExtractElementInst>(user);
          return part && isa<ConstantInt>(part->getIndexOperand());
        };
        Type *elem = load->getType()->getScalarType();
        const auto shuffled = [](const User *user) { return isa<ShuffleVectorInst>(user); };
        if (any_of(load->users(), shuffled) && isRearranged(*load)) {
          Value *whole = PoisonValue::get(load->getType());
          for (unsigned n = 0; n < cast<FixedVectorType>(load->getType())->getNumElements(); ++n) {
            const Align align = commonAlignment(load->getAlign(), n * layout.getTypeStoreSize(elem).getFixedValue());
            Value *one = builder.CreateAlignedLoad(elem, place(builder, load->getPointerOperand(), elem, n), align);
            whole = builder.CreateInsertElement(whole, one, n);
          }
          load->replaceAllUsesWith(whole);
          dead.push_back(load);
          any = true;
          continue;
        }
        if (load->use_empty() || !all_of(load->users(), constant))
          continue;
        for (User *user : make_early_inc_range(load->users())) {
          auto *part = cast<ExtractElementInst>(user);
          const uint64_t n = cast<ConstantInt>(part->getIndexOperand())->getZExtValue();
          if (n >= cast<FixedVectorType>(load->getType())->getNumElements())
            continue;
          const Align align = commonAlignment(load->getAlign(), n * layout.getTypeStoreSize(elem).getFixedValue());
          LoadInst *one = builder.CreateAlignedLoad(elem, place(builder, load->getPointerOperand(), elem, n), align);
          part->replaceAllUsesWith(one);
          dead.push_back(part);
          any = true;
        }
        dead.push_back(load);
      } else if (auto *part = dyn_cast<ExtractElementInst>(&inst); part && movesFloats(part->getVectorOperandType())) {
        const auto *n = dyn_cast<ConstantInt>(part->getIndexOperand());
        if (Value *scalar = n ? findScalarElement(part->getVectorOperand(), n->getZExtValue()) : nullptr) {
          part->replaceAllUsesWith(scalar);
          dead.push_back(part);
          any = true;
        }
      } else if (auto *store = dyn_cast<StoreInst>(&inst); store && store->isSimple() &&
                                                           movesFloats(store->getValueOperand()->getType()) &&
                                                           !isa<Constant>(store->getValueOperand())) {
        Value *vector = store->getValueOperand();
        const unsigned count = cast<FixedVectorType>(vector->getType())->getNumElements();
        SmallVector<Value *, 8> scalars;
        for (unsigned n = 0; n < count; ++n)
          scalars.push_back(findScalarElement(vector, n));
        if (!all_of(scalars, [](Value *v) { return v != nullptr; }))
          continue;
        Type *elem = vector->getType()->getScalarType();
        for (unsigned n = 0; n < count; ++n) {
          const Align align = commonAlignment(store->getAlign(), n * layout.getTypeStoreSize(elem).getFixedValue());
          if (!isa<PoisonValue>(scalars[n]))
            builder.CreateAlignedStore(scalars[n], place(builder, store->getPointerOperand(), elem, n), align);
        }
        dead.push_back(store);
        any = true;
      }
    }
  for (WeakTrackingVH &handle : dead)
    if (auto *inst = dyn_cast_or_null<Instruction>(handle))
      if (isa<StoreInst>(inst) || inst->use_empty())
        inst->eraseFromParent();
  return any;
}
