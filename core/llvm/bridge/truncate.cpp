// `__enzyme_truncate_op_func`: a clone of a function whose floating-point operations are rounded to a narrower format;
// `__enzyme_truncate_mem_value`: a value rounded to it; `-enzyme-truncate-all`: all functions of a module.
//
// Operands are rounded, the operation is done in its own format, and its result is rounded. For + - * / and square
// roots that is the operation of the narrower format, since the wider one has at least twice as many digits and two
// more (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 1995); functions of the mathematical library
// are rounded results. Functions with a body that the function calls are cloned with it. Loads, stores, arguments and
// results stay as they are, and so do functions called through pointers or without a body. A format that no type of
// LLVM has, of so many bits of exponent and of digits, is a correction: `x + (rounded(x) - x)`, where the difference is
// exact, is worked out on the bits, and has no derivative. With over half the digits of the wider format a result may
// have been rounded twice.
//
// Values that are kept in a narrower format are values of the wider type here that the narrower one has: so programs
// that pass what they keep through the markers for values compute the same. Not handled: atomic additions; vectors of
// unknown length in a format that no type has. Formats with more digits or a wider range are those of widen.cpp.

#include "precision.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// A narrower format: a type, or so many bits of exponent and of digits.
struct Format {
  Type *type = nullptr;
  unsigned exponent = 0, digits = 0;
};

using enz::digitsOf, enz::exponentOf, enz::numberAt;

// A function of one value: what rounding it to `to` adds.
Function *correction(Module &module, Type *wide, const Format &to) {
  const unsigned bits = wide->getPrimitiveSizeInBits(), drop = digitsOf(wide) - to.digits;
  const std::string name = ("enzyme.rounding." + Twine(bits) + "." + Twine(to.exponent) + "." + Twine(to.digits)).str();
  // One that was optimised meanwhile may have lost its result, where nothing used it.
  if (Function *known = module.getFunction(name);
      known && known->getFunctionType() == FunctionType::get(wide, {wide}, false) && !known->isDeclaration())
    return known;
  auto *made = Function::Create(FunctionType::get(wide, {wide}, false), GlobalValue::InternalLinkage, name, module);
  made->addFnAttr("enzyme_inactive");
  made->addFnAttr(Attribute::NoInline);
  made->setDoesNotThrow();
  made->setWillReturn();
  made->setMemoryEffects(MemoryEffects::none());
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", made));
  Value *x = made->getArg(0);
  Type *integer = b.getIntNTy(bits);
  const int most = (1 << (to.exponent - 1)) - 1, least = 1 - most;
  auto power = [&](int n) {
    return ConstantFP::get(module.getContext(),
                           scalbn(APFloat::getOne(wide->getFltSemantics()), n, APFloat::rmNearestTiesToEven));
  };
  // To nearest, halves to even, on the bits; a carry goes into the exponent.
  Value *normal = x;
  if (drop > 0) {
    Value *raw = b.CreateBitCast(x, integer);
    const APInt one(bits, 1);
    Value *odd = b.CreateAnd(b.CreateLShr(raw, drop), ConstantInt::get(integer, one));
    Value *up = b.CreateAdd(b.CreateAdd(raw, ConstantInt::get(integer, one.shl(drop - 1) - 1)), odd);
    normal = b.CreateBitCast(b.CreateAnd(up, ConstantInt::get(integer, ~(one.shl(drop) - 1))), wide);
  }
  // Below the least normal number the distance is fixed: that of numbers about this one.
  Value *size = b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value *about = power(least + static_cast<int>(drop));
  Value *small = b.CreateFSub(b.CreateFAdd(size, about), about);
  Value *tiny = b.CreateFCmpOLT(size, power(least));
  Value *rounded = b.CreateSelect(tiny, b.CreateBinaryIntrinsic(Intrinsic::copysign, small, x), normal);
  // Beyond the greatest, (2 - 2^-digits) 2^most, everything is infinite.
  APFloat greatest = APFloat::getOne(wide->getFltSemantics());
  greatest.add(greatest, APFloat::rmNearestTiesToEven);
  greatest.subtract(
      scalbn(APFloat::getOne(wide->getFltSemantics()), -static_cast<int>(to.digits), APFloat::rmNearestTiesToEven),
      APFloat::rmNearestTiesToEven);
  Value *limit = ConstantFP::get(module.getContext(), scalbn(greatest, most, APFloat::rmNearestTiesToEven));
  Value *infinity = ConstantFP::getInfinity(wide);
  Value *over = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(Intrinsic::fabs, rounded), limit);
  rounded = b.CreateSelect(over, b.CreateBinaryIntrinsic(Intrinsic::copysign, infinity, x), rounded);
  Value *special = b.CreateFCmpUEQ(size, infinity);
  Value *more = b.CreateSelect(special, Constant::getNullValue(wide), b.CreateFSub(rounded, x));
  // Minus zero stays what it is.
  b.CreateRet(b.CreateSelect(b.CreateFCmpOEQ(x, Constant::getNullValue(wide)), x, more));
  return made;
}

// `value`, of the type `wide` or vectors of it, rounded to `to`.
Value *roundedTo(IRBuilder<> &b, Value *value, Type *wide, const Format &to) {
  auto *vector = dyn_cast<VectorType>(value->getType());
  if (to.type) {
    Type *narrow = vector ? VectorType::get(to.type, vector->getElementCount()) : to.type;
    return b.CreateFPExt(b.CreateFPTrunc(value, narrow), value->getType());
  }
  Function *function = correction(*b.GetInsertBlock()->getModule(), wide, to);
  auto more = [&](Value *x) {
    CallInst *call = b.CreateCall(function, x);
    // An earlier one may have been optimised meanwhile.
    call->setCallingConv(function->getCallingConv());
    return call;
  };
  if (!vector)
    return b.CreateFAdd(value, more(value));
  Value *all = Constant::getNullValue(vector);
  for (unsigned n = 0; n < vector->getElementCount().getKnownMinValue(); ++n)
    all = b.CreateInsertElement(all, more(b.CreateExtractElement(value, n)), n);
  return b.CreateFAdd(value, all);
}

class Truncation {
public:
  Truncation(EnzOpaqueHost &host, Type *from, Format to) : host_(host), from_(from), to_(to) {}

  // All operations of `function`, which calls what it has called.
  void truncate(Function &function) {
    SmallVector<Instruction *, 64> insts;
    for (BasicBlock &block : function)
      for (Instruction &inst : block)
        insts.push_back(&inst);
    for (Instruction *inst : insts)
      operation(*inst);
  }

  Function *clone(Function &function) { return clones_.of(function); }

private:
  bool isWide(const Type *type) const { return type->getScalarType() == from_; }

  Value *rounded(IRBuilder<> &b, Value *value) {
    if (!to_.type && isa<ScalableVectorType>(value->getType()))
      return value;
    return roundedTo(b, value, from_, to_);
  }

  void roundOperands(Instruction &inst) {
    IRBuilder<> b(&inst);
    // No flag may let the two conversions vanish.
    b.clearFastMathFlags();
    const unsigned count = isa<CallBase>(inst) ? cast<CallBase>(inst).arg_size() : inst.getNumOperands();
    for (unsigned i = 0; i < count; ++i)
      if (isWide(inst.getOperand(i)->getType()))
        inst.setOperand(i, rounded(b, inst.getOperand(i)));
  }

  void roundResult(Instruction &inst) {
    IRBuilder<> b(inst.getParent(), std::next(inst.getIterator()));
    b.clearFastMathFlags();
    b.SetCurrentDebugLocation(inst.getDebugLoc());
    SmallPtrSet<User *, 8> before;
    for (User *user : inst.users())
      before.insert(user);
    Value *result = rounded(b, &inst);
    inst.replaceUsesWithIf(result, [&](Use &use) { return before.contains(use.getUser()); });
  }

  bool isMath(const CallInst &call) { return isWide(call.getType()) && enz::isMathematical(host_, call); }

  // Whether `inst` is an operation, which is rounded then.
  bool operation(Instruction &inst) {
    if (isa<BinaryOperator, UnaryOperator>(inst) && isWide(inst.getType())) {
      roundOperands(inst);
      roundResult(inst);
    } else if (isa<FCmpInst>(inst)) {
      roundOperands(inst);
    } else if (isa<SIToFPInst, UIToFPInst>(inst) && isWide(inst.getType())) {
      roundResult(inst);
    } else if (auto *call = dyn_cast<CallInst>(&inst); call && isMath(*call)) {
      roundOperands(inst);
      roundResult(inst);
    } else {
      return false;
    }
    return true;
  }

  EnzOpaqueHost &host_;
  Type *from_;
  Format to_;
  enz::Clones clones_{"enzyme.truncated.", [this](Instruction &inst) { return operation(inst); }};
};

// The format of so many bits, or bits of exponent and digits, if it is narrower than `wide`.
std::optional<Format> narrower(LLVMContext &context, Type *wide, uint32_t bits, uint32_t exponent, uint32_t digits) {
  if (!wide)
    return std::nullopt;
  if (Type *type = enz::formatOf(context, bits, exponent, digits)) {
    const bool less = type->getPrimitiveSizeInBits() < wide->getPrimitiveSizeInBits();
    return less ? std::optional(Format{type}) : std::nullopt;
  }
  const bool fits = bits == 0 && exponent >= 2 && digits >= 1 && exponent <= exponentOf(wide) &&
                    digits <= digitsOf(wide) && exponent + digits < exponentOf(wide) + digitsOf(wide);
  return fits ? std::optional(Format{nullptr, exponent, digits}) : std::nullopt;
}

// Rounds the first argument of a call, as the others say; false if they do not say how.
bool roundValue(CallBase &call) {
  const auto from = numberAt(call, 1), to = numberAt(call, 2), digits = numberAt(call, 3);
  if (!from || !to || call.arg_size() != (digits ? 4u : 3u) || isa<CallBrInst>(call) ||
      call.getType() != call.getArgOperand(0)->getType())
    return false;
  Type *wide = enz::formatOf(call.getContext(), *from, 0, 0);
  const auto narrow = narrower(call.getContext(), wide, digits ? 0 : *to, digits ? *to : 0, digits ? *digits : 0);
  if (!narrow || call.getType() != wide)
    return false;
  IRBuilder<> b(&call);
  b.clearFastMathFlags();
  call.replaceAllUsesWith(roundedTo(b, call.getArgOperand(0), wide, *narrow));
  enz::drop(call);
  return true;
}

} // namespace

void enz::roundValues(Module &module) {
  SmallVector<CallBase *, 8> rounds, expands;
  for (Function &function : module) {
    const bool rounding = function.getName().contains("__enzyme_truncate_mem_value");
    if (!function.isDeclaration() || !(rounding || function.getName().contains("__enzyme_expand_mem_value")))
      continue;
    for (User *user : function.users())
      if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledOperand() == &function)
        (rounding ? rounds : expands).push_back(call);
  }
  for (CallBase *call : rounds)
    if (!roundValue(*call))
      enz::keepValue(*call, true);
  for (CallBase *call : expands)
    if (!enz::keepValue(*call, false) && call->arg_size() >= 1 &&
        call->getType() == call->getArgOperand(0)->getType()) {
      call->replaceAllUsesWith(call->getArgOperand(0));
      enz::drop(*call);
    }
}

uint8_t enz_truncate_all(EnzHost host, uint32_t from, uint32_t to, uint32_t exponent, uint32_t digits) {
  Module &module = *host->module;
  Type *wide = enz::formatOf(module.getContext(), from, 0, 0);
  const auto narrow = narrower(module.getContext(), wide, to, exponent, digits);
  // A module may come by once more, on its way to a link.
  const std::string mark = ("enzyme.truncated." + Twine(from)).str();
  if (module.getNamedMetadata(mark))
    return 1;
  SmallVector<Function *, 32> functions;
  for (Function &function : module)
    if (!function.isDeclaration() && !function.getName().starts_with("enzyme.") &&
        !function.getName().contains("enzyme_fprt_"))
      functions.push_back(&function);
  if (!narrow && !enz::widenAll(*host, from, to, exponent, digits, functions))
    return 0;
  module.getOrInsertNamedMetadata(mark);
  for (Function *function : functions) {
    if (narrow)
      Truncation(*host, wide, *narrow).truncate(*function);
    host->functions->invalidate(*function, PreservedAnalyses::none());
  }
  return 1;
}

uint8_t enz_truncate(EnzHost host, EnzValue raw, EnzValue raw_function, uint32_t from, uint32_t to, uint32_t exponent,
                     uint32_t digits) {
  auto *call = enz::as<CallBase>(raw);
  auto *function = enz::as<Function>(raw_function);
  LLVMContext &context = host->module->getContext();
  Type *wide = enz::formatOf(context, from, 0, 0);
  const auto narrow = narrower(context, wide, to, exponent, digits);
  if (!call || isa<CallBrInst>(call) || !function || !call->getType()->isPointerTy() || !narrow ||
      function->isDeclaration())
    return 0;
  Truncation truncation(*host, wide, *narrow);
  Value *made = truncation.clone(*function);
  call->replaceAllUsesWith(made);
  host->functions->invalidate(*call->getFunction(), PreservedAnalyses::none());
  enz::drop(*call);
  return 1;
}
