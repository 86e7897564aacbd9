// Loops over time that a program writes as a call, with a function for a step:
//
//   __enzyme_checkpoint_for(step, start, n, notes..., args...)    for (i = start; i < start + n; i++) step(i, args...);
//   __enzyme_checkpoint_while(step, notes..., args...)            i = 0; while (step(i++, args...));
//
// The notes are `enzyme_scheme, scheme, data` and `enzyme_checkpoint_region, address, bytes`. The call becomes that of
// a function with the loop, which is marked as one that keeps states (checkpoint.cpp), unless the scheme is to keep
// all: the schedule is the engine's own, which finds out what a state is.
//
// Not handled, so left and refused by name: steps that are known at run time only, that take structures by value, or
// whose parameters the arguments do not fit.

#include "checkpoint.h"
#include "support.h"

#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

constexpr StringLiteral kFor = "__enzyme_checkpoint_for";
constexpr StringLiteral kWhile = "__enzyme_checkpoint_while";
// States that are kept of a loop: 1,000 steps are then done twice each at most, 30,000 four times.
constexpr int kStates = 32;

StringRef noteOf(const Value *value) {
  if (auto *load = dyn_cast<LoadInst>(value))
    value = load->getPointerOperand();
  auto *global = dyn_cast<GlobalVariable>(value->stripPointerCasts());
  return global && global->getName().starts_with("enzyme_") ? global->getName() : StringRef();
}

struct Steps {
  Function *step = nullptr;
  bool counted = false;
  bool keeps_all = false;
  SmallVector<Value *, 8> args;
};

bool read(const CallBase &call, bool counted, Steps &out) {
  const unsigned first = counted ? 3 : 1;
  if (call.arg_size() < first || !call.getType()->isVoidTy())
    return false;
  out.counted = counted;
  out.step = dyn_cast<Function>(enz::resolve(call.getArgOperand(0)));
  if (!out.step || (counted && (!call.getArgOperand(1)->getType()->isIntegerTy() ||
                                !call.getArgOperand(2)->getType()->isIntegerTy())))
    return false;
  for (unsigned at = first; at < call.arg_size();) {
    const StringRef note = noteOf(call.getArgOperand(at));
    if (note.empty()) {
      out.args.push_back(call.getArgOperand(at++));
      continue;
    }
    if ((note != "enzyme_scheme" && note != "enzyme_checkpoint_region") || at + 2 >= call.arg_size())
      return false;
    const Value *scheme = call.getArgOperand(at + 1)->stripPointerCasts();
    out.keeps_all |= note == "enzyme_scheme" && scheme->getName() == "EnzymeCkptStoreAll";
    at += 3;
  }
  const FunctionType *type = out.step->getFunctionType();
  if (type->isVarArg() || type->getNumParams() != out.args.size() + 1 ||
      (!counted && !type->getReturnType()->isIntegerTy()))
    return false;
  for (const Argument &param : out.step->args())
    if (param.hasByValAttr() || param.hasStructRetAttr())
      return false;
  Type *index = type->getParamType(0);
  return index->isIntegerTy() || index->isPointerTy();
}

// The loop as a function of start, number of steps, and arguments; null if these do not fit.
Function *write(Module &module, const Steps &steps) {
  LLVMContext &context = module.getContext();
  auto *i64 = Type::getInt64Ty(context);
  SmallVector<Type *, 8> types;
  if (steps.counted)
    types.append(2, i64);
  for (Value *arg : steps.args)
    types.push_back(arg->getType());
  auto *loop = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false), GlobalValue::InternalLinkage,
                                "enzyme.steps." + steps.step->getName(), module);
  for (const Attribute &attribute : steps.step->getAttributes().getFnAttrs())
    if (attribute.isStringAttribute() && attribute.getKindAsString().starts_with("target-"))
      loop->addFnAttr(attribute);
  auto *entry = BasicBlock::Create(context, "entry", loop), *body = BasicBlock::Create(context, "step", loop),
       *exit = BasicBlock::Create(context, "exit", loop);
  IRBuilder<> b(entry);
  Type *index = steps.step->getArg(0)->getType();
  Value *slot = index->isPointerTy() ? b.CreateAlloca(i64) : nullptr;
  Value *start = steps.counted ? static_cast<Value *>(loop->getArg(0)) : b.getInt64(0), *end = nullptr;
  if (steps.counted) {
    end = b.CreateAdd(start, loop->getArg(1));
    b.CreateCondBr(b.CreateICmpSLT(start, end), body, exit);
  } else {
    b.CreateBr(body);
  }
  b.SetInsertPoint(exit);
  b.CreateRetVoid();
  b.SetInsertPoint(body);
  PHINode *i = b.CreatePHI(i64, 2);
  i->addIncoming(start, entry);
  if (!steps.keeps_all)
    b.CreateCall(module.getOrInsertFunction(enz::kCheckpointMark, b.getVoidTy(), b.getInt32Ty()),
                 {b.getInt32(kStates)});
  SmallVector<Value *, 8> args{slot ? slot : b.CreateSExtOrTrunc(i, index)};
  if (slot)
    b.CreateStore(i, slot);
  for (unsigned n = 0; n < steps.args.size(); ++n) {
    Value *given = loop->getArg(n + (steps.counted ? 2 : 0));
    Value *fit = enz::converted(b, given, steps.step->getFunctionType()->getParamType(n + 1));
    if (!fit) {
      loop->eraseFromParent();
      return nullptr;
    }
    args.push_back(fit);
  }
  CallInst *call = b.CreateCall(steps.step, args);
  call->setCallingConv(steps.step->getCallingConv());
  Value *next = b.CreateAdd(i, b.getInt64(1));
  i->addIncoming(next, body);
  b.CreateCondBr(steps.counted ? b.CreateICmpSLT(next, end) : b.CreateIsNotNull(call), body, exit);
  // Whether a step can be repeated is known of its code, not of a call.
  if (!steps.step->isDeclaration() && isInlineViable(*steps.step).isSuccess()) {
    InlineFunctionInfo info;
    (void)InlineFunction(*call, info);
  }
  return loop;
}

} // namespace

void enz::writeStepLoops(Module &module) {
  SmallVector<CallBase *, 8> calls;
  for (Function &function : module)
    if (function.isDeclaration() && (function.getName().contains(kFor) || function.getName().contains(kWhile)))
      for (User *user : function.users())
        if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledOperand() == &function)
          calls.push_back(call);
  for (CallBase *call : calls) {
    Steps steps;
    if (!read(*call, call->getCalledOperand()->getName().contains(kFor), steps))
      continue;
    Function *loop = write(module, steps);
    if (!loop)
      continue;
    IRBuilder<> b(call);
    SmallVector<Value *, 8> args;
    if (steps.counted)
      for (unsigned n : {1u, 2u})
        args.push_back(b.CreateSExtOrTrunc(call->getArgOperand(n), b.getInt64Ty()));
    args.append(steps.args);
    enz::replaceCall(*call, *loop, args);
  }
}
