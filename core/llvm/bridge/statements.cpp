// Marker functions that ask for no derivative but state something where they are called:
//
//   __enzyme_ignore_derivatives(x)      x, through which no derivative flows
//   __enzyme_call_inactive(f, args...)  f(args...), through which no derivative flows
//   __enzyme_iter(n, k)                 n, and k more in each derivative: terms of a series that lose one of its end
//   __enzyme_virtualreverse(f)          f: a function pointer is its own shadow here
//   !enzyme_inactive of an instruction  the same of its result, if that is a float
//   __enzyme_float(p, bytes), ...       p points to bytes of this type
//   __enzyme_sum(x, ...), __enzyme_product(x, ...)    the sum and the product of numbers of one type
//   __enzyme_set_checkpointing(s, n)    __enzyme_checkpoint(n): the schedule is the engine's own, and 0 asks for none
//
// `mark` gives each the attributes that keep it where it is until functions are differentiated; `lower` replaces what
// is left afterwards by what it means to a program. Before a link the first kind gets a body instead, for the link step
// to find.

#include "checkpoint.h"
#include "rust.h"
#include "support.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace {

constexpr StringLiteral kIgnore = "__enzyme_ignore_derivatives";
constexpr StringLiteral kIter = "__enzyme_iter";
constexpr StringLiteral kCallInactive = "__enzyme_call_inactive";
constexpr StringLiteral kVirtualReverse = "__enzyme_virtualreverse";
constexpr StringLiteral kSum = "__enzyme_sum";
constexpr StringLiteral kProduct = "__enzyme_product";
constexpr StringLiteral kSetCheckpointing = "__enzyme_set_checkpointing";
constexpr StringLiteral kDerivatives[] = {"__enzyme_fwddiff", "__enzyme_autodiff"};
constexpr StringLiteral kTypes[] = {"__enzyme_float", "__enzyme_double", "__enzyme_integer", "__enzyme_pointer"};

bool statesType(const Function &function) {
  return any_of(kTypes, [&](StringRef part) { return function.getName().contains(part); });
}

bool isIdentity(const Function &function) {
  return function.arg_size() >= 1 && function.getReturnType() == function.getArg(0)->getType();
}

SmallVector<CallBase *, 8> callsOf(Function &function) {
  SmallVector<CallBase *, 8> calls;
  for (User *user : function.users())
    if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledOperand() == &function)
      calls.push_back(call);
  return calls;
}

// Whether the call has the type of the function too: IR may call any function as any other.
bool isIdentity(const CallBase &call) {
  return !call.arg_empty() && call.getType() == call.getArgOperand(0)->getType();
}

// Whether it is a number and what is added to it in derivatives.
bool isIter(const Function &function) {
  return function.getName().contains(kIter) && function.arg_size() == 2 && isIdentity(function) &&
         function.getReturnType()->isIntegerTy() && function.getArg(1)->getType() == function.getReturnType();
}

void becomeFirstArgument(CallBase &call) {
  if (!isIdentity(call))
    return;
  call.replaceAllUsesWith(call.getArgOperand(0));
  enz::drop(call);
}

// A function with the parameters of the call behind the first, which calls the function that this is; null if they do
// not fit.
Function *inactiveCall(CallBase &call) {
  auto *target = dyn_cast<Function>(enz::resolve(call.getArgOperand(0)));
  if (!target)
    return nullptr;
  FunctionType *wanted = target->getFunctionType();
  const unsigned given = call.arg_size() - 1;
  if (given < wanted->getNumParams() || (given > wanted->getNumParams() && !wanted->isVarArg()))
    return nullptr;
  SmallVector<Type *, 8> params;
  for (unsigned i = 0; i < given; ++i)
    params.push_back(call.getArgOperand(i + 1)->getType());
  Module &module = *call.getModule();
  auto *made = Function::Create(FunctionType::get(call.getType(), params, false), GlobalValue::InternalLinkage,
                                "enzyme.inactive." + target->getName(), module);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", made));
  SmallVector<Value *, 8> args;
  for (unsigned i = 0; i < given; ++i) {
    Value *arg = made->getArg(i);
    Value *fit = i < wanted->getNumParams() ? enz::converted(b, arg, wanted->getParamType(i)) : arg;
    if (!fit) {
      made->eraseFromParent();
      return nullptr;
    }
    args.push_back(fit);
  }
  CallInst *inner = b.CreateCall(target, args);
  inner->setCallingConv(target->getCallingConv());
  inner->setAttributes(
      AttributeList::get(module.getContext(), AttributeSet(), target->getAttributes().getRetAttrs(), {}));
  Value *result = nullptr;
  if (!call.getType()->isVoidTy()) {
    result = inner->getType()->isVoidTy() ? nullptr : enz::converted(b, inner, call.getType());
    if (!result) {
      made->eraseFromParent();
      return nullptr;
    }
  }
  if (result)
    b.CreateRet(result);
  else
    b.CreateRetVoid();
  made->addFnAttr("enzyme_inactive");
  made->addFnAttr(Attribute::NoInline);
  made->setMemoryEffects(target->getMemoryEffects());
  if (target->doesNotThrow())
    made->setDoesNotThrow();
  return made;
}

void callInactively(CallBase &call) {
  Function *made = inactiveCall(call);
  if (!made)
    return;
  SmallVector<Value *, 8> args(drop_begin(call.args()));
  enz::replaceCall(call, *made, args);
}

// A function that gives a value of this type through which no derivative flows.
Function *ignoring(Module &module, Type *type) {
  std::string name;
  raw_string_ostream(name) << kIgnore << ".of." << *type;
  return dyn_cast<Function>(module.getOrInsertFunction(name, FunctionType::get(type, {type}, false)).getCallee());
}

// Compilers state by metadata which values have no derivative.
void ignoreStated(Function &function) {
  constexpr StringLiteral kKinds[] = {"enzyme_inactive", "enzyme_inactive_inst", "enzyme_inactive_val"};
  SmallVector<Instruction *, 8> stated;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (inst.hasMetadataOtherThanDebugLoc() && inst.getType()->isFPOrFPVectorTy() && !inst.isTerminator() &&
          any_of(kKinds, [&](StringRef kind) { return inst.getMetadata(kind); }))
        stated.push_back(&inst);
  for (Instruction *inst : stated) {
    for (StringRef kind : kKinds)
      inst->setMetadata(kind, nullptr);
    Function *ignore = ignoring(*function.getParent(), inst->getType());
    auto place = inst->getInsertionPointAfterDef();
    if (!ignore || !place)
      continue;
    CallInst *cut = CallInst::Create(ignore, {inst}, "", *place);
    cut->setDebugLoc(inst->getDebugLoc());
    inst->replaceUsesWithIf(cut, [cut](const Use &use) { return use.getUser() != cut; });
  }
}

// What is no call with numbers of the type of its result is left, and refused by name.
void combine(CallBase &call, bool is_sum) {
  Type *type = call.getType();
  const bool floats = type->isFPOrFPVectorTy();
  if (call.arg_empty() || !(floats || type->isIntOrIntVectorTy()) ||
      !all_of(call.args(), [&](const Use &arg) { return arg->getType() == type; }))
    return;
  IRBuilder<> b(&call);
  Value *all = call.getArgOperand(0);
  for (const Use &arg : drop_begin(call.args()))
    if (floats)
      all = is_sum ? b.CreateFAdd(all, arg) : b.CreateFMul(all, arg);
    else
      all = is_sum ? b.CreateAdd(all, arg) : b.CreateMul(all, arg);
  call.replaceAllUsesWith(all);
  enz::drop(call);
}

// What is no pair of integers is left, and refused by name.
void checkpointHere(CallBase &call) {
  if (call.arg_size() != 2 || !call.getArgOperand(0)->getType()->isIntegerTy() ||
      !call.getArgOperand(1)->getType()->isIntegerTy() || !call.getType()->isVoidTy())
    return;
  auto *schedule = dyn_cast<ConstantInt>(call.getArgOperand(0));
  if (!schedule || !schedule->isZero()) {
    IRBuilder<> b(&call);
    FunctionCallee mark = call.getModule()->getOrInsertFunction(enz::kCheckpointMark, b.getVoidTy(), b.getInt32Ty());
    b.CreateCall(mark, {b.CreateSExtOrTrunc(call.getArgOperand(1), b.getInt32Ty())});
  }
  enz::drop(call);
}

} // namespace

// `value` as a parameter of type `to`, after C's promotions of arguments without a prototype.
Value *enz::converted(IRBuilder<> &b, Value *value, Type *to) {
  Type *from = value->getType();
  if (from == to)
    return value;
  if (from->isFloatingPointTy() && to->isFloatingPointTy())
    return b.CreateFPCast(value, to);
  if (from->isIntegerTy() && to->isIntegerTy())
    return b.CreateSExtOrTrunc(value, to);
  if (from->isPointerTy() && to->isPointerTy())
    return b.CreateAddrSpaceCast(value, to);
  return nullptr;
}

void enz::replaceCall(CallBase &call, Function &by, ArrayRef<Value *> args) {
  CallBase *next = nullptr;
  if (auto *invoke = dyn_cast<InvokeInst>(&call))
    next = InvokeInst::Create(&by, invoke->getNormalDest(), invoke->getUnwindDest(), args, "", invoke->getIterator());
  else
    next = CallInst::Create(&by, args, "", call.getIterator());
  next->setDebugLoc(call.getDebugLoc());
  call.replaceAllUsesWith(next);
  call.eraseFromParent();
}

void enz::addTerms(Function &clone) {
  for (BasicBlock &block : clone)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst))
        if (Function *callee = call->getCalledFunction(); callee && isIter(*callee))
          call->setArgOperand(0, IRBuilder<>(call).CreateAdd(call->getArgOperand(0), call->getArgOperand(1)));
}

void enz_statements_mark(EnzHost host) {
  enz::markRustLibrary(*host->module);
  enz::markQuestions(*host->module);
  enz::roundValues(*host->module);
  enz::writeStepLoops(*host->module);
  for (Function &function : *host->module)
    ignoreStated(function);
  SmallVector<Function *, 4> markers;
  for (Function &function : *host->module)
    if (any_of(kDerivatives, [&](StringRef part) { return function.getName().contains(part); }))
      markers.push_back(&function);
  for (Function *function : markers)
    for (CallBase *call : callsOf(*function))
      enz::viewNothing(*call);
  for (Function &function : *host->module) {
    const StringRef name = function.getName();
    if ((name.contains(kIgnore) && isIdentity(function)) || (isIter(function) && function.isDeclaration())) {
      function.addFnAttr("enzyme_inactive");
      function.setDoesNotThrow();
      function.setWillReturn();
      function.setMemoryEffects(MemoryEffects::none());
    } else if (statesType(function) && function.isDeclaration()) {
      function.setDoesNotThrow();
      function.setWillReturn();
      function.setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
      // What such a call returns is what it was given.
      if (isIdentity(function))
        for (CallBase *call : callsOf(function))
          if (isIdentity(*call))
            call->replaceAllUsesWith(call->getArgOperand(0));
    }
  }
  SmallVector<Function *, 8> replaced;
  for (Function &function : *host->module)
    if (function.isDeclaration() &&
        (function.getName().contains(kCallInactive) || function.getName().contains(kVirtualReverse) ||
         function.getName().contains(kSetCheckpointing) || function.getName().contains(kSum) ||
         function.getName().contains(kProduct)))
      replaced.push_back(&function);
  for (Function *function : replaced) {
    const bool inactive = function->getName().contains(kCallInactive);
    for (CallBase *call : callsOf(*function)) {
      const StringRef name = function->getName();
      if (name.contains(kSetCheckpointing))
        checkpointHere(*call);
      else if (name.contains(kSum) || name.contains(kProduct))
        combine(*call, name.contains(kSum));
      else if (inactive && call->arg_size() >= 1)
        callInactively(*call);
      else if (!inactive && isIdentity(*function))
        becomeFirstArgument(*call);
    }
  }
}

void enz_statements_lower(EnzHost host, uint8_t before_link) {
  if (!before_link)
    enz::dropFortranRules(*host->module);
  SmallVector<Function *, 8> found;
  for (Function &function : *host->module)
    if ((function.getName().contains(kIgnore) && isIdentity(function)) || statesType(function) || isIter(function))
      found.push_back(&function);
  for (Function *function : found) {
    const bool value = function->getName().contains(kIgnore) || isIter(*function);
    if (value && before_link) {
      if (!function->isDeclaration())
        continue;
      IRBuilder<> b(BasicBlock::Create(function->getContext(), "", function));
      b.CreateRet(function->getArg(0));
      function->setLinkage(GlobalValue::InternalLinkage);
      function->addFnAttr(Attribute::NoInline);
      function->addFnAttr(Attribute::OptimizeNone);
      continue;
    }
    for (CallBase *call : callsOf(*function)) {
      host->functions->invalidate(*call->getFunction(), PreservedAnalyses::none());
      if (isIdentity(*function) || call->use_empty()) {
        if (call->use_empty())
          enz::drop(*call);
        else
          becomeFirstArgument(*call);
      }
    }
    if (function->use_empty()) {
      host->functions->clear(*function, function->getName());
      function->eraseFromParent();
    }
  }
}
