// Calls of functions with variable arguments: calls of copies that have the arguments as parameters.
//
// A derivative has a shadow beside each argument, so it can't be called as the primal was, and `va_start` finds nothing
// in it. For each list of argument types there is a copy of the function that lays its further parameters out in memory
// as the caller's stack would have them, and a `va_list` that begins there: the registers count as used up, so
// `va_arg` looks nowhere else (System V ABI for AMD64, 3.5.7). A `va_list` may be handed on.
//
// Not handled: other targets, where the calls stay as they are; functions with `musttail` calls; arguments that no C
// compiler passes so (whole structures, integers of more than 64 bits).

#include "members.h"
#include "support.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// Fields of a `va_list`, and how far its offsets into the saved registers go.
constexpr uint64_t kFloatOffset = 4, kOverflowArea = 8, kSaveArea = 16, kListSize = 24;
constexpr uint32_t kIntegersUsedUp = 48, kFloatsUsedUp = 176;

bool startsList(const Function &function) {
  bool starts = false;
  for (const Instruction &inst : instructions(function)) {
    const auto *call = dyn_cast<CallInst>(&inst);
    if (call && call->isMustTailCall())
      return false;
    starts |= isa<VAStartInst>(&inst);
  }
  return starts;
}

// Whether clang passes arguments of this type as they are: a structure comes in parts or in memory.
bool isPassed(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  Type *scalar = vector ? vector->getElementType() : type;
  return scalar->isFloatingPointTy() || (scalar->isIntegerTy() && scalar->getIntegerBitWidth() <= 64) ||
         (scalar->isPointerTy() && scalar->getPointerAddressSpace() == 0);
}

bool arePassed(const CallBase &call) {
  for (unsigned i = call.getFunctionType()->getNumParams(); i < call.arg_size(); ++i) {
    Type *held = call.isByValArgument(i) ? call.getParamByValType(i) : nullptr;
    if (held ? held->isScalableTy() || !held->isSized() : !isPassed(call.getArgOperand(i)->getType()))
      return false;
  }
  return true;
}

// How the further arguments of a call lie in memory.
class Area {
public:
  Area(const CallBase &call, const DataLayout &layout) : context_(call.getContext()) {
    for (unsigned i = call.getFunctionType()->getNumParams(); i < call.arg_size(); ++i) {
      Type *type = call.isByValArgument(i) ? call.getParamByValType(i) : call.getArgOperand(i)->getType();
      const uint64_t size = layout.getTypeAllocSize(type);
      uint64_t alignment = std::max<uint64_t>(8, layout.getABITypeAlign(type).value());
      if (call.isByValArgument(i))
        alignment = std::max(alignment, call.getParamAlign(i).valueOrOne().value());
      pad(alignTo(end_, alignment));
      fields_.push_back(static_cast<unsigned>(elements_.size()));
      elements_.push_back(type);
      end_ += size;
      alignment_ = std::max(alignment_, alignment);
    }
    pad(alignTo(end_, 8));
  }

  StructType *type() const { return StructType::get(context_, elements_, /*isPacked=*/true); }
  unsigned field(unsigned argument) const { return fields_[argument]; }
  Align alignment() const { return Align(alignment_); }

private:
  void pad(uint64_t to) {
    if (to > end_)
      elements_.push_back(ArrayType::get(Type::getInt8Ty(context_), to - end_));
    end_ = to;
  }

  LLVMContext &context_;
  SmallVector<Type *, 8> elements_;
  SmallVector<unsigned, 8> fields_;
  uint64_t end_ = 0;
  uint64_t alignment_ = 8;
};

// Puts what `va_start` and its kin do in other words, in a function whose further parameters are in `area`.
void lowerLists(Function &function, Value *area) {
  IRBuilder<> at(function.getContext());
  for (Instruction &inst : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&inst);
    if (!call)
      continue;
    at.SetInsertPoint(call);
    Value *list = call->arg_size() > 0 ? call->getArgOperand(0) : nullptr;
    const auto field = [&](uint64_t offset) { return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), list, offset); };
    switch (call->getIntrinsicID()) {
    case Intrinsic::vastart:
      at.CreateStore(at.getInt32(kIntegersUsedUp), list);
      at.CreateStore(at.getInt32(kFloatsUsedUp), field(kFloatOffset));
      at.CreateStore(area, field(kOverflowArea));
      at.CreateStore(area, field(kSaveArea));
      break;
    case Intrinsic::vacopy:
      at.CreateMemCpy(list, Align(8), call->getArgOperand(1), Align(8), kListSize);
      break;
    case Intrinsic::vaend:
      break;
    default:
      continue;
    }
    call->eraseFromParent();
  }
}

// What C calls a type of floats that arguments of variable number have; null for other types.
const char *nameOf(const Type &type) {
  return type.isDoubleTy() ? "double" : type.isX86_FP80Ty() || type.isFP128Ty() ? "long double" : nullptr;
}

// The copy of `callee` for such a call.
Function *copyFor(Function &callee, const CallBase &call) {
  Module &module = *callee.getParent();
  const unsigned fixed = call.getFunctionType()->getNumParams();
  SmallVector<Type *, 8> types;
  std::string name = (callee.getName() + enz::kVariadic).str();
  {
    raw_string_ostream out(name);
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      types.push_back(call.getArgOperand(i)->getType());
      if (i >= fixed) {
        out << '.';
        (call.isByValArgument(i) ? call.getParamByValType(i) : types.back())->print(out, false, /*NoDetails=*/true);
      }
    }
  }
  auto *type = FunctionType::get(callee.getReturnType(), types, /*isVarArg=*/false);
  if (Function *made = module.getFunction(name))
    return made->getFunctionType() == type ? made : nullptr;

  Function *copy = Function::Create(type, GlobalValue::InternalLinkage, callee.getAddressSpace(), name, &module);
  ValueToValueMapTy map;
  for (auto [from, to] : zip(callee.args(), copy->args()))
    map[&from] = &to;
  SmallVector<ReturnInst *, 4> returns;
  CloneFunctionInto(copy, &callee, map, CloneFunctionChangeType::LocalChangesOnly, returns);
  copy->setLinkage(GlobalValue::InternalLinkage);
  copy->setVisibility(GlobalValue::DefaultVisibility);
  copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  copy->setComdat(nullptr);
  if (callee.hasFnAttribute(Attribute::OptimizeNone)) {
    copy->removeFnAttr(Attribute::OptimizeNone);
    copy->removeFnAttr(Attribute::NoInline);
  }
  // It reads the arguments from memory of its own now.
  copy->removeFnAttr(Attribute::Memory);

  const Area area(call, module.getDataLayout());
  IRBuilder<> at(&*copy->getEntryBlock().getFirstInsertionPt());
  AllocaInst *memory = at.CreateAlloca(area.type(), nullptr, "arguments");
  memory->setAlignment(area.alignment());
  for (unsigned i = fixed; i < call.arg_size(); ++i) {
    Argument *given = copy->getArg(i);
    Value *place = at.CreateStructGEP(area.type(), memory, area.field(i - fixed));
    if (call.isByValArgument(i)) {
      Type *held = call.getParamByValType(i);
      given->addAttr(Attribute::getWithByValType(copy->getContext(), held));
      at.CreateMemCpy(place, Align(8), given, Align(8), module.getDataLayout().getTypeAllocSize(held));
    } else {
      StoreInst *store = at.CreateAlignedStore(given, place, Align(8));
      if (const char *name = nameOf(*given->getType()))
        store->setMetadata(LLVMContext::MD_tbaa, enz::accessTag(name, copy->getContext()));
    }
  }
  lowerLists(*copy, memory);
  return copy;
}

// The same call of another function.
void redirect(CallBase &call, Function &copy) {
  const SmallVector<Value *, 8> arguments(call.args());
  SmallVector<OperandBundleDef, 2> bundles;
  call.getOperandBundlesAsDefs(bundles);
  CallBase *made = nullptr;
  if (auto *invoke = dyn_cast<InvokeInst>(&call))
    made = InvokeInst::Create(copy.getFunctionType(), &copy, invoke->getNormalDest(), invoke->getUnwindDest(),
                              arguments, bundles, "", call.getIterator());
  else
    made = CallInst::Create(copy.getFunctionType(), &copy, arguments, bundles, "", call.getIterator());
  made->setCallingConv(call.getCallingConv());
  made->setAttributes(call.getAttributes());
  made->removeFnAttr(Attribute::Memory);
  made->copyMetadata(call);
  made->takeName(&call);
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
}

} // namespace

namespace enz {

bool fixVariadicCalls(Function &function) {
  const Triple &target = function.getParent()->getTargetTriple();
  if (target.getArch() != Triple::x86_64 || target.isOSWindows() || target.isX32())
    return false;
  SmallVector<std::pair<CallBase *, Function *>, 4> work;
  for (Instruction &inst : instructions(function)) {
    auto *call = dyn_cast<CallBase>(&inst);
    Function *callee = call && isa<CallInst, InvokeInst>(call) ? call->getCalledFunction() : nullptr;
    if (callee && callee->isVarArg() && exactBody(*callee) && call->getFunctionType() == callee->getFunctionType() &&
        startsList(*callee) && arePassed(*call))
      if (Function *copy = copyFor(*callee, *call))
        work.emplace_back(call, copy);
  }
  for (auto [call, copy] : work)
    redirect(*call, *copy);
  return !work.empty();
}

} // namespace enz
