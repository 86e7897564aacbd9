// Dense views of sparse storage: `__enzyme_todense(load, store, args...)` is a pointer to memory that is not there.
// What is read through it at offset o, in bytes, is `load(o, args...)`; what is written, `store(value, o, args...)`, or
// `store(o, value, args...)` where the function takes them in that order. So a program gets the entries of a sparse
// Jacobian by shadows that compute unit vectors and collect what is not zero.
//
// A marker's argument that is enzyme_dupnoneed and no address (null, or a constant) is a view of nothing: what is
// written there is wanted by nobody, and must not be read for anything else; where that can't be followed it stays what
// it was.
//
// `__enzyme_todense.zero(p)` stands for the memory of a linear map of which only the transpose is wanted: what is read
// is zero, of whatever float, and what is written is forgotten.
//
// After all derivatives are made, in the function that asks for the view: callees to which it is passed are inlined,
// its uses are followed through address arithmetic, phis and selections, each of which becomes arithmetic of offsets,
// and accesses become calls. What can't be followed (the view is stored, compared with another pointer, passed to a
// function without a body) is a reason to refuse; nothing is rewritten then but what was inlined.
//
// To LLVM's optimisations before that a view is memory: what was written is not read again where they know it. An
// exception that leaves one of the functions passes by the landing pads of the function with the view.
//
// Invariant: plan first, then rewrite. Not handled: volatile and atomic accesses, copies from and to a view (refused);
// values of other types than those of the functions (refused).

#include "support.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

constexpr StringLiteral kNothing = "__enzyme_todense.nothing";
constexpr StringLiteral kZero = "__enzyme_todense.zero";
constexpr StringLiteral kNoNeed = "enzyme_dupnoneed";

// Calls that are inlined into one function: a recursion ends here.
constexpr unsigned kMostInlined = 200;

class View {
public:
  View(EnzOpaqueHost &host, CallBase &call) : host_(host), call_(call), layout_(call.getModule()->getDataLayout()) {}

  // The reason why not, or nothing.
  std::string lower() {
    for (unsigned i = 0;; ++i) {
      if (std::string why = prepare(); !why.empty())
        return why;
      CallBase *inner = nullptr;
      if (std::string why = follow(inner); !why.empty())
        return nothing_ ? asGiven() : why;
      if (!inner)
        break;
      if (i == kMostInlined)
        return nothing_ ? asGiven() : "it is passed to functions that call each other without end";
      auto cache = [this](Function &function) -> AssumptionCache & {
        return host_.functions->getResult<AssumptionAnalysis>(function);
      };
      InlineFunctionInfo info(cache);
      Function *caller = inner->getFunction();
      const std::string name = inner->getCalledFunction()->getName().str();
      if (!InlineFunction(*inner, info).isSuccess())
        return nothing_ ? asGiven() : "it is passed to '" + name + "', which can't be inlined";
      host_.functions->invalidate(*caller, PreservedAnalyses::none());
    }
    if (zero_)
      readZero();
    if (nothing_ || zero_)
      return forget();
    rewrite();
    return "";
  }

private:
  std::string prepare() {
    const StringRef name = call_.getCalledFunction() ? call_.getCalledFunction()->getName() : "";
    nothing_ = name == kNothing;
    zero_ = name == kZero;
    if (nothing_ || zero_)
      return "";
    if (call_.arg_size() < 2)
      return "it takes two functions, and what they are called with";
    load_ = dyn_cast<Function>(call_.getArgOperand(0)->stripPointerCasts());
    store_ = dyn_cast<Function>(call_.getArgOperand(1)->stripPointerCasts());
    if (!load_ || !store_)
      return "its first two arguments must be functions that are known where it is called";
    const unsigned more = call_.arg_size() - 2;
    if (load_->arg_size() != more + 1 || store_->arg_size() != more + 2 || load_->isVarArg() || store_->isVarArg())
      return "one function takes the offset, the other value and offset, and then both what follows here";
    element_ = load_->getReturnType();
    const bool valueFirst = store_->getArg(0)->getType() == element_;
    value_ = valueFirst ? 0 : 1;
    if (!load_->getArg(0)->getType()->isIntegerTy() || !store_->getArg(1 - value_)->getType()->isIntegerTy() ||
        store_->getArg(value_)->getType() != element_ || !element_->isFloatingPointTy())
      return "offsets are integers, and one function takes what the other returns";
    for (unsigned i = 0; i < more; ++i)
      if (load_->getArg(i + 1)->getType() != call_.getArgOperand(i + 2)->getType() ||
          store_->getArg(i + 2)->getType() != call_.getArgOperand(i + 2)->getType())
        return "what it is given does not have the types that its functions take";
    return "";
  }

  // All uses; `inner` is a call that has to be inlined first, if there is one.
  std::string follow(CallBase *&inner) {
    pointers_.clear();
    accesses_.clear();
    SmallVector<Value *, 16> work{&call_};
    pointers_.insert(&call_);
    while (!work.empty()) {
      Value *pointer = work.pop_back_val();
      for (Use &use : pointer->uses()) {
        auto *user = cast<Instruction>(use.getUser());
        auto *access = dyn_cast<CallBase>(user);
        if (isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst>(user)) {
          if (user->getType()->isVectorTy())
            return "its addresses are computed as vectors";
          if (pointers_.insert(user))
            work.push_back(user);
        } else if (auto *load = dyn_cast<LoadInst>(user)) {
          if (zero_ && !load->getType()->isFPOrFPVectorTy())
            return "something else than floats is read in the memory that it has tangents of";
          if (!load->isSimple() || (!nothing_ && !zero_ && load->getType() != element_))
            return "something is read through it that is not of the type of its functions";
          accesses_.push_back(user);
        } else if (auto *store = dyn_cast<StoreInst>(user)) {
          if (store->getValueOperand() == pointer)
            return "it is stored";
          if (!store->isSimple() || (!nothing_ && !zero_ && store->getValueOperand()->getType() != element_))
            return "something is written through it that is not of the type of its functions";
          accesses_.push_back(user);
        } else if (auto *fill = dyn_cast<MemSetInst>(user)) {
          auto *byte = dyn_cast<ConstantInt>(fill->getValue());
          if (!nothing_ && !zero_ && (!byte || !byte->isZero()))
            return "it is filled with something other than zero";
          accesses_.push_back(user);
        } else if (auto *note = dyn_cast<IntrinsicInst>(user);
                   user->isLifetimeStartOrEnd() || isa<AssumeInst>(user) ||
                   (note && note->getIntrinsicID() == Intrinsic::fake_use)) {
          accesses_.push_back(user);
        } else if (auto *compare = dyn_cast<ICmpInst>(user);
                   compare && compare->isEquality() && isa<ConstantPointerNull>(compare->getOperand(1))) {
          accesses_.push_back(user);
        } else if (access && access->getCalledFunction() && !access->getCalledFunction()->isDeclaration()) {
          inner = access;
          return "";
        } else {
          return "its address is used by something other than reads and writes";
        }
      }
    }
    for (Value *pointer : pointers_) {
      if (auto *phi = dyn_cast<PHINode>(pointer))
        for (Value *from : phi->incoming_values())
          if (!pointers_.contains(from))
            return "another pointer takes its place on some way";
      if (auto *select = dyn_cast<SelectInst>(pointer))
        if (!pointers_.contains(select->getTrueValue()) || !pointers_.contains(select->getFalseValue()))
          return "another pointer takes its place on some way";
    }
    return "";
  }

  // The offset of a pointer that comes from the view.
  Value *offsetOf(Value *pointer) {
    auto *i64 = Type::getInt64Ty(call_.getContext());
    if (pointer == &call_)
      return ConstantInt::get(i64, 0);
    Value *&known = offsets_[pointer];
    if (known)
      return known;
    auto *inst = cast<Instruction>(pointer);
    if (auto *phi = dyn_cast<PHINode>(inst)) {
      PHINode *offset = PHINode::Create(i64, phi->getNumIncomingValues(), "offset", phi->getIterator());
      known = offset;
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        Value *from = offsetOf(phi->getIncomingValue(i));
        offset->addIncoming(from, phi->getIncomingBlock(i));
      }
      return offset;
    }
    IRBuilder<> build(inst);
    Value *offset = nullptr;
    if (auto *select = dyn_cast<SelectInst>(inst)) {
      Value *a = offsetOf(select->getTrueValue()), *b = offsetOf(select->getFalseValue());
      offset = build.CreateSelect(select->getCondition(), a, b);
    } else if (auto *gep = dyn_cast<GetElementPtrInst>(inst)) {
      Value *base = offsetOf(gep->getPointerOperand());
      Value *more = emitGEPOffset(&build, layout_, gep);
      offset = build.CreateAdd(base, build.CreateSExtOrTrunc(more, i64));
    } else {
      offset = offsetOf(inst->getOperand(0));
    }
    return offsets_[pointer] = offset;
  }

  SmallVector<Value *, 8> arguments() const {
    SmallVector<Value *, 8> out;
    for (unsigned i = 2; i < call_.arg_size(); ++i)
      out.push_back(call_.getArgOperand(i));
    return out;
  }

  void write(IRBuilder<> &build, Value *value, Value *offset) {
    SmallVector<Value *, 8> args(2);
    args[value_] = value;
    args[1 - value_] = build.CreateSExtOrTrunc(offset, store_->getArg(1 - value_)->getType());
    args.append(arguments());
    build.CreateCall(store_, args)->setCallingConv(store_->getCallingConv());
  }

  void rewrite() {
    for (Instruction *access : accesses_) {
      IRBuilder<> build(access);
      if (auto *load = dyn_cast<LoadInst>(access)) {
        Value *offset = offsetOf(load->getPointerOperand());
        SmallVector<Value *, 8> args{build.CreateSExtOrTrunc(offset, load_->getArg(0)->getType())};
        args.append(arguments());
        CallInst *value = build.CreateCall(load_, args);
        value->setCallingConv(load_->getCallingConv());
        load->replaceAllUsesWith(value);
      } else if (auto *store = dyn_cast<StoreInst>(access)) {
        write(build, store->getValueOperand(), offsetOf(store->getPointerOperand()));
      } else if (auto *fill = dyn_cast<MemSetInst>(access)) {
        clear(*fill);
      } else if (auto *compare = dyn_cast<ICmpInst>(access)) {
        const bool differs = compare->getPredicate() == CmpInst::ICMP_NE;
        compare->replaceAllUsesWith(build.getInt1(differs));
      }
    }
    for (Instruction *access : accesses_)
      access->eraseFromParent();
    SmallVector<Value *, 16> dead(pointers_.begin(), pointers_.end());
    for (Value *pointer : dead)
      pointer->replaceAllUsesWith(PoisonValue::get(pointer->getType()));
    for (Value *pointer : dead)
      if (pointer != &call_)
        cast<Instruction>(pointer)->eraseFromParent();
    enz::drop(call_);
  }

  void readZero() {
    for (Instruction *&access : accesses_)
      if (auto *load = dyn_cast<LoadInst>(access)) {
        load->replaceAllUsesWith(Constant::getNullValue(load->getType()));
        load->eraseFromParent();
        access = nullptr;
      }
    llvm::erase(accesses_, nullptr);
  }

  // Drops what is written. What was read for that alone is not read then.
  std::string forget() {
    for (Instruction *access : accesses_)
      if (!isa<LoadInst>(access) && !isa<ICmpInst>(access))
        access->eraseFromParent();
    Function &function = *call_.getFunction();
    FunctionPassManager passes;
    passes.addPass(ADCEPass());
    host_.functions->invalidate(function, PreservedAnalyses::none());
    const bool kept = function.hasFnAttribute(Attribute::OptimizeNone);
    function.removeFnAttr(Attribute::OptimizeNone);
    WeakVH view(&call_);
    passes.run(function, *host_.functions);
    if (kept)
      function.addFnAttr(Attribute::OptimizeNone);
    if (!view)
      return "";
    SmallVector<Value *, 8> work{&call_};
    SmallPtrSet<Value *, 16> seen;
    while (!work.empty()) {
      Value *pointer = work.pop_back_val();
      for (User *user : pointer->users())
        if (isa<LoadInst>(user))
          return "there is no memory (enzyme_dupnoneed with a constant), but what it holds is read";
        else if (!isa<CallBase>(user) && seen.insert(user).second)
          work.push_back(user);
    }
    // What compares it sees what stood there.
    return asGiven();
  }

  std::string asGiven() {
    call_.replaceAllUsesWith(call_.getArgOperand(0));
    enz::drop(call_);
    return "";
  }

  // for (i = 0; i < length; i += size) store(0, offset + i)
  void clear(MemSetInst &fill) {
    Value *offset = offsetOf(fill.getRawDest());
    Instruction *exit = fill.getNextNode();
    Value *length = fill.getLength();
    const uint64_t size = layout_.getTypeStoreSize(element_).getFixedValue();
    IRBuilder<> before(&fill);
    Value *all = before.CreateZExtOrTrunc(length, before.getInt64Ty());
    BasicBlock *head = fill.getParent();
    BasicBlock *rest = SplitBlock(head, exit);
    BasicBlock *body = BasicBlock::Create(head->getContext(), "clear", head->getParent(), rest);
    Instruction *end = head->getTerminator();
    before.SetInsertPoint(end);
    before.CreateCondBr(before.CreateICmpUGE(all, before.getInt64(size)), body, rest);
    end->eraseFromParent();
    IRBuilder<> build(body);
    PHINode *at = build.CreatePHI(build.getInt64Ty(), 2);
    at->addIncoming(build.getInt64(0), head);
    write(build, ConstantFP::getZero(element_), build.CreateAdd(offset, at));
    Value *next = build.CreateAdd(at, build.getInt64(size));
    at->addIncoming(next, body);
    build.CreateCondBr(build.CreateICmpULE(build.CreateAdd(next, build.getInt64(size)), all), body, rest);
  }

  EnzOpaqueHost &host_;
  CallBase &call_;
  const DataLayout &layout_;
  Function *load_ = nullptr, *store_ = nullptr;
  Type *element_ = nullptr;
  bool nothing_ = false, zero_ = false;
  unsigned value_ = 0; // position of the value among the arguments of `store_`
  SmallSetVector<Value *, 16> pointers_;
  SmallVector<Instruction *, 16> accesses_;
  DenseMap<Value *, Value *> offsets_;
};

bool isNoNeed(const Value *value) {
  if (auto *load = dyn_cast<LoadInst>(value))
    value = load->getPointerOperand();
  auto *global = dyn_cast<GlobalVariable>(value->stripPointerCasts());
  return global && global->getName().starts_with(kNoNeed);
}

bool isNoAddress(const Value *value) {
  if (!value->getType()->isPointerTy())
    return false;
  auto *expr = dyn_cast<ConstantExpr>(value);
  return isa<ConstantPointerNull>(value) ||
         (expr && expr->getOpcode() == Instruction::IntToPtr && isa<ConstantInt>(expr->getOperand(0)));
}

} // namespace

void enz::viewNothing(CallBase &call) {
  for (unsigned i = 1; i + 1 < call.arg_size(); ++i) {
    if (!isNoNeed(call.getArgOperand(i)))
      continue;
    // The stride of lanes stands between them.
    const unsigned at = call.getArgOperand(i + 1)->getType()->isIntegerTy() && i + 2 < call.arg_size() ? i + 2 : i + 1;
    if (!isNoAddress(call.getArgOperand(at)))
      continue;
    Value *given = call.getArgOperand(at);
    FunctionCallee nothing = call.getModule()->getOrInsertFunction(kNothing, given->getType(), given->getType());
    auto *view = CallInst::Create(nothing, {given}, "", call.getIterator());
    view->setDebugLoc(call.getDebugLoc());
    view->setDoesNotThrow();
    call.setArgOperand(at, view);
  }
}

uint8_t enz_lower_dense(EnzHost host, EnzValue raw, EnzTextSink sink, void *context) {
  auto *call = enz::as<CallBase>(raw);
  if (!call)
    return 0;
  Function *function = call->getFunction();
  // Views that the source keeps in variables are in registers then.
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  const bool kept = function->hasFnAttribute(Attribute::OptimizeNone);
  function->removeFnAttr(Attribute::OptimizeNone);
  host->functions->invalidate(*function, passes.run(*function, *host->functions));
  if (kept)
    function->addFnAttr(Attribute::OptimizeNone);
  const std::string why = View(*host, *call).lower();
  host->functions->invalidate(*function, PreservedAnalyses::none());
  if (why.empty())
    return 1;
  sink(context, why.data(), why.size());
  return 0;
}
