// `__enzyme_truncate_op_func` and `__enzyme_truncate_mem_func` to formats with more digits or a wider range than the
// type has that is replaced, or with more of the one and less of the other.
//
// Operations: where a type of LLVM has the format, they are done in that type, and may be differentiated. Otherwise the
// functions of <enzyme/fprt/mpfr.h> do them, and give results rounded back. Such a result is written as
// `y + (wide(x) - y)`, y that of the operation itself: the difference is exact and has no derivative, as in
// truncate.cpp.
//
// Memory: numbers that no type holds are kept in a table, and what is loaded, stored and passed says where (a quiet
// NaN, see the header); a value that says nothing is itself, so constants and memory full of zeros are numbers as they
// are. Operations, comparisons and conversions are calls. Functions without a body get what a double or float has of
// the number.
//
// Not handled: bits of kept numbers that are read as another type by way of memory other than a local variable.
// Refused: bits taken as another type otherwise, atomic arithmetic on them, calls through pointers that pass them,
// vectors of unknown length, and, where the format has no type, replacing one of 16 bits.

#include "precision.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Scalar/SROA.h"

#include <cmath>

using namespace llvm;

namespace {

constexpr uint64_t kOperations = 1, kMemory = 2;

struct Wider {
  Type *from, *type; // of operations, where a type has the format
  unsigned exponent, digits;
  bool memory;

  bool isSmallerSomewhere() const { return exponent < enz::exponentOf(from) || digits < enz::digitsOf(from); }
};

// Of operations that <enzyme/fprt/mpfr.h> has, the number of operands; 0 of others.
unsigned operandsOf(StringRef name) {
#define ENZYME_FPRT_1(word, function) .Case(#word, 1)
#define ENZYME_FPRT_2(word, function) .Case(#word, 2)
#define ENZYME_FPRT_3(word, function) .Case(#word, 3)
  return StringSwitch<unsigned>(name)
#include "../../../include/enzyme/fprt/flops.def"
      .Default(0);
}

std::string nameOf(const Instruction &inst, bool is_float) {
  switch (inst.getOpcode()) {
  case Instruction::FNeg:
    return "neg";
  case Instruction::FAdd:
    return "add";
  case Instruction::FSub:
    return "sub";
  case Instruction::FMul:
    return "mul";
  case Instruction::FDiv:
    return "div";
  case Instruction::FRem:
    return "fmod";
  default:
    break;
  }
  const auto *call = dyn_cast<CallInst>(&inst);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee)
    return "";
  StringRef name = callee->getName();
  if (callee->isIntrinsic()) {
    name = Intrinsic::getBaseName(callee->getIntrinsicID());
    name.consume_front("llvm.");
  } else if (is_float && !name.consume_back("f")) {
    return "";
  }
  return StringSwitch<std::string>(name)
      .Cases({"minnum", "minimumnum"}, "fmin")
      .Cases({"maxnum", "maximumnum"}, "fmax")
      .Case("fmuladd", "fma")
      .Case("powi", "pow")
      .Case("scalbn", "ldexp")
      .Default(name.str());
}

// Values are passed on as they are.
bool passesOn(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
  case Intrinsic::vector_insert:
  case Intrinsic::vector_extract:
  case Intrinsic::vector_reverse:
  case Intrinsic::arithmetic_fence:
  case Intrinsic::canonicalize:
  case Intrinsic::ssa_copy:
  case Intrinsic::fake_use:
    return true;
  default:
    return false;
  }
}

// The operation that a reduction repeats.
StringRef reductionOf(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::vector_reduce_fadd:
    return "add";
  case Intrinsic::vector_reduce_fmul:
    return "mul";
  case Intrinsic::vector_reduce_fmin:
    return "fmin";
  case Intrinsic::vector_reduce_fmax:
    return "fmax";
  case Intrinsic::vector_reduce_fminimum:
    return "minimum";
  case Intrinsic::vector_reduce_fmaximum:
    return "maximum";
  default:
    return "";
  }
}

class Runtime {
public:
  explicit Runtime(const Wider &to) : to_(to) {}

  // A number by an operation on numbers of the type that is replaced.
  Value *number(IRBuilder<> &b, StringRef name, ArrayRef<Value *> operands, uint64_t mode) const {
    SmallVector<Value *, 8> args{b.getInt32(width())};
    for (Value *operand : operands)
      args.push_back(bits(b, operand));
    args.append({b.getInt64(to_.exponent), b.getInt64(to_.digits), b.getInt64(mode)});
    return fromBits(b, call(b, name, b.getInt64Ty(), args));
  }

  // Whether two numbers are in the relation.
  Value *compare(IRBuilder<> &b, CmpInst::Predicate predicate, Value *x, Value *y) const {
    Value *order =
        call(b, "compare", b.getInt32Ty(),
             {b.getInt32(width()), bits(b, x), bits(b, y), b.getInt64(to_.exponent), b.getInt64(to_.digits)});
    // Predicates are sets of those bits.
    return b.CreateICmpNE(b.CreateAnd(order, b.getInt32(predicate)), b.getInt32(0));
  }

  Value *ofInteger(IRBuilder<> &b, Value *integer, bool is_signed) const {
    Value *wide = b.CreateIntCast(integer, b.getInt64Ty(), is_signed);
    return fromBits(b, call(b, "of_integer", b.getInt64Ty(),
                            {b.getInt32(width()), wide, b.getInt32(is_signed), b.getInt64(to_.exponent),
                             b.getInt64(to_.digits), b.getInt64(kMemory)}));
  }

  Value *toInteger(IRBuilder<> &b, Value *number, Type *type, bool is_signed) const {
    Value *wide = call(b, "to_integer", b.getInt64Ty(),
                       {b.getInt32(width()), bits(b, number), b.getInt32(is_signed), b.getInt64(to_.exponent),
                        b.getInt64(to_.digits)});
    return b.CreateTrunc(wide, type);
  }

private:
  unsigned width() const { return to_.from->getPrimitiveSizeInBits(); }

  Value *bits(IRBuilder<> &b, Value *number) const {
    return b.CreateZExt(b.CreateBitCast(number, b.getIntNTy(width())), b.getInt64Ty());
  }

  Value *fromBits(IRBuilder<> &b, Value *bits) const {
    return b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(width())), to_.from);
  }

  static CallInst *call(IRBuilder<> &b, StringRef name, Type *result, ArrayRef<Value *> args) {
    SmallVector<Type *, 8> types;
    for (Value *arg : args)
      types.push_back(arg->getType());
    Module &module = *b.GetInsertBlock()->getModule();
    auto callee = module.getOrInsertFunction(("__enzyme_fprt_" + name).str(), FunctionType::get(result, types, false));
    CallInst *made = b.CreateCall(callee, args);
    made->setDoesNotThrow();
    return made;
  }

  Wider to_;
};

class Widening {
public:
  Widening(EnzOpaqueHost &host, const Wider &to) : host_(host), to_(to), runtime_(to) {}

  Function *clone(Function &function) {
    Function *made = clones_.of(function);
    if (to_.memory)
      for (Function *copy : clones_.all())
        forget(*copy);
    return made;
  }

  // All operations of `function`, which calls what it has called.
  void widen(Function &function) {
    SmallVector<Instruction *, 64> insts;
    for (BasicBlock &block : function)
      for (Instruction &inst : block)
        insts.push_back(&inst);
    for (Instruction *inst : insts)
      operation(*inst);
  }

  // Why it can't be done, if so.
  const std::string &problem() const { return problem_; }

private:
  struct Operation {
    std::string name;
    SmallVector<Value *, 3> operands;
  };

  bool isReplaced(const Type *type) const { return type->getScalarType() == to_.from; }

  bool refuse(const Instruction &inst, const Twine &why) {
    if (problem_.empty()) {
      const DILocation *place = inst.getDebugLoc().get();
      problem_ = (why + " in '" + inst.getFunction()->getName() + "'").str();
      if (place)
        problem_ += (", " + place->getFilename() + ":" + Twine(place->getLine())).str();
    }
    return true;
  }

  std::optional<Operation> operationOf(Instruction &inst) {
    if (!isReplaced(inst.getType()))
      return std::nullopt;
    auto *call = dyn_cast<CallInst>(&inst);
    if (!isa<BinaryOperator, UnaryOperator>(inst) && !(call && enz::isMathematical(host_, *call)))
      return std::nullopt;
    Operation found{nameOf(inst, to_.from->isFloatTy()), {}};
    const unsigned wanted = operandsOf(found.name), count = call ? call->arg_size() : inst.getNumOperands();
    if (wanted == 0 || count != wanted)
      return std::nullopt;
    for (unsigned n = 0; n < count; ++n) {
      Value *operand = inst.getOperand(n);
      if (!isReplaced(operand->getType()) && !operand->getType()->isIntegerTy())
        return std::nullopt;
      found.operands.push_back(operand);
    }
    return found;
  }

  // What `make` gives of each lane of the operands, or of them; null where the lanes can't be counted.
  Value *lanes(IRBuilder<> &b, ArrayRef<Value *> operands, const function_ref<Value *(ArrayRef<Value *>)> make) {
    auto *vector = dyn_cast<FixedVectorType>(operands[0]->getType());
    if (!vector)
      return isa<VectorType>(operands[0]->getType()) ? nullptr : make(operands);
    Value *all = nullptr;
    for (unsigned n = 0; n < vector->getNumElements(); ++n) {
      SmallVector<Value *, 3> of_lane;
      for (Value *operand : operands)
        of_lane.push_back(operand->getType()->isVectorTy() ? b.CreateExtractElement(operand, n) : operand);
      Value *made = make(of_lane);
      if (!all)
        all = PoisonValue::get(FixedVectorType::get(made->getType(), vector->getNumElements()));
      all = b.CreateInsertElement(all, made, n);
    }
    return all;
  }

  // The operands of an operation, those that are integers as numbers.
  SmallVector<Value *, 3> numbers(IRBuilder<> &b, const Operation &operation) {
    SmallVector<Value *, 3> all;
    for (Value *operand : operation.operands)
      all.push_back(isReplaced(operand->getType()) ? operand : b.CreateSIToFP(operand, to_.from));
    return all;
  }

  // ---- operations -------------------------------------------------------------------------------------------------

  bool operation(Instruction &inst) {
    const auto found = operationOf(inst);
    if (found && to_.type)
      return natively(inst, *found);
    if (found)
      return corrected(inst, found->name, found->operands);
    if (to_.type || !to_.isSmallerSomewhere())
      return false;
    if (isa<SIToFPInst, UIToFPInst>(inst) && isReplaced(inst.getType()))
      return corrected(inst, "of", {&inst});
    if (auto *compare = dyn_cast<FCmpInst>(&inst); compare && isReplaced(compare->getOperand(0)->getType())) {
      IRBuilder<> b(&inst);
      for (unsigned n = 0; n < 2; ++n)
        if (Value *rounded = lanes(b, {inst.getOperand(n)},
                                   [&](ArrayRef<Value *> x) { return runtime_.number(b, "of", x, kOperations); }))
          inst.setOperand(n, rounded);
      return true;
    }
    return false;
  }

  // In the type that has the format.
  bool natively(Instruction &inst, const Operation &found) {
    if (found.name == "neg" || found.name == "fabs" || found.name == "copysign")
      return true;
    IRBuilder<> b(&inst);
    b.clearFastMathFlags();
    auto *vector = dyn_cast<VectorType>(inst.getType());
    Type *wide = vector ? VectorType::get(to_.type, vector->getElementCount()) : to_.type;
    SmallVector<Value *, 3> args;
    for (Value *operand : found.operands)
      args.push_back(isReplaced(operand->getType()) ? b.CreateFPExt(operand, wide) : operand);
    Value *result = nullptr;
    if (auto *binary = dyn_cast<BinaryOperator>(&inst)) {
      result = b.CreateBinOp(binary->getOpcode(), args[0], args[1]);
    } else if (auto *intrinsic = dyn_cast<IntrinsicInst>(&inst)) {
      SmallVector<Type *, 2> types{wide};
      if (args.size() == 2 && args[1]->getType()->isIntegerTy())
        types.push_back(args[1]->getType());
      result = b.CreateIntrinsic(intrinsic->getIntrinsicID(), types, args);
    } else {
      SmallVector<Type *, 3> types;
      for (Value *arg : args)
        types.push_back(arg->getType());
      auto &call = cast<CallInst>(inst);
      // That for doubles; there is none with a name for wider types.
      StringRef name = call.getCalledFunction()->getName();
      name.consume_back("f");
      auto callee = call.getModule()->getOrInsertFunction(name, FunctionType::get(wide, types, false));
      CallInst *made = b.CreateCall(callee, args);
      made->setAttributes(call.getAttributes());
      result = made;
    }
    inst.replaceAllUsesWith(b.CreateFPTrunc(result, inst.getType()));
    inst.eraseFromParent();
    return true;
  }

  // What an operation in the format adds to its result in the type.
  Function *correction(const std::string &name, unsigned count) {
    Module &module = *host_.module;
    const std::string full = ("enzyme.wider." + Twine(to_.from->getPrimitiveSizeInBits()) + "." + Twine(to_.exponent) +
                              "." + Twine(to_.digits) + "." + name)
                                 .str();
    SmallVector<Type *, 4> types(count + 1, to_.from);
    auto *type = FunctionType::get(to_.from, types, false);
    if (Function *known = module.getFunction(full);
        known && known->getFunctionType() == type && !known->isDeclaration())
      return known;
    auto *made = Function::Create(type, GlobalValue::InternalLinkage, full, module);
    made->addFnAttr("enzyme_inactive");
    made->addFnAttr(Attribute::NoInline);
    made->setDoesNotThrow();
    made->setWillReturn();
    made->setMemoryEffects(MemoryEffects::none());
    IRBuilder<> b(BasicBlock::Create(module.getContext(), "", made));
    SmallVector<Value *, 3> operands;
    for (unsigned n = 1; n <= count; ++n)
      operands.push_back(made->getArg(n));
    Value *wide = runtime_.number(b, name, operands, kOperations);
    // Minus zero changes no number, and no zero.
    Value *same = b.CreateFCmpOEQ(wide, made->getArg(0));
    b.CreateRet(b.CreateSelect(same, ConstantFP::getNegativeZero(to_.from), b.CreateFSub(wide, made->getArg(0))));
    return made;
  }

  bool corrected(Instruction &inst, const std::string &name, ArrayRef<Value *> operands) {
    IRBuilder<> b(inst.getParent(), std::next(inst.getIterator()));
    b.clearFastMathFlags();
    b.SetCurrentDebugLocation(inst.getDebugLoc());
    SmallPtrSet<User *, 8> before;
    for (User *user : inst.users())
      before.insert(user);
    Instruction *result = &inst;
    // Its result must be finite wherever that of the format is.
    if (auto *intrinsic = dyn_cast<IntrinsicInst>(&inst);
        intrinsic && intrinsic->getIntrinsicID() == Intrinsic::fmuladd)
      intrinsic->setCalledFunction(
          Intrinsic::getOrInsertDeclaration(inst.getModule(), Intrinsic::fma, {inst.getType()}));
    SmallVector<Value *, 4> all{result};
    Operation named{name, SmallVector<Value *, 3>(operands)};
    for (Value *number : numbers(b, named))
      all.push_back(number);
    Function *function = correction(name, operands.size());
    Value *more = lanes(b, all, [&](ArrayRef<Value *> of_lane) -> Value * {
      CallInst *call = b.CreateCall(function, of_lane);
      call->setCallingConv(function->getCallingConv());
      return call;
    });
    if (!more)
      return refuse(inst, "vectors of unknown length");
    Value *sum = b.CreateFAdd(result, more);
    SmallPtrSet<Value *, 2> kept{sum};
    inst.replaceUsesWithIf(sum, [&](Use &use) { return before.contains(use.getUser()); });
    return true;
  }

  // ---- memory -----------------------------------------------------------------------------------------------------

  void replace(Instruction &inst, Value *by) {
    inst.replaceAllUsesWith(by);
    inst.eraseFromParent();
  }

  // What the type has of a kept number.
  Value *taken(IRBuilder<> &b, Value *value) {
    return lanes(b, {value}, [&](ArrayRef<Value *> x) { return runtime_.number(b, "of", x, kOperations); });
  }

  bool takeOperands(Instruction &inst, unsigned count) {
    IRBuilder<> b(&inst);
    for (unsigned n = 0; n < count; ++n)
      if (isReplaced(inst.getOperand(n)->getType())) {
        Value *value = taken(b, inst.getOperand(n));
        if (!value)
          return refuse(inst, "vectors of unknown length");
        inst.setOperand(n, value);
      }
    return true;
  }

  bool inMemory(Instruction &inst) {
    if (!problem_.empty())
      return true;
    // What says where a number is kept is a NaN.
    if (isa<FPMathOperator>(inst))
      inst.copyFastMathFlags(FastMathFlags());
    IRBuilder<> b(&inst);
    const auto unary = [&](Value *operand, const function_ref<Value *(Value *)> make) {
      Value *made = lanes(b, {operand}, [&](ArrayRef<Value *> x) { return make(x[0]); });
      if (made)
        replace(inst, made);
      return made ? true : refuse(inst, "vectors of unknown length");
    };
    if (const auto found = operationOf(inst)) {
      Value *made = lanes(b, numbers(b, *found), [&](ArrayRef<Value *> operands) {
        return runtime_.number(b, found->name, operands, kMemory);
      });
      if (!made)
        return refuse(inst, "vectors of unknown length");
      replace(inst, made);
      return true;
    }
    if (auto *compare = dyn_cast<FCmpInst>(&inst); compare && isReplaced(compare->getOperand(0)->getType())) {
      Value *made = lanes(b, {compare->getOperand(0), compare->getOperand(1)}, [&](ArrayRef<Value *> x) -> Value * {
        return runtime_.compare(b, compare->getPredicate(), x[0], x[1]);
      });
      if (!made)
        return refuse(inst, "vectors of unknown length");
      replace(inst, made);
      return true;
    }
    if (isa<SIToFPInst, UIToFPInst>(inst) && isReplaced(inst.getType())) {
      if (inst.getOperand(0)->getType()->getScalarSizeInBits() > 64)
        return refuse(inst, "a conversion of more than 64 bits");
      return unary(inst.getOperand(0), [&](Value *x) { return runtime_.ofInteger(b, x, isa<SIToFPInst>(inst)); });
    }
    if (isa<FPToSIInst, FPToUIInst>(inst) && isReplaced(inst.getOperand(0)->getType())) {
      Type *to = inst.getType()->getScalarType();
      if (to->getIntegerBitWidth() > 64)
        return refuse(inst, "a conversion of more than 64 bits");
      return unary(inst.getOperand(0), [&](Value *x) { return runtime_.toInteger(b, x, to, isa<FPToSIInst>(inst)); });
    }
    if (isa<FPExtInst, FPTruncInst>(inst))
      return takeOperands(inst, 1);
    if (isa<BitCastInst>(inst) && isReplaced(inst.getOperand(0)->getType()) && !isReplaced(inst.getType()))
      return refuse(inst, "the bits of a number are taken as another type");
    if (auto *atomic = dyn_cast<AtomicRMWInst>(&inst); atomic && atomic->isFloatingPointOperation())
      return refuse(inst, "atomic arithmetic");
    if (auto *call = dyn_cast<CallBase>(&inst))
      return callInMemory(*call);
    return false;
  }

  bool callInMemory(CallBase &call) {
    const Function *callee = call.getCalledFunction();
    const bool passes = any_of(call.args(), [&](Value *arg) { return isReplaced(arg->getType()); });
    if (callee && callee->isIntrinsic()) {
      const StringRef repeated = reductionOf(callee->getIntrinsicID());
      if (!repeated.empty() && isReplaced(call.getType()))
        return reduce(call, repeated);
      return passesOn(callee->getIntrinsicID()) || takeOperands(call, call.arg_size());
    }
    if (callee && (enz::exactBody(*callee) || callee->getName().contains("__enzyme_")))
      return false;
    if (!callee && passes)
      return refuse(call, "a call through a pointer passes a number");
    return takeOperands(call, call.arg_size());
  }

  bool reduce(CallBase &call, StringRef name) {
    IRBuilder<> b(&call);
    Value *vector = call.getArgOperand(call.arg_size() - 1);
    auto *type = dyn_cast<FixedVectorType>(vector->getType());
    if (!type)
      return refuse(call, "vectors of unknown length");
    unsigned next = call.arg_size() == 2 ? 0 : 1;
    Value *all = next == 0 ? call.getArgOperand(0) : b.CreateExtractElement(vector, uint64_t(0));
    for (; next < type->getNumElements(); ++next)
      all = runtime_.number(b, name, {all, b.CreateExtractElement(vector, next)}, kMemory);
    replace(call, all);
    return true;
  }

  // What was true of a function and its calls before numbers were kept in memory of their own, and were NaNs.
  static void forget(Function &copy) {
    for (StringRef name : {"no-nans-fp-math", "no-infs-fp-math", "unsafe-fp-math"})
      copy.removeFnAttr(name);
    constexpr Attribute::AttrKind kinds[] = {Attribute::Memory, Attribute::NoSync, Attribute::NoFree,
                                             Attribute::Speculatable};
    AttributeMask facts, classes;
    for (Attribute::AttrKind kind : kinds)
      facts.addAttribute(kind);
    classes.addAttribute(Attribute::NoFPClass);
    copy.removeFnAttrs(facts);
    copy.removeRetAttrs(classes);
    for (Argument &arg : copy.args())
      arg.removeAttrs(classes);
    for (BasicBlock &block : copy)
      for (Instruction &inst : block)
        if (auto *call = dyn_cast<CallBase>(&inst); call && !isa<IntrinsicInst>(call)) {
          call->removeFnAttrs(facts);
          call->removeRetAttrs(classes);
          for (unsigned n = 0; n < call->arg_size(); ++n)
            call->removeParamAttrs(n, classes);
        }
  }

  EnzOpaqueHost &host_;
  Wider to_;
  Runtime runtime_;
  std::string problem_;
  enz::Clones clones_{"enzyme.widened.",
                      [this](Instruction &inst) { return to_.memory ? inMemory(inst) : operation(inst); },
                      [this](Function &copy) {
                        // Bits that are taken by way of a local variable are seen then.
                        if (to_.memory)
                          SROAPass(SROAOptions::PreserveCFG).run(copy, *host_.functions);
                      }};
};

// The format of so many bits, or of so many of exponent and digits, if it is not that of `from` or a part of it.
std::optional<Wider> wider(Type *from, uint32_t bits, uint32_t exponent, uint32_t digits, bool memory) {
  if (!from)
    return std::nullopt;
  Type *type = enz::formatOf(from->getContext(), bits, exponent, digits);
  if (type) {
    exponent = enz::exponentOf(type);
    digits = enz::digitsOf(type);
  } else if (bits == 80) {
    exponent = 15;
    digits = 63;
  } else if (bits >= 128 && bits % 32 == 0) {
    // IEEE 754-2019, table 3.5.
    exponent = static_cast<uint32_t>(std::lround(4.0 * std::log2(bits))) - 13;
    digits = bits - exponent - 1;
  } else if (bits != 0) {
    return std::nullopt;
  }
  const unsigned own_exponent = enz::exponentOf(from), own_digits = enz::digitsOf(from);
  constexpr unsigned kMostExponent = 30, kMostDigits = 1 << 24;
  if (exponent < 2 || digits < 1 || exponent > kMostExponent || digits > kMostDigits ||
      (exponent <= own_exponent && digits <= own_digits))
    return std::nullopt;
  const bool holds = exponent >= own_exponent && digits >= own_digits;
  Wider found{from, type && holds && !memory ? type : nullptr, exponent, digits, memory};
  // A number is passed in 64 or 32 bits.
  return found.type || from->isDoubleTy() || from->isFloatTy() ? std::optional(found) : std::nullopt;
}

} // namespace

bool enz::keepValue(CallBase &call, bool in) {
  const auto from = numberAt(call, 1), to = numberAt(call, 2), digits = numberAt(call, 3);
  if (!from || !to || call.arg_size() != (digits ? 4u : 3u) || isa<CallBrInst>(call) ||
      call.getType() != call.getArgOperand(0)->getType())
    return false;
  Type *type = formatOf(call.getContext(), *from, 0, 0);
  const auto format = wider(type, digits ? 0 : *to, digits ? *to : 0, digits ? *digits : 0, true);
  if (!format || call.getType() != type)
    return false;
  IRBuilder<> b(&call);
  Value *made = Runtime(*format).number(b, "of", {call.getArgOperand(0)}, in ? kMemory : kOperations);
  call.replaceAllUsesWith(made);
  enz::drop(call);
  return true;
}

bool enz::widenAll(EnzOpaqueHost &host, uint32_t from, uint32_t to, uint32_t exponent, uint32_t digits,
                   ArrayRef<Function *> functions) {
  const auto format = wider(formatOf(host.module->getContext(), from, 0, 0), to, exponent, digits, false);
  if (!format)
    return false;
  Widening widening(host, *format);
  for (Function *function : functions)
    widening.widen(*function);
  return widening.problem().empty();
}

uint8_t enz_widen(EnzHost host, EnzValue raw, EnzValue raw_function, uint32_t from, uint32_t to, uint32_t exponent,
                  uint32_t digits, uint8_t memory, EnzTextSink why, void *context) {
  auto *call = enz::as<CallBase>(raw);
  auto *function = enz::as<Function>(raw_function);
  const auto format = wider(enz::formatOf(host->module->getContext(), from, 0, 0), to, exponent, digits, memory);
  if (!call || isa<CallBrInst>(call) || !function || !call->getType()->isPointerTy() || !format ||
      function->isDeclaration())
    return 0;
  Widening widening(*host, *format);
  Function *made = widening.clone(*function);
  if (!widening.problem().empty()) {
    why(context, widening.problem().data(), widening.problem().size());
    return 0;
  }
  call->replaceAllUsesWith(made);
  host->functions->invalidate(*call->getFunction(), PreservedAnalyses::none());
  enz::drop(*call);
  return 1;
}
