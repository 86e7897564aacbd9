// Exceptions that jump: handlers that are entered by a call which returns twice (as setjmp does), as Julia's run-time
// system has them, become landing pads, which the engine knows, and landing pads such handlers again in code that is to
// run.
//
// A module states which function begins a block with a handler (attribute "enzyme_handler" = "enter": it returns 0, and
// something else where an exception has come) and which ends so many of them ("leave"). Calls in between that may throw
// become invokes; what a handler reads of variables, which such programs keep in volatile memory, is what is there when
// the exception comes. The personality of such functions is `enzyme.caught`, which native code calls when it has caught
// an exception: it may throw it again.
//
// Not handled: handlers whose beginning is not followed by the branch on its result, or whose blocks do not nest; such
// functions stay as they are.

#include "support.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

constexpr StringLiteral kHandler = "enzyme_handler";
constexpr StringLiteral kCaught = "enzyme.caught";

Function *stated(Module &module, StringRef what) {
  for (Function &function : module)
    if (function.getFnAttribute(kHandler).getValueAsString() == what)
      return &function;
  return nullptr;
}

// A handler: the call that enters it, and where control goes at first and after an exception.
struct Handler {
  CallInst *enter;
  BranchInst *branch;
  unsigned caught; // the successor
};

std::optional<Handler> handlerOf(CallInst &enter) {
  auto *compare = enter.hasOneUse() ? dyn_cast<ICmpInst>(enter.user_back()) : nullptr;
  if (!compare || !compare->isEquality() || compare->getOperand(0) != &enter || !compare->hasOneUse())
    return std::nullopt;
  auto *zero = dyn_cast<ConstantInt>(compare->getOperand(1));
  auto *branch = dyn_cast<BranchInst>(compare->user_back());
  if (!zero || !zero->isZero() || !branch || branch->getParent() != enter.getParent() ||
      branch->getSuccessor(0) == branch->getSuccessor(1))
    return std::nullopt;
  return Handler{&enter, branch, compare->getPredicate() == CmpInst::ICMP_EQ ? 1U : 0U};
}

using Stack = SmallVector<unsigned, 4>;

class Raising {
public:
  Raising(Function &function, Function &enter, Function *leave) : function_(function), enter_(enter), leave_(leave) {}

  bool run() {
    if (!find())
      return false;
    splitEnds();
    if (!follow())
      return false;
    for (BasicBlock *caught : caught_)
      makePad(*caught);
    for (Handler &handler : handlers_)
      drop(handler);
    for (auto &[call, number] : throwing_)
      changeToInvokeAndSplitBasicBlock(call, pads_[number]);
    for (CallInst *call : leaving_)
      call->eraseFromParent();
    for (BasicBlock *pad : pads_)
      if (pred_empty(pad))
        DeleteDeadBlock(pad);
    removeUnreachableBlocks(function_);
    for (Instruction &inst : instructions())
      steady(inst);
    Module &module = *function_.getParent();
    auto *type = FunctionType::get(Type::getVoidTy(module.getContext()), false);
    function_.setPersonalityFn(cast<Constant>(module.getOrInsertFunction(kCaught, type).getCallee()));
    return true;
  }

private:
  SmallVector<std::reference_wrapper<Instruction>, 64> instructions() {
    SmallVector<std::reference_wrapper<Instruction>, 64> out;
    for (BasicBlock &block : function_)
      for (Instruction &inst : block)
        out.push_back(inst);
    return out;
  }

  bool find() {
    for (Instruction &inst : instructions()) {
      auto *call = dyn_cast<CallInst>(&inst);
      if (!call || call->getCalledFunction() != &enter_)
        continue;
      std::optional<Handler> handler = handlerOf(*call);
      if (!handler)
        return false;
      // The same handler where LLVM has made several entries of one, as it does of loops.
      BasicBlock *caught = handler->branch->getSuccessor(handler->caught);
      const auto at = find_if(caught_, [&](BasicBlock *other) { return other == caught; });
      numbers_[call] = static_cast<unsigned>(at - caught_.begin());
      if (at == caught_.end())
        caught_.push_back(caught);
      handlers_.push_back(*handler);
    }
    return !handlers_.empty();
  }

  // Blocks that end by an exception, one for each that leads there: LLVM makes one of those of several handlers.
  void splitEnds() {
    size_t left = kMostCopied;
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock &block : make_early_inc_range(function_)) {
        if (!isa<UnreachableInst>(block.getTerminator()) || is_contained(caught_, &block))
          continue;
        const SmallSetVector<BasicBlock *, 8> from(pred_begin(&block), pred_end(&block));
        if (from.size() == 1)
          changed |= MergeBlockIntoPredecessor(&block);
        for (BasicBlock *before : drop_begin(from, from.empty() ? 0 : 1)) {
          if (block.size() > left)
            return;
          left -= block.size();
          copyFor(block, *before);
          changed = true;
        }
      }
    }
  }

  void copyFor(BasicBlock &block, BasicBlock &before) {
    ValueToValueMapTy map;
    BasicBlock *copy = CloneBasicBlock(&block, map, "", &function_);
    for (PHINode &phi : make_early_inc_range(block.phis())) {
      auto *made = cast<PHINode>(map[&phi]);
      map[&phi] = phi.getIncomingValueForBlock(&before);
      made->eraseFromParent();
    }
    remapInstructionsInBlocks({copy}, map);
    const auto edges = count(successors(&before), &block);
    for (auto n = edges; n > 0; --n)
      block.removePredecessor(&before, true);
    before.getTerminator()->replaceSuccessorWith(&block, copy);
  }

  // Which handlers each block is in.
  bool follow() {
    DenseMap<BasicBlock *, Stack> at;
    SmallVector<BasicBlock *, 16> work{&function_.getEntryBlock()};
    at[work.front()] = {};
    while (!work.empty()) {
      BasicBlock *block = work.pop_back_val();
      Stack now = at[block];
      if (!block_(*block, now))
        return false;
      for (BasicBlock *next : successors(block)) {
        auto [there, is_new] = at.try_emplace(next, now);
        if (is_new)
          work.push_back(next);
        else if (there->second != now)
          return false;
      }
    }
    return true;
  }

  bool block_(BasicBlock &block, Stack &now) {
    for (Instruction &inst : block) {
      if (isa<ReturnInst>(inst) && !now.empty())
        return false;
      auto *call = dyn_cast<CallBase>(&inst);
      if (!call)
        continue;
      if (isa<InvokeInst, CallBrInst>(call))
        return false;
      if (auto number = numbers_.find(call); number != numbers_.end()) {
        if (is_contained(now, number->second))
          return false;
        now.push_back(number->second);
      } else if (leave_ && call->getCalledFunction() == leave_) {
        auto *count = call->arg_size() == 1 ? dyn_cast<ConstantInt>(call->getArgOperand(0)) : nullptr;
        if (!count || count->getZExtValue() > now.size())
          return false;
        now.truncate(now.size() - count->getZExtValue());
        leaving_.push_back(cast<CallInst>(call));
      } else if (!now.empty() && !call->doesNotThrow() && !call->isInlineAsm()) {
        throwing_.emplace_back(cast<CallInst>(call), now.back());
      }
    }
    return true;
  }

  // An exception goes to a block of its own, and from there where the handler is. Which entry was the last one, a
  // variable tells.
  void makePad(BasicBlock &caught) {
    SmallVector<BasicBlock *, 2> entries;
    for (Handler &handler : handlers_)
      if (handler.branch->getSuccessor(handler.caught) == &caught)
        entries.push_back(handler.branch->getParent());
    BasicBlock *pad = BasicBlock::Create(function_.getContext(), "caught", &function_, &caught);
    IRBuilder<> builder(pad);
    builder.SetCurrentDebugLocation(entries.front()->getTerminator()->getDebugLoc());
    Type *pair = StructType::get(builder.getPtrTy(), builder.getInt32Ty());
    builder.CreateLandingPad(pair, 1)->addClause(ConstantPointerNull::get(builder.getPtrTy()));
    for (PHINode &phi : caught.phis()) {
      IRBuilder<> first(&function_.getEntryBlock(), function_.getEntryBlock().getFirstInsertionPt());
      AllocaInst *variable = first.CreateAlloca(phi.getType());
      for (BasicBlock *entry : entries) {
        new StoreInst(phi.getIncomingValueForBlock(entry), variable, entry->getTerminator()->getIterator());
        phi.removeIncomingValue(entry, false);
      }
      phi.addIncoming(builder.CreateLoad(phi.getType(), variable), pad);
    }
    builder.CreateBr(&caught);
    pads_.push_back(pad);
  }

  static void drop(Handler &handler) {
    BranchInst::Create(handler.branch->getSuccessor(1 - handler.caught), handler.branch->getIterator())
        ->setDebugLoc(handler.branch->getDebugLoc());
    auto *compare = cast<Instruction>(handler.branch->getCondition());
    handler.branch->eraseFromParent();
    compare->eraseFromParent();
    handler.enter->eraseFromParent();
  }

  // A variable that was volatile for its handler's sake.
  static void steady(Instruction &inst) {
    auto *load = dyn_cast<LoadInst>(&inst);
    auto *store = dyn_cast<StoreInst>(&inst);
    Value *at = load ? load->getPointerOperand() : store ? store->getPointerOperand() : nullptr;
    if (!at || !isa<AllocaInst>(at->stripInBoundsOffsets()))
      return;
    if (load)
      load->setVolatile(false);
    else
      store->setVolatile(false);
  }

  static constexpr size_t kMostCopied = 2000; // instructions

  Function &function_, &enter_, *leave_;
  SmallVector<Handler, 4> handlers_;
  DenseMap<CallBase *, unsigned> numbers_;
  SmallVector<std::pair<CallInst *, unsigned>, 16> throwing_;
  SmallVector<CallInst *, 8> leaving_;
  SmallVector<BasicBlock *, 4> caught_, pads_; // by number
};

// What a function did before it threw can be run backwards only where it is seen with the handler: functions that may
// write and throw are inlined where their exceptions are caught, up to some size.
class Inlining {
public:
  void run(Function &function) {
    size_t left = kMost;
    SmallVector<std::pair<CallBase *, SmallVector<Function *, 4>>, 16> work;
    for (BasicBlock &block : function)
      if (auto *invoke = dyn_cast<InvokeInst>(block.getTerminator()))
        work.emplace_back(invoke, SmallVector<Function *, 4>{&function});
    std::reverse(work.begin(), work.end());
    while (!work.empty()) {
      auto [call, within] = work.pop_back_val();
      Function *callee = call->getCalledFunction();
      if (!callee || is_contained(within, callee) || !mayLose(*callee) || size(*callee) > left)
        continue;
      const size_t grown = size(*callee);
      InlineFunctionInfo info;
      if (!InlineFunction(*call, info).isSuccess())
        continue;
      left -= grown;
      within.push_back(callee);
      for (CallBase *inner : info.InlinedCallSites)
        if (isa<InvokeInst>(inner))
          work.emplace_back(inner, within);
    }
  }

private:
  static constexpr size_t kMost = 4000; // instructions

  static size_t size(const Function &function) { return function.getInstructionCount(); }

  // Whether it is the program's code, which calls of it stand for, and may throw after it has written.
  bool mayLose(Function &function) {
    const bool is_plain = !function.isDeclaration() && !function.doesNotThrow() && !function.isVarArg() &&
                          !function.callsFunctionThatReturnsTwice() && !function.hasFnAttribute("enzyme_inactive") &&
                          !function.hasFnAttribute("enzyme_math") && all_of(function.users(), [&](const User *user) {
                            auto *call = dyn_cast<CallBase>(user);
                            return call && call->getCalledFunction() == &function;
                          });
    return is_plain && writes(function);
  }

  bool writes(Function &function) {
    auto [known, is_new] = writes_.try_emplace(&function, false);
    if (!is_new)
      return known->second;
    bool found = false;
    for (BasicBlock &block : function)
      for (Instruction &inst : block) {
        auto *store = dyn_cast<StoreInst>(&inst);
        auto *call = dyn_cast<CallBase>(&inst);
        Function *callee = call ? call->getCalledFunction() : nullptr;
        found |= store                        ? !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()))
                 : isa<AnyMemIntrinsic>(inst) ? true
                 : callee && !callee->isDeclaration() && !callee->hasFnAttribute("enzyme_inactive") ? writes(*callee)
                                                                                                    : false;
      }
    return writes_[&function] = found;
  }

  DenseMap<Function *, bool> writes_;
};

// One function's invokes become calls between the beginning and the end of a handler.
class Lowering {
public:
  explicit Lowering(Function &function)
      : function_(function), module_(*function.getParent()), caught_(*function.getPersonalityFn()) {
    LLVMContext &context = module_.getContext();
    Type *ptr = PointerType::getUnqual(context), *i32 = Type::getInt32Ty(context), *none = Type::getVoidTy(context);
    enter_ = module_.getOrInsertFunction("jl_enter_handler", none, ptr);
    leave_ = module_.getOrInsertFunction("jl_pop_handler", none, i32);
    again_ = module_.getOrInsertFunction("jl_rethrow", none);
    jump_ = module_.getOrInsertFunction("__sigsetjmp", i32, ptr, i32);
    if (auto *jump = dyn_cast<Function>(jump_.getCallee()))
      jump->addFnAttr(Attribute::ReturnsTwice);
  }

  void run() {
    SmallVector<InvokeInst *, 16> invokes;
    SmallVector<LandingPadInst *, 8> pads;
    SmallVector<ResumeInst *, 4> resumes;
    for (BasicBlock &block : function_)
      for (Instruction &inst : block) {
        if (auto *invoke = dyn_cast<InvokeInst>(&inst))
          invokes.push_back(invoke);
        else if (auto *pad = dyn_cast<LandingPadInst>(&inst))
          pads.push_back(pad);
        else if (auto *resume = dyn_cast<ResumeInst>(&inst))
          resumes.push_back(resume);
      }
    for (ResumeInst *resume : resumes) {
      CallInst::Create(again_, "", resume->getIterator())->setDebugLoc(resume->getDebugLoc());
      new UnreachableInst(module_.getContext(), resume->getIterator());
      resume->eraseFromParent();
    }
    for (InvokeInst *invoke : invokes)
      lower(*invoke);
    for (LandingPadInst *pad : pads) {
      pad->replaceAllUsesWith(Constant::getNullValue(pad->getType()));
      pad->eraseFromParent();
    }
    function_.setPersonalityFn(nullptr);
  }

private:
  // Room for what the run-time system keeps of a handler: one is enough, as each ends with the call that it is for.
  Value *room() {
    if (room_)
      return room_;
    IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().getFirstInsertionPt());
    AllocaInst *room = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), 512));
    room->setAlignment(Align(16));
    return room_ = room;
  }

  void lower(InvokeInst &invoke) {
    LLVMContext &context = module_.getContext();
    Value *place = room();
    BasicBlock *before = invoke.getParent(), *normal = invoke.getNormalDest(), *pad = invoke.getUnwindDest();
    BasicBlock *within = BasicBlock::Create(context, "within", &function_, normal);
    BasicBlock *caught = BasicBlock::Create(context, "caught", &function_, pad);
    IRBuilder<> builder(&invoke);
    builder.CreateCall(enter_, {place});
    CallInst *again = builder.CreateCall(jump_, {place, builder.getInt32(0)});
    again->addFnAttr(Attribute::ReturnsTwice);
    builder.CreateCondBr(builder.CreateIsNull(again), within, caught);
    normal->replacePhiUsesWith(before, within);
    pad->replacePhiUsesWith(before, caught);

    builder.SetInsertPoint(within);
    builder.SetCurrentDebugLocation(invoke.getDebugLoc());
    SmallVector<OperandBundleDef, 1> bundles;
    invoke.getOperandBundlesAsDefs(bundles);
    const SmallVector<Value *, 8> args(invoke.args());
    CallInst *call = builder.CreateCall(invoke.getFunctionType(), invoke.getCalledOperand(), args, bundles);
    call->setCallingConv(invoke.getCallingConv());
    call->setAttributes(invoke.getAttributes());
    call->copyMetadata(invoke);
    builder.CreateCall(leave_, {builder.getInt32(1)});
    builder.CreateBr(normal);

    builder.SetInsertPoint(caught);
    builder.CreateCall(leave_, {builder.getInt32(1)});
    builder.CreateCall(FunctionType::get(builder.getVoidTy(), false), &caught_);
    builder.CreateBr(pad);
    invoke.replaceAllUsesWith(call);
    invoke.eraseFromParent();
  }

  Function &function_;
  Module &module_;
  Constant &caught_;
  FunctionCallee enter_, leave_, again_, jump_;
  Value *room_ = nullptr;
};

} // namespace

void enz::raiseHandlers(Module &module) {
  Function *enter = stated(module, "enter"), *leave = stated(module, "leave");
  if (!enter)
    return;
  SmallSetVector<Function *, 8> functions;
  for (User *user : enter->users())
    if (auto *call = dyn_cast<CallInst>(user))
      functions.insert(call->getFunction());
  SmallVector<Function *, 8> raised;
  for (Function *function : functions)
    if (Raising(*function, *enter, leave).run())
      raised.push_back(function);
  Inlining inlining;
  for (Function *function : raised)
    inlining.run(*function);
}

void enz::lowerHandlers(Module &module) {
  for (Function &function : module)
    if (function.hasPersonalityFn() && function.getPersonalityFn()->getName() == kCaught)
      Lowering(function).run();
}
