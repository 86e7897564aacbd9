// Marker calls: found, their arguments classified, and replaced by calls of generated wrappers.

#include "support.h"

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// How far an argument is followed through casts, phis and stack slots.
constexpr int kLookThroughLimit = 16;
// Addresses into one stack slot that are looked at.
constexpr size_t kSlotUseLimit = 64;

// The value that the part of a stack slot holds from which `load` reads, if that part is stored to once and the slot is
// used for nothing but loads and stores at constant offsets.
Value *onlyStored(const LoadInst &load, const DataLayout &layout) {
  APInt offset(layout.getIndexTypeSizeInBits(load.getPointerOperandType()), 0);
  const Value *base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  const auto *slot = dyn_cast<AllocaInst>(base);
  const TypeSize size = layout.getTypeStoreSize(load.getType());
  if (!slot || size.isScalable() || !slot->isStaticAlloca())
    return nullptr;
  const int64_t from = offset.getSExtValue(), to = from + static_cast<int64_t>(size.getFixedValue());
  Value *stored = nullptr;
  SmallVector<std::pair<const Value *, int64_t>, 8> work{{slot, 0}};
  for (size_t next = 0; next < work.size(); ++next) {
    if (next > kSlotUseLimit)
      return nullptr;
    const auto [address, at] = work[next];
    for (const User *user : address->users()) {
      if (const auto *store = dyn_cast<StoreInst>(user)) {
        const TypeSize width = layout.getTypeStoreSize(store->getValueOperand()->getType());
        if (store->getPointerOperand() != address || store->getValueOperand() == address || width.isScalable())
          return nullptr;
        if (at >= to || at + static_cast<int64_t>(width.getFixedValue()) <= from)
          continue;
        if (stored || at != from || store->getValueOperand()->getType() != load.getType())
          return nullptr;
        stored = const_cast<Value *>(store->getValueOperand());
      } else if (const auto *gep = dyn_cast<GetElementPtrInst>(user)) {
        APInt step(layout.getIndexTypeSizeInBits(gep->getType()), 0);
        if (!gep->accumulateConstantOffset(layout, step))
          return nullptr;
        work.push_back({gep, at + step.getSExtValue()});
      } else if (const auto *inst = dyn_cast<Instruction>(user);
                 !isa<LoadInst>(user) && !(inst && inst->isLifetimeStartOrEnd())) {
        return nullptr;
      }
    }
  }
  return stored;
}

// What an argument is behind what compilers put around it.
Value *lookThrough(Value *value) {
  for (int depth = 0; depth < kLookThroughLimit; ++depth) {
    value = enz::resolve(value);
    if (auto *cast = dyn_cast<CastInst>(value)) {
      value = cast->getOperand(0);
    } else if (auto *freeze = dyn_cast<FreezeInst>(value)) {
      value = freeze->getOperand(0);
    } else if (auto *load = dyn_cast<LoadInst>(value)) {
      Value *stored = onlyStored(*load, load->getDataLayout());
      if (!stored)
        return value;
      value = stored;
    } else {
      return value;
    }
  }
  return value;
}

GlobalVariable *loadedGlobal(Value *value) {
  auto *load = dyn_cast<LoadInst>(value);
  return load ? dyn_cast<GlobalVariable>(enz::resolve(load->getPointerOperand())) : nullptr;
}

// The global that a value is loaded from, also where loads of several paths meet.
GlobalVariable *annotation(Value *value) {
  value = lookThrough(value);
  auto *phi = dyn_cast<PHINode>(value);
  if (!phi)
    return loadedGlobal(value);
  GlobalVariable *common = nullptr;
  for (Value *incoming : phi->incoming_values()) {
    GlobalVariable *global = loadedGlobal(lookThrough(incoming));
    if (!global || (common && common != global))
      return nullptr;
    common = global;
  }
  return common;
}

} // namespace

// Names of markers begin with underscores, and may be parts of longer ones. Those of Fortran begin with a letter: they
// are the beginning of the symbol, which ends with an underscore, and the program does not define it.
bool enz::isMarker(const Function &function, const EnzStr *substrings, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const StringRef part = enz::text(substrings[i]);
    if (part.starts_with("_")
            ? function.getName().contains(part)
            : function.isDeclaration() && function.getName().starts_with(part) && function.getName().ends_with("_"))
      return true;
  }
  return false;
}

size_t enz_marker_calls(EnzHost host, const EnzStr *substrings, size_t count, EnzMarkerCall *out, size_t capacity) {
  SmallPtrSet<const Function *, 8> markers;
  for (Function &function : *host->module)
    if (enz::isMarker(function, substrings, count))
      markers.insert(&function);
  if (markers.empty())
    return 0;
  size_t n = 0;
  for (Function &function : *host->module)
    for (BasicBlock &block : function)
      for (Instruction &inst : block) {
        auto *call = dyn_cast<CallBase>(&inst);
        if (!call || isa<CallBrInst>(call))
          continue;
        auto *callee = dyn_cast_or_null<Function>(enz::resolve(call->getCalledOperand()));
        if (!callee || !markers.contains(callee))
          continue;
        if (n < capacity)
          out[n] = EnzMarkerCall{enz::in(static_cast<Value *>(call)),
                                 enz::in(static_cast<Value *>(callee)),
                                 enz::in(static_cast<Value *>(&function)),
                                 enz::in(call->getDebugLoc().get()),
                                 enz::in(call->getType()),
                                 static_cast<uint32_t>(call->arg_size())};
        ++n;
      }
  return n;
}

void enz_marker_arg(EnzValue raw, uint32_t index, EnzMarkerArg *out) {
  *out = EnzMarkerArg{};
  auto *call = enz::as<CallBase>(raw);
  if (!call || index >= call->arg_size())
    return;
  Value *arg = call->getArgOperand(index);
  out->type = enz::in(arg->getType());
  enz_param_info(raw, index, &out->attrs);
  Value *value = lookThrough(arg);
  if (auto *function = dyn_cast<Function>(value)) {
    out->kind = ENZ_ARG_FUNCTION;
    out->target = enz::in(static_cast<Value *>(function));
  } else if (auto *global = dyn_cast<GlobalVariable>(value)) {
    out->kind = ENZ_ARG_GLOBAL;
    out->target = enz::in(static_cast<Value *>(global));
  } else if (auto *number = dyn_cast<ConstantInt>(value); number && number->getBitWidth() <= 64) {
    out->kind = ENZ_ARG_INT;
    out->number = number->getZExtValue();
  } else if (GlobalVariable *loaded = annotation(arg)) {
    out->kind = ENZ_ARG_LOAD_OF_GLOBAL;
    out->target = enz::in(static_cast<Value *>(loaded));
  }
}

static EnzValue refuse(EnzTextSink error, void *context, const Twine &message) {
  enz::SinkStream out(error, context);
  *out << message;
  return nullptr;
}

EnzValue enz_marker_replace(EnzHost host, EnzValue raw, EnzValue raw_wrapper, EnzTextSink error, void *context) {
  auto *call = enz::as<CallBase>(raw);
  auto *wrapper = enz::as<Function>(raw_wrapper);
  if (!call || !wrapper)
    return refuse(error, context, "the marker is not a call, or the wrapper not a function");
  FunctionType *type = wrapper->getFunctionType();
  if (type->isVarArg() || type->getNumParams() != call->arg_size() || type->getReturnType() != call->getType())
    return refuse(error, context, "the wrapper's type is not that of the call");
  for (unsigned i = 0; i < call->arg_size(); ++i)
    if (call->getArgOperand(i)->getType() != type->getParamType(i))
      return refuse(error, context, "the wrapper's parameter " + Twine(i) + " has another type than the argument");

  // How arguments are passed must be the same at the call and in the wrapper.
  LLVMContext &llvm = host->module->getContext();
  SmallVector<AttributeSet, 8> params;
  for (unsigned i = 0; i < call->arg_size(); ++i)
    params.push_back(call->getAttributes().getParamAttrs(i));
  const AttributeSet ret = call->getAttributes().getRetAttrs();
  const AttributeList of_wrapper = wrapper->getAttributes();
  wrapper->setAttributes(AttributeList::get(llvm, of_wrapper.getFnAttrs(), ret, params));
  wrapper->addFnAttr(Attribute::AlwaysInline);
  wrapper->setCallingConv(call->getCallingConv());

  if (GlobalVariable *epoch = enz::epochOf(*host->module, /*make=*/false)) {
    IRBuilder<> before(call);
    Value *last = before.CreateLoad(epoch->getValueType(), epoch);
    before.CreateStore(before.CreateAdd(last, ConstantInt::get(epoch->getValueType(), 1)), epoch);
  }
  SmallVector<Value *, 8> args(call->args());
  SmallVector<OperandBundleDef, 1> bundles;
  call->getOperandBundlesAsDefs(bundles);
  CallBase *made = nullptr;
  if (auto *invoke = dyn_cast<InvokeInst>(call))
    made = InvokeInst::Create(wrapper, invoke->getNormalDest(), invoke->getUnwindDest(), args, bundles, "",
                              invoke->getIterator());
  else
    made = CallInst::Create(wrapper, args, bundles, "", call->getIterator());
  made->setCallingConv(call->getCallingConv());
  made->setAttributes(AttributeList::get(llvm, AttributeSet(), ret, params));
  made->setDebugLoc(call->getDebugLoc());
  made->takeName(call);
  call->replaceAllUsesWith(made);
  host->functions->invalidate(*call->getFunction(), PreservedAnalyses::none());
  call->eraseFromParent();
  return enz::in(static_cast<Value *>(made));
}

namespace {

// The functions that `root` calls or names, directly or not, and itself.
SmallPtrSet<const Function *, 32> reachedFrom(const Function &root) {
  SmallPtrSet<const Function *, 32> seen{&root};
  SmallVector<const Function *, 32> work{&root};
  while (!work.empty()) {
    const Function *function = work.pop_back_val();
    for (const BasicBlock &block : *function)
      for (const Instruction &inst : block)
        for (const Use &use : inst.operands())
          if (auto *named = dyn_cast<Function>(use->stripPointerCastsAndAliases()); named && seen.insert(named).second)
            work.push_back(named);
  }
  return seen;
}

} // namespace

size_t enz_marker_needs(const EnzValue *calls, size_t count, EnzMarkerNeed *out, size_t capacity) {
  DenseMap<const Function *, SmallPtrSet<const Function *, 32>> reached;
  size_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    auto *call = enz::as<CallBase>(calls[i]);
    if (!call)
      continue;
    const unsigned first = call->hasStructRetAttr() ? 1 : 0;
    const Value *given = call->arg_size() > first ? lookThrough(call->getArgOperand(first)) : nullptr;
    auto add = [&](size_t inner) {
      if (n < capacity)
        out[n] = EnzMarkerNeed{static_cast<uint32_t>(i), static_cast<uint32_t>(inner)};
      ++n;
    };
    if (given && isa<CallBase>(given))
      for (size_t j = 0; j < count; ++j)
        if (j != i && enz::as<CallBase>(calls[j]) == given)
          add(j);
    auto *target = dyn_cast_or_null<Function>(given);
    if (!target)
      continue;
    auto [found, fresh] = reached.try_emplace(target);
    if (fresh)
      found->second = reachedFrom(*target);
    for (size_t j = 0; j < count; ++j)
      if (auto *inner = enz::as<CallBase>(calls[j]); inner && j != i && found->second.contains(inner->getFunction()))
        add(j);
  }
  return n;
}
