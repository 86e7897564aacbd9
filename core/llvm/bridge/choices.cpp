// Marker calls whose function is one of several that are known when the program is compiled: arms of a choice (`c ? f :
// g`), what a variable is set to, the entries of a table, what callers hand to a function of this file, what such a
// function returns. The call becomes one for each of them, chosen by comparing the address, so that each derivative is
// made as if its function were named.
//
// Invariants: the pointer leads to one of the functions that are found, or to none: then the program stops, as it does
// where the function itself is called. A pointer that others may set (through memory that is handed on, or as callers
// of a visible function) is left as it is, and refused by who reads the call.
//
// Not handled: tables that are filled at run time by loops over other tables, pointers in memory from the heap, tail
// calls that must be one.

#include "support.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

// More functions than this are not told apart.
constexpr size_t kMost = 64;
// Values that are looked at on the way to them.
constexpr size_t kMostValues = 4096;

// All functions that a pointer may lead to.
class Choices {
public:
  // Whether `value` leads to nothing but functions, which then are in `functions`.
  bool collect(Value *value) {
    work_.push_back(value);
    while (!work_.empty()) {
      Value *next = enz::resolve(work_.pop_back_val());
      if (!seen_.insert(next).second)
        continue;
      if (seen_.size() > kMostValues || !follow(next) || functions.size() > kMost)
        return false;
    }
    return !functions.empty();
  }

  // In the order in which they are found.
  SetVector<Function *> functions;
  // Where another may come from, if that can be said.
  std::string why;

private:
  bool refuse(const Twine &reason) {
    why = reason.str();
    return false;
  }

  bool follow(Value *value) {
    if (auto *function = dyn_cast<Function>(value)) {
      functions.insert(function);
      return true;
    }
    // What is called through these is nothing.
    if (isa<ConstantPointerNull, UndefValue>(value))
      return true;
    if (isa<BitCastInst, AddrSpaceCastInst, FreezeInst>(value)) {
      work_.push_back(cast<Instruction>(value)->getOperand(0));
      return true;
    }
    if (auto *select = dyn_cast<SelectInst>(value)) {
      work_.append({select->getTrueValue(), select->getFalseValue()});
      return true;
    }
    if (auto *phi = dyn_cast<PHINode>(value)) {
      work_.append(phi->op_begin(), phi->op_end());
      return true;
    }
    if (auto *load = dyn_cast<LoadInst>(value))
      return load->getType()->isPointerTy() && readFrom(*load->getPointerOperand());
    if (auto *parameter = dyn_cast<Argument>(value))
      return handedTo(*parameter);
    if (auto *call = dyn_cast<CallBase>(value))
      return returnedBy(*call);
    return false;
  }

  // What callers pass, if all of them are here.
  bool handedTo(Argument &parameter) {
    Function &function = *parameter.getParent();
    const std::string what = ("the function is what the callers of '" + function.getName() + "' choose").str();
    if (!function.hasLocalLinkage() || function.isVarArg())
      return refuse(what + ", which other files may call: it is not static");
    for (Use &use : function.uses()) {
      auto *call = dyn_cast<CallBase>(use.getUser());
      if (!call || !call->isCallee(&use) || call->arg_size() != function.arg_size())
        return refuse(what + ", whose address is handed on");
      work_.push_back(call->getArgOperand(parameter.getArgNo()));
    }
    return true;
  }

  bool returnedBy(CallBase &call) {
    auto *function = dyn_cast_or_null<Function>(enz::resolve(call.getCalledOperand()));
    if (!function || !function->getReturnType()->isPointerTy())
      return false;
    if (!enz::exactBody(*function))
      return refuse("the function is what '" + function->getName() + "' returns, whose body may be another than here");
    for (BasicBlock &block : *function)
      if (auto *ret = dyn_cast<ReturnInst>(block.getTerminator()))
        work_.push_back(ret->getReturnValue());
    return true;
  }

  bool readFrom(Value &address) {
    Value *base = getUnderlyingObject(&address, /*MaxLookup=*/0);
    if (!variables_.insert(base).second)
      return true;
    if (isa<AllocaInst>(base))
      return written(*base) || refuse("the function is read from a variable whose address is handed on");
    auto *global = dyn_cast<GlobalVariable>(base);
    if (!global)
      return refuse("the function is read from memory that others may write to");
    const std::string others =
        ("the function is read from '" + global->getName() + "', which others may write to").str();
    if (!global->hasDefinitiveInitializer() || global->isExternallyInitialized())
      return refuse(others);
    addEntries(*global->getInitializer());
    return global->isConstant() || (global->hasLocalLinkage() && written(*global)) || refuse(others);
  }

  // Other fields than pointers to functions are what is not called.
  void addEntries(Constant &constant) {
    SmallVector<Constant *, 16> parts{&constant};
    SmallPtrSet<Constant *, 16> visited;
    while (!parts.empty()) {
      auto *part = cast<Constant>(enz::resolve(parts.pop_back_val()));
      if (!visited.insert(part).second)
        continue;
      if (auto *function = dyn_cast<Function>(part))
        functions.insert(function);
      else if (isa<ConstantAggregate>(part))
        for (unsigned n = part->getNumOperands(); n-- > 0;)
          parts.push_back(cast<Constant>(part->getOperand(n)));
    }
  }

  // What is stored to a variable, if nobody gets its address.
  bool written(Value &variable) {
    SmallVector<Value *, 8> addresses{&variable};
    while (!addresses.empty()) {
      Value *address = addresses.pop_back_val();
      for (Use &use : address->uses()) {
        User *user = use.getUser();
        if (isa<GEPOperator>(user)) {
          addresses.push_back(user);
        } else if (auto *store = dyn_cast<StoreInst>(user)) {
          if (store->getValueOperand() == address)
            return false;
          if (store->getValueOperand()->getType()->isPointerTy())
            work_.push_back(store->getValueOperand());
        } else if (auto *copy = dyn_cast<MemTransferInst>(user)) {
          if (use.getOperandNo() != 0 || !readFrom(*copy->getRawSource()))
            return false;
        } else if (auto *inst = dyn_cast<Instruction>(user);
                   !inst || !(isa<LoadInst, MemSetInst>(inst) || inst->isLifetimeStartOrEnd())) {
          return false;
        }
      }
    }
    return true;
  }

  SmallVector<Value *, 16> work_;
  SmallPtrSet<Value *, 16> seen_;
  SmallPtrSet<Value *, 4> variables_;
};

// The call with `function` as its argument `at`, at the end of `arm`, from where it goes on in `joined`.
CallBase &copyTo(BasicBlock &arm, const CallBase &call, unsigned at, Function &function, BasicBlock &joined) {
  auto *copy = cast<CallBase>(call.clone());
  copy->setArgOperand(at, &function);
  copy->insertInto(&arm, arm.end());
  if (auto *invoke = dyn_cast<InvokeInst>(copy))
    invoke->setNormalDest(&joined);
  else
    BranchInst::Create(&joined, &arm)->setDebugLoc(call.getDebugLoc());
  return *copy;
}

// The block behind a call, with no way from the call to there.
BasicBlock &behind(CallBase &call) {
  BasicBlock *head = call.getParent();
  auto *invoke = dyn_cast<InvokeInst>(&call);
  if (!invoke) {
    BasicBlock *joined = head->splitBasicBlock(std::next(call.getIterator()));
    head->getTerminator()->eraseFromParent();
    return *joined;
  }
  BasicBlock *normal = invoke->getNormalDest();
  BasicBlock *joined = BasicBlock::Create(call.getContext(), "", head->getParent(), normal);
  BranchInst::Create(normal, joined)->setDebugLoc(call.getDebugLoc());
  normal->replacePhiUsesWith(head, joined);
  return *joined;
}

// One call for each function, behind comparisons of the address; if it is that of none of them, the program stops.
void split(CallBase &call, unsigned at, ArrayRef<Function *> functions) {
  LLVMContext &context = call.getContext();
  BasicBlock *head = call.getParent();
  Function *caller = head->getParent();
  BasicBlock &joined = behind(call);
  Value *pointer = call.getArgOperand(at);
  PHINode *result = nullptr;
  if (!call.getType()->isVoidTy()) {
    result = PHINode::Create(call.getType(), functions.size(), "", joined.begin());
    result->setDebugLoc(call.getDebugLoc());
    call.replaceAllUsesWith(result);
  }
  BasicBlock *unwind = isa<InvokeInst>(call) ? cast<InvokeInst>(call).getUnwindDest() : nullptr;
  // The call itself stays until all is copied from it; an invoke would end its block.
  call.removeFromParent();
  BasicBlock *test = head;
  for (Function *function : functions) {
    BasicBlock *arm = BasicBlock::Create(context, "", caller, &joined);
    BasicBlock *other = BasicBlock::Create(context, "", caller, &joined);
    IRBuilder<> builder(test);
    builder.SetCurrentDebugLocation(call.getDebugLoc());
    builder.CreateCondBr(builder.CreateICmpEQ(pointer, function), arm, other);
    CallBase &copy = copyTo(*arm, call, at, *function, joined);
    if (result)
      result->addIncoming(&copy, arm);
    if (unwind)
      for (PHINode &phi : unwind->phis())
        phi.addIncoming(phi.getIncomingValueForBlock(head), arm);
    test = other;
  }
  if (unwind)
    for (PHINode &phi : unwind->phis())
      phi.removeIncomingValue(head, /*DeletePHIIfEmpty=*/false);
  IRBuilder<> builder(test);
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  builder.CreateIntrinsic(builder.getVoidTy(), Intrinsic::trap, {});
  builder.CreateUnreachable();
  call.deleteValue();
}

} // namespace

size_t enz_split_markers(EnzHost host, const EnzStr *substrings, size_t count) {
  SmallVector<CallBase *, 16> calls;
  for (Function &marker : *host->module) {
    if (!enz::isMarker(marker, substrings, count))
      continue;
    for (User *user : marker.users())
      if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledFunction() == &marker && !isa<CallBrInst>(call))
        calls.push_back(call);
  }
  size_t changed = 0;
  for (CallBase *call : calls) {
    const unsigned at = call->hasStructRetAttr() ? 1 : 0;
    if (call->arg_size() <= at || call->isMustTailCall() || !call->getArgOperand(at)->getType()->isPointerTy())
      continue;
    Value *given = call->getArgOperand(at);
    if (isa<Constant>(given))
      continue;
    Choices choices;
    if (!choices.collect(given))
      continue;
    Function *caller = call->getFunction();
    split(*call, at, choices.functions.getArrayRef());
    host->functions->invalidate(*caller, PreservedAnalyses::none());
    ++changed;
  }
  return changed;
}

void enz_why_no_function(EnzValue raw, EnzTextSink sink, void *context) {
  auto *call = enz::as<CallBase>(raw);
  const unsigned at = call && call->hasStructRetAttr() ? 1 : 0;
  if (!call || call->arg_size() <= at)
    return;
  Choices choices;
  if (!choices.collect(call->getArgOperand(at))) {
    enz::SinkStream out(sink, context);
    *out << choices.why;
  }
}
