// `__enzyme_truncate_op_func`: a clone of a function whose floating-point operations are rounded to a narrower format.
//
// Operands are rounded, the operation is done in its own format, and its result is rounded. For + - * / and square
// roots that is the operation of the narrower format, since the wider one has at least twice as many digits and two
// more (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 1995); functions of the mathematical library
// are rounded results. Functions with a body that the function calls are cloned with it. Loads, stores, arguments and
// results stay as they are, and so do functions called through pointers or without a body. Not handled: atomic
// additions; formats that no type of LLVM has.

#include "support.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

class Truncation {
public:
  Truncation(EnzOpaqueHost &host, Type *from, Type *to) : host_(host), from_(from), to_(to) {}

  Function *clone(Function &function) {
    Function *&known = clones_[&function];
    if (known)
      return known;
    ValueToValueMapTy map;
    Function *copy = CloneFunction(&function, map);
    copy->setName("enzyme.truncated." + function.getName());
    copy->setLinkage(GlobalValue::InternalLinkage);
    copy->setComdat(nullptr);
    clones_[&function] = copy;
    SmallVector<Instruction *, 64> insts;
    for (BasicBlock &block : *copy)
      for (Instruction &inst : block)
        insts.push_back(&inst);
    for (Instruction *inst : insts)
      visit(*inst);
    return copy;
  }

private:
  bool isWide(const Type *type) const { return type->getScalarType() == from_; }

  Value *rounded(IRBuilder<> &b, Value *value) {
    Type *narrow = to_;
    if (auto *vector = dyn_cast<VectorType>(value->getType()))
      narrow = VectorType::get(to_, vector->getElementCount());
    return b.CreateFPExt(b.CreateFPTrunc(value, narrow), value->getType());
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
    auto *result = cast<Instruction>(rounded(b, &inst));
    auto *narrow = cast<Instruction>(result->getOperand(0));
    inst.replaceUsesWithIf(result, [&](Use &use) { return use.getUser() != narrow; });
  }

  bool isMath(const CallInst &call) {
    const Function *callee = call.getCalledFunction();
    if (!callee || !callee->isDeclaration() || !isWide(call.getType()))
      return false;
    if (callee->isIntrinsic())
      return true;
    LibFunc known;
    const auto &library =
        host_.functions->getResult<TargetLibraryAnalysis>(*const_cast<Function *>(call.getFunction()));
    return library.getLibFunc(*callee, known);
  }

  void visit(Instruction &inst) {
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
    } else if (auto *any = dyn_cast<CallBase>(&inst)) {
      Function *callee = any->getCalledFunction();
      if (callee && enz::exactBody(*callee) && callee->getFunctionType() == any->getFunctionType())
        any->setCalledFunction(clone(*callee));
    }
  }

  EnzOpaqueHost &host_;
  Type *from_;
  Type *to_;
  DenseMap<Function *, Function *> clones_;
};

Type *format(LLVMContext &context, uint32_t bits, uint32_t exponent, uint32_t digits) {
  if (bits == 16 || (exponent == 5 && digits == 10))
    return Type::getHalfTy(context);
  if (bits == 32 || (exponent == 8 && digits == 23))
    return Type::getFloatTy(context);
  if (bits == 64 || (exponent == 11 && digits == 52))
    return Type::getDoubleTy(context);
  if (exponent == 8 && digits == 7)
    return Type::getBFloatTy(context);
  return nullptr;
}

} // namespace

uint8_t enz_truncate(EnzHost host, EnzValue raw, EnzValue raw_function, uint32_t from, uint32_t to, uint32_t exponent,
                     uint32_t digits) {
  auto *call = enz::as<CallBase>(raw);
  auto *function = enz::as<Function>(raw_function);
  LLVMContext &context = host->module->getContext();
  Type *wide = format(context, from, 0, 0), *narrow = format(context, to, exponent, digits);
  if (!call || isa<CallBrInst>(call) || !function || !call->getType()->isPointerTy() || !wide || !narrow ||
      narrow->getPrimitiveSizeInBits() >= wide->getPrimitiveSizeInBits() || function->isDeclaration())
    return 0;
  Truncation truncation(*host, wide, narrow);
  Value *made = truncation.clone(*function);
  call->replaceAllUsesWith(made);
  host->functions->invalidate(*call->getFunction(), PreservedAnalyses::none());
  enz::drop(*call);
  return 1;
}
