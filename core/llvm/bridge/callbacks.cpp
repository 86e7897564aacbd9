// Library functions that call back: `qsort`, `qsort_r` and `bsearch` in a prepared clone become code of ours whose
// parts are seen by the derivative.
//
// The order of the elements, or the position of the one found, is worked out by a function that is declared inactive:
// it only compares. What moves is then plain: each element is copied out and back to its place, so that a derivative
// follows two copies per element and keeps one index. The sort is a merge sort on indices, stable, in O(n log n)
// comparisons; elements that compare equal may thus end in another order than the C library's, and `bsearch` may find
// another of several equal elements.
//
// Replaced are only calls whose comparison function is known and writes no memory but its own; others stay calls of
// the library, which are refused where active data enters.

#include "support.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace {

// How deep a comparison function's calls are looked into.
constexpr int kPurityDepth = 6;

// Whether `target` is a counter of --coverage or -fprofile-generate.
bool isCoverageCounter(const Value &target) {
  const auto *variable = dyn_cast<GlobalVariable>(getUnderlyingObject(&target));
  return variable &&
         (variable->getName().starts_with("__llvm_gcov_ctr") || variable->getName().starts_with("__profc_"));
}

bool writesOnlyItsOwn(const Function &function, const TargetLibraryInfo &library, int depth) {
  // Reports of the sanitizers and counts of what ran change nothing that the program sees.
  if (function.onlyReadsMemory() || function.getName().starts_with("__ubsan_handle_") ||
      function.getName().starts_with("llvm.instrprof."))
    return true;
  if (depth == 0)
    return false;
  if (function.isDeclaration()) {
    // Mathematical functions, which at most set `errno`.
    LibFunc known;
    return library.getLibFunc(function, known) && library.has(known) && function.getReturnType()->isFloatingPointTy() &&
           none_of(function.args(), [](const Argument &arg) { return arg.getType()->isPointerTy(); });
  }
  if (!enz::exactBody(function))
    return false;
  for (const BasicBlock &block : function)
    for (const Instruction &inst : block) {
      if (!inst.mayWriteToMemory() || isa<DbgInfoIntrinsic>(inst) || inst.isLifetimeStartOrEnd())
        continue;
      const Value *target = nullptr;
      if (const auto *store = dyn_cast<StoreInst>(&inst); store && store->isSimple())
        target = store->getPointerOperand();
      else if (const auto *fill = dyn_cast<MemIntrinsic>(&inst); fill && !fill->isVolatile())
        target = fill->getRawDest();
      else if (const auto *update = dyn_cast<AtomicRMWInst>(&inst))
        target = update->getPointerOperand();
      if (target && (isa<AllocaInst>(getUnderlyingObject(target)) || isCoverageCounter(*target)))
        continue;
      const auto *call = dyn_cast<CallBase>(&inst);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !writesOnlyItsOwn(*callee, library, depth - 1))
        return false;
    }
  return true;
}

// Whether all functions that `pointer` can be only compare.
bool onlyCompares(EnzOpaqueHost &host, Function &clone, Value *pointer) {
  SmallSetVector<Function *, 8> targets;
  if (!enz::traceFunctions(pointer, host.module->getDataLayout(), targets) || targets.empty())
    return false;
  const auto &library = host.functions->getResult<TargetLibraryAnalysis>(clone);
  return all_of(targets, [&](Function *target) { return writesOnlyItsOwn(*target, library, kPurityDepth); });
}

// Code with loops and variables on the stack.
class Writer {
public:
  Writer(Function &function) : builder(BasicBlock::Create(function.getContext(), "start", &function)) {
    word = builder.getInt64Ty();
  }

  Value *slot(Value *initial) {
    BasicBlock &entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
    IRBuilder<> at(&entry, entry.begin());
    Value *place = at.CreateAlloca(initial->getType());
    builder.CreateStore(initial, place);
    return place;
  }
  Value *get(Value *slot) { return builder.CreateLoad(cast<AllocaInst>(slot)->getAllocatedType(), slot); }
  void set(Value *slot, Value *value) { builder.CreateStore(value, slot); }

  BasicBlock *block() { return BasicBlock::Create(builder.getContext(), "", builder.GetInsertBlock()->getParent()); }

  void whileDo(function_ref<Value *()> condition, function_ref<void()> body) {
    BasicBlock *head = block(), *inner = block(), *done = block();
    builder.CreateBr(head);
    builder.SetInsertPoint(head);
    Value *more = condition();
    builder.CreateCondBr(more, inner, done);
    builder.SetInsertPoint(inner);
    body();
    builder.CreateBr(head);
    builder.SetInsertPoint(done);
  }

  void count(Value *from, Value *to, Value *step, function_ref<void(Value *)> body) {
    Value *index = slot(from);
    whileDo([&] { return builder.CreateICmpULT(get(index), to); },
            [&] {
              Value *now = get(index);
              body(now);
              set(index, builder.CreateAdd(now, step));
            });
  }

  Value *element(Value *base, Value *index, Value *size) {
    return builder.CreatePtrAdd(base, builder.CreateMul(index, size));
  }
  Value *entry(Value *indices, Value *index) { return builder.CreateGEP(word, indices, index); }
  Value *number(uint64_t n) { return builder.getInt64(n); }
  Value *atMost(Value *a, Value *b) { return builder.CreateSelect(builder.CreateICmpULT(a, b), a, b); }

  // Memory of `bytes`; without it the program ends, as there is no way to say so.
  Value *allocate(Module &module, Value *bytes) {
    FunctionCallee malloc = module.getOrInsertFunction("malloc", builder.getPtrTy(), word);
    FunctionCallee abort = module.getOrInsertFunction("abort", builder.getVoidTy());
    Value *memory = builder.CreateCall(malloc, {builder.CreateAdd(bytes, number(1))});
    BasicBlock *failed = block(), *done = block();
    builder.CreateCondBr(builder.CreateIsNull(memory), failed, done);
    builder.SetInsertPoint(failed);
    builder.CreateCall(abort);
    builder.CreateUnreachable();
    builder.SetInsertPoint(done);
    return memory;
  }
  void release(Module &module, Value *memory) {
    builder.CreateCall(module.getOrInsertFunction("free", builder.getVoidTy(), builder.getPtrTy()), {memory});
  }

  IRBuilder<> builder;
  Type *word;
};

class Library {
public:
  explicit Library(EnzOpaqueHost &host)
      : host_(host), module_(*host.module), word_(Type::getInt64Ty(module_.getContext())),
        pointer_(PointerType::get(module_.getContext(), 0)) {}

  // void (base, count, size, compare[, context])
  Function *sort(bool context) {
    Function *function = declare(context ? "enzyme.lib.qsort_r" : "enzyme.lib.qsort",
                                 Type::getVoidTy(word_->getContext()), {pointer_, word_, word_, pointer_}, context);
    if (!function->isDeclaration())
      return function;
    Function *order = orderOf(context);
    SmallVector<Value *, 5> args = values(*function);
    Writer w(*function);
    Value *base = args[0], *count = args[1], *size = args[2];
    Value *places = w.builder.CreateCall(order, args);
    Value *copy = w.allocate(module_, w.builder.CreateMul(count, size));
    const auto move = [&](Value *to, Value *from) { w.builder.CreateMemCpy(to, Align(1), from, Align(1), size); };
    w.count(w.number(0), count, w.number(1),
            [&](Value *i) { move(w.element(copy, i, size), w.element(base, i, size)); });
    w.count(w.number(0), count, w.number(1), [&](Value *i) {
      Value *from = w.builder.CreateLoad(word_, w.entry(places, i));
      move(w.element(base, i, size), w.element(copy, from, size));
    });
    w.release(module_, copy);
    w.release(module_, places);
    w.builder.CreateRetVoid();
    return tidied(function);
  }

  // ptr (key, base, count, size, compare)
  Function *search() {
    Function *function =
        declare("enzyme.lib.bsearch", pointer_, {pointer_, pointer_, word_, word_, pointer_}, /*context=*/false);
    if (!function->isDeclaration())
      return function;
    Function *position = positionOf();
    SmallVector<Value *, 5> args = values(*function);
    Writer w(*function);
    Value *place = w.builder.CreateCall(position, args);
    BasicBlock *found = w.block(), *missing = w.block();
    w.builder.CreateCondBr(w.builder.CreateICmpULT(place, args[2]), found, missing);
    w.builder.SetInsertPoint(found);
    w.builder.CreateRet(w.element(args[1], place, args[3]));
    w.builder.SetInsertPoint(missing);
    w.builder.CreateRet(Constant::getNullValue(pointer_));
    return tidied(function);
  }

private:
  Function *declare(StringRef name, Type *result, ArrayRef<Type *> params, bool context) {
    SmallVector<Type *, 5> all(params);
    if (context)
      all.push_back(pointer_);
    if (Function *known = module_.getFunction(name))
      return known;
    auto *function =
        Function::Create(FunctionType::get(result, all, false), GlobalValue::InternalLinkage, name, module_);
    return function;
  }

  static SmallVector<Value *, 5> values(Function &function) {
    SmallVector<Value *, 5> out;
    for (Argument &arg : function.args())
      out.push_back(&arg);
    return out;
  }

  // A function that compares elements, and writes nothing that the program sees.
  Function *comparing(StringRef name, Type *result, ArrayRef<Type *> params, bool context) {
    Function *function = declare(name, result, params, context);
    if (function->isDeclaration()) {
      function->addFnAttr("enzyme_inactive");
      function->setMemoryEffects(MemoryEffects::readOnly() | MemoryEffects::inaccessibleMemOnly(ModRefInfo::ModRef));
    }
    return function;
  }

  Value *compare(Writer &w, Value *function, Value *a, Value *b, Value *context) {
    SmallVector<Type *, 3> types(2 + (context ? 1 : 0), pointer_);
    SmallVector<Value *, 3> args{a, b};
    if (context)
      args.push_back(context);
    return w.builder.CreateCall(FunctionType::get(w.builder.getInt32Ty(), types, false), function, args);
  }

  // The indices of the elements in their order, in memory of its own.
  Function *orderOf(bool with_context) {
    Function *function = comparing(with_context ? "enzyme.lib.order_r" : "enzyme.lib.order", pointer_,
                                   {pointer_, word_, word_, pointer_}, with_context);
    if (!function->isDeclaration())
      return function;
    function->addRetAttr(Attribute::NoAlias);
    SmallVector<Value *, 5> args = values(*function);
    Value *base = args[0], *count = args[1], *size = args[2], *context = with_context ? args[4] : nullptr;
    Writer w(*function);
    IRBuilder<> &b = w.builder;
    Value *bytes = b.CreateMul(count, w.number(8));
    Value *from = w.slot(w.allocate(module_, bytes)), *to = w.slot(w.allocate(module_, bytes));
    w.count(w.number(0), count, w.number(1), [&](Value *i) { b.CreateStore(i, w.entry(w.get(from), i)); });
    Value *width = w.slot(w.number(1)), *left = w.slot(w.number(0)), *right = w.slot(w.number(0));
    Value *take_left = w.slot(b.getFalse());
    w.whileDo([&] { return b.CreateICmpULT(w.get(width), count); },
              [&] {
                Value *step = b.CreateMul(w.get(width), w.number(2));
                w.count(w.number(0), count, step, [&](Value *begin) {
                  Value *middle = w.atMost(b.CreateAdd(begin, w.get(width)), count);
                  Value *end = w.atMost(b.CreateAdd(begin, step), count);
                  w.set(left, begin);
                  w.set(right, middle);
                  w.count(begin, end, w.number(1), [&](Value *k) {
                    Value *has_left = b.CreateICmpULT(w.get(left), middle);
                    Value *has_right = b.CreateICmpULT(w.get(right), end);
                    w.set(take_left, has_left);
                    BasicBlock *both = w.block(), *decided = w.block();
                    b.CreateCondBr(b.CreateAnd(has_left, has_right), both, decided);
                    b.SetInsertPoint(both);
                    Value *first = b.CreateLoad(word_, w.entry(w.get(from), w.get(left)));
                    Value *second = b.CreateLoad(word_, w.entry(w.get(from), w.get(right)));
                    Value *order =
                        compare(w, args[3], w.element(base, first, size), w.element(base, second, size), context);
                    w.set(take_left, b.CreateICmpSLE(order, b.getInt32(0)));
                    b.CreateBr(decided);
                    b.SetInsertPoint(decided);
                    Value *choice = w.get(take_left);
                    Value *taken = b.CreateSelect(choice, w.get(left), w.get(right));
                    b.CreateStore(b.CreateLoad(word_, w.entry(w.get(from), taken)), w.entry(w.get(to), k));
                    w.set(left, b.CreateAdd(w.get(left), b.CreateZExt(choice, word_)));
                    w.set(right, b.CreateAdd(w.get(right), b.CreateZExt(b.CreateNot(choice), word_)));
                  });
                });
                Value *old = w.get(from);
                w.set(from, w.get(to));
                w.set(to, old);
                w.set(width, step);
              });
    w.release(module_, w.get(to));
    b.CreateRet(w.get(from));
    return tidied(function);
  }

  // The index of an element equal to the key, or the number of elements.
  Function *positionOf() {
    Function *function = comparing("enzyme.lib.position", word_, {pointer_, pointer_, word_, word_, pointer_}, false);
    if (!function->isDeclaration())
      return function;
    SmallVector<Value *, 5> args = values(*function);
    Writer w(*function);
    IRBuilder<> &b = w.builder;
    Value *low = w.slot(w.number(0)), *high = w.slot(args[2]);
    w.whileDo([&] { return b.CreateICmpULT(w.get(low), w.get(high)); },
              [&] {
                Value *middle = b.CreateLShr(b.CreateAdd(w.get(low), w.get(high)), w.number(1));
                Value *order = compare(w, args[4], args[0], w.element(args[1], middle, args[3]), nullptr);
                BasicBlock *found = w.block(), *other = w.block();
                b.CreateCondBr(b.CreateICmpEQ(order, b.getInt32(0)), found, other);
                b.SetInsertPoint(found);
                b.CreateRet(middle);
                b.SetInsertPoint(other);
                Value *below = b.CreateICmpSLT(order, b.getInt32(0));
                w.set(low, b.CreateSelect(below, w.get(low), b.CreateAdd(middle, w.number(1))));
                w.set(high, b.CreateSelect(below, middle, w.get(high)));
              });
    b.CreateRet(args[2]);
    return tidied(function);
  }

  // From variables on the stack to values: no later pass may come by.
  Function *tidied(Function *function) {
    FunctionPassManager passes;
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass());
    PreservedAnalyses preserved = passes.run(*function, *host_.functions);
    host_.functions->invalidate(*function, preserved);
    return function;
  }

  EnzOpaqueHost &host_;
  Module &module_;
  IntegerType *word_;
  PointerType *pointer_;
};

} // namespace

bool enz::callsBack(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  return callee && callee->isDeclaration() && isa<CallInst, InvokeInst>(call) &&
         is_contained({"qsort", "qsort_r", "bsearch"}, callee->getName());
}

bool enz::replaceCallbacks(EnzOpaqueHost &host, Function &clone) {
  SmallVector<CallBase *, 4> calls;
  for (BasicBlock &block : clone)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && callsBack(*call))
        calls.push_back(call);
  bool changed = false;
  for (CallBase *call : calls) {
    Function *callee = call->getCalledFunction();
    const bool searches = callee->getName() == "bsearch";
    const unsigned comparing = searches ? 4 : 3;
    if (call->arg_size() <= comparing || !onlyCompares(host, clone, call->getArgOperand(comparing)))
      continue;
    Library library(host);
    Function *ours = searches ? library.search() : library.sort(callee->getName() == "qsort_r");
    if (ours->getFunctionType() != callee->getFunctionType())
      continue;
    call->setCalledFunction(ours);
    changed = true;
  }
  return changed;
}
