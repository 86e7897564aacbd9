// Calls and idioms that the derivative has no words for, put in words that it has, in a clone that is ours.
//
// - Complex functions of the C library pass their numbers as calling conventions like it: packed in vectors or arrays,
//   or in memory. Each is called through a wrapper that takes and returns real and imaginary parts one by one; the
//   name of a wrapper is `enzyme.abi.` and the name of the function, by which the table of rules finds it.
// - Marks that are but their operand (`llvm.launder.invariant.group`, `llvm.threadlocal.address`, ...) become it.
// - What keeps variables alive for a debugger (`llvm.fake.use`, at -Og) goes: a clone has no variables to show, and a
//   vector that is only moved would look used.
// - An address that is computed as an integer becomes the pointer it came from plus the difference, so that the shadow
//   address moves by as many bytes, wherever the shadow lies.
// - So does what `dynamic_cast` finds in an object.
// - Functions of the C++ library that link nodes get the bodies of library.c.
// - `mempcpy` is `memcpy` and an addition; calls of functions that copy, fill, round and move signs are instructions.
// - Calls that were written without a prototype, as C calls Fortran, pass what their function takes.
// - A sum or product of integers that comes with whether it overflowed is one by itself: of that it is known what
//   divides it.
// - What -ffast-math allows is not done where the program itself is not optimised: `(x + M) - M` rounds there.
//
// Vector operations are those of vectors.cpp, assembly that of assembly.cpp. What is not known here stays as it is.

#include "support.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

constexpr StringLiteral kComplex[] = {
    "cabs",  "carg",  "cexp",  "clog",   "csqrt",  "cpow",   "csin", "ccos",  "ctan",  "casin", "cacos", "catan",
    "csinh", "ccosh", "ctanh", "casinh", "cacosh", "catanh", "conj", "cproj", "creal", "cimag", "cexp2", "clog10",
};
constexpr StringLiteral kComplexRuntime[] = {
    "__mulhc3", "__mulsc3", "__muldc3", "__mulxc3", "__multc3",
    "__divhc3", "__divsc3", "__divdc3", "__divxc3", "__divtc3",
};

bool isComplexFunction(StringRef name) {
  for (StringRef known : kComplexRuntime)
    if (name == known)
      return true;
  for (StringRef known : kComplex)
    if (name.starts_with(known)) {
      const StringRef rest = name.substr(known.size());
      if (rest.empty() || rest == "f" || rest == "l" || rest == "f128" || rest == "q")
        return true;
    }
  return false;
}

// The float of which `type` holds two, or null.
Type *partOfPair(Type *type) {
  Type *part = nullptr;
  if (auto *vector = dyn_cast<FixedVectorType>(type))
    part = vector->getNumElements() == 2 ? vector->getElementType() : nullptr;
  else if (auto *array = dyn_cast<ArrayType>(type))
    part = array->getNumElements() == 2 ? array->getElementType() : nullptr;
  else if (auto *record = dyn_cast<StructType>(type))
    part = record->getNumElements() == 2 && record->getElementType(0) == record->getElementType(1)
               ? record->getElementType(0)
               : nullptr;
  return part && part->isFloatingPointTy() ? part : nullptr;
}

Value *takePart(IRBuilder<> &builder, Value *pair, unsigned n) {
  return pair->getType()->isVectorTy() ? builder.CreateExtractElement(pair, n) : builder.CreateExtractValue(pair, n);
}

Value *makePair(IRBuilder<> &builder, Type *type, Value *first, Value *second) {
  Value *out = PoisonValue::get(type);
  Value *const parts[] = {first, second};
  for (unsigned n = 0; n < 2; ++n)
    out = type->isVectorTy() ? builder.CreateInsertElement(out, parts[n], n)
                             : builder.CreateInsertValue(out, parts[n], n);
  return out;
}

// How a call passes one complex or real number.
struct Passing {
  enum { Scalar, Pair, Memory } how;
  Type *part;
};

bool passings(const CallBase &call, SmallVectorImpl<Passing> &out) {
  for (unsigned n = 0; n < call.arg_size(); ++n) {
    Type *type = call.getArgOperand(n)->getType();
    if (type->isFloatingPointTy())
      out.push_back({Passing::Scalar, type});
    else if (Type *part = partOfPair(type))
      out.push_back({Passing::Pair, part});
    else if (Type *held = call.getParamByValType(n); held && partOfPair(held))
      out.push_back({Passing::Memory, partOfPair(held)});
    else
      return false;
  }
  return true;
}

Function *wrapperOf(CallBase &call, Function &callee, ArrayRef<Passing> how) {
  Module &module = *callee.getParent();
  const std::string name = ("enzyme.abi." + callee.getName()).str();
  SmallVector<Type *, 4> params;
  for (const Passing &p : how)
    params.append(p.how == Passing::Scalar ? 1 : 2, p.part);
  Type *part = partOfPair(call.getType());
  Type *result = part ? StructType::get(part, part) : call.getType();
  auto *type = FunctionType::get(result, params, false);
  if (Function *known = module.getFunction(name))
    return known->getFunctionType() == type ? known : nullptr;
  Function *wrapper = Function::Create(type, GlobalValue::InternalLinkage, name, module);
  wrapper->setAttributes(AttributeList::get(callee.getContext(), AttributeList::FunctionIndex,
                                            AttrBuilder(callee.getContext(), callee.getAttributes().getFnAttrs())));
  wrapper->removeFnAttr(Attribute::AlwaysInline);
  wrapper->addFnAttr(Attribute::NoInline);
  wrapper->setMemoryEffects(call.getMemoryEffects() | callee.getMemoryEffects());
  IRBuilder<> builder(BasicBlock::Create(callee.getContext(), "entry", wrapper));
  SmallVector<Value *, 4> args;
  auto *next = wrapper->arg_begin();
  unsigned n = 0;
  for (const Passing &p : how) {
    Type *wanted = call.getArgOperand(n)->getType();
    if (p.how == Passing::Scalar) {
      args.push_back(&*next++);
    } else {
      Value *first = &*next++, *second = &*next++;
      if (p.how == Passing::Pair) {
        args.push_back(makePair(builder, wanted, first, second));
      } else {
        Type *held = call.getParamByValType(n);
        AllocaInst *slot = builder.CreateAlloca(held);
        if (MaybeAlign align = call.getParamAlign(n))
          slot->setAlignment(*align);
        builder.CreateStore(makePair(builder, held, first, second), slot);
        args.push_back(slot);
      }
    }
    ++n;
  }
  CallInst *inner = builder.CreateCall(callee.getFunctionType(), &callee, args);
  inner->setCallingConv(call.getCallingConv());
  inner->setAttributes(call.getAttributes());
  Value *out = inner;
  if (part)
    out = makePair(builder, result, takePart(builder, inner, 0), takePart(builder, inner, 1));
  builder.CreateRet(out);
  return wrapper;
}

bool unpackComplex(CallInst &call, Function &callee) {
  SmallVector<Passing, 4> how;
  if (callee.getFunctionType() != call.getFunctionType() || call.arg_size() == 0 || !passings(call, how))
    return false;
  Type *part = partOfPair(call.getType());
  const bool plain_args = all_of(how, [](const Passing &p) { return p.how == Passing::Scalar; });
  const bool plain_result = !part || call.getType()->isStructTy();
  if ((plain_args && plain_result) || (!part && !call.getType()->isFloatingPointTy()))
    return false;
  Function *wrapper = wrapperOf(call, callee, how);
  if (!wrapper)
    return false;
  IRBuilder<> builder(&call);
  SmallVector<Value *, 4> args;
  unsigned n = 0;
  for (const Passing &p : how) {
    Value *arg = call.getArgOperand(n);
    if (p.how == Passing::Scalar) {
      args.push_back(arg);
    } else {
      Value *pair = arg;
      if (p.how == Passing::Memory) {
        LoadInst *load = builder.CreateLoad(call.getParamByValType(n), arg);
        load->setAlignment(call.getParamAlign(n).valueOrOne());
        pair = load;
      }
      args.push_back(takePart(builder, pair, 0));
      args.push_back(takePart(builder, pair, 1));
    }
    ++n;
  }
  CallInst *inner = builder.CreateCall(wrapper, args);
  inner->copyMetadata(call);
  if (isa<FPMathOperator>(inner) && isa<FPMathOperator>(&call))
    inner->copyFastMathFlags(&call);
  Value *out = inner;
  if (part)
    out = makePair(builder, call.getType(), takePart(builder, inner, 0), takePart(builder, inner, 1));
  call.replaceAllUsesWith(out);
  return true;
}

bool isMark(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::threadlocal_address:
  case Intrinsic::ptr_annotation:
  case Intrinsic::annotation:
  case Intrinsic::ssa_copy:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
    return true;
  default:
    return false;
  }
}

// `from` moved to the address that the integer `address` is.
Value *movedTo(IRBuilder<> &builder, Value *from, Value *address) {
  Value *start = builder.CreatePtrToInt(from, address->getType());
  return builder.CreateGEP(builder.getInt8Ty(), from, builder.CreateSub(address, start));
}

// The pointer from which an integer was computed: the only one in a chain of additions and masks.
Value *sourceOf(Value *address, unsigned depth) {
  if (depth > 8)
    return nullptr;
  if (auto *cast = dyn_cast<PtrToIntOperator>(address))
    return cast->getPointerOperand();
  auto *math = dyn_cast<BinaryOperator>(address);
  if (!math)
    return nullptr;
  switch (math->getOpcode()) {
  case Instruction::Add:
  case Instruction::Or:
  case Instruction::And: {
    Value *left = sourceOf(math->getOperand(0), depth + 1), *right = sourceOf(math->getOperand(1), depth + 1);
    return left && right ? nullptr : (left ? left : right);
  }
  case Instruction::Sub: {
    Value *right = sourceOf(math->getOperand(1), depth + 1);
    return right ? nullptr : sourceOf(math->getOperand(0), depth + 1);
  }
  default:
    return nullptr;
  }
}

// Copies and fills of the C library that are calls (-fno-builtin) or return where they end.
bool moveByteCopy(CallInst &call, StringRef name) {
  const bool ends = name == "mempcpy" || name == "__mempcpy" || name == "__mempcpy_chk";
  const bool copies = ends || name == "memcpy" || name == "memmove", fills = name == "memset";
  if ((!copies && !fills) || call.arg_size() < 3 || !call.getType()->isPointerTy() ||
      !call.getArgOperand(0)->getType()->isPointerTy() || !call.getArgOperand(2)->getType()->isIntegerTy() ||
      (copies ? !call.getArgOperand(1)->getType()->isPointerTy() : !call.getArgOperand(1)->getType()->isIntegerTy(32)))
    return false;
  IRBuilder<> builder(&call);
  Value *to = call.getArgOperand(0), *second = call.getArgOperand(1), *bytes = call.getArgOperand(2);
  CallInst *made = fills
                       ? builder.CreateMemSet(to, builder.CreateTrunc(second, builder.getInt8Ty()), bytes, MaybeAlign())
                   : name == "memmove" ? builder.CreateMemMove(to, MaybeAlign(), second, MaybeAlign(), bytes)
                                       : builder.CreateMemCpy(to, MaybeAlign(), second, MaybeAlign(), bytes);
  made->copyMetadata(call);
  call.replaceAllUsesWith(ends ? builder.CreateGEP(builder.getInt8Ty(), to, bytes) : to);
  return true;
}

// Functions of the C library that only move bits or round are instructions, be it that the program keeps clang from
// taking them for such (-fno-builtin): idioms are known by these.
bool makeIntrinsic(CallInst &call, const Function &callee) {
  Type *type = call.getType();
  StringRef name = callee.getName();
  // A function whose address is taken may have a rule of the program's own.
  if (!callee.isDeclaration() || call.isStrictFP() || callee.hasAddressTaken() || !type->isFloatingPointTy() ||
      call.arg_size() > 2 || any_of(call.args(), [&](const Value *arg) { return arg->getType() != type; }))
    return false;
  if (!(type->isFloatTy() && name.consume_back("f")) && !(type->isX86_FP80Ty() && name.consume_back("l")) &&
      !type->isDoubleTy())
    return false;
  const Intrinsic::ID id = StringSwitch<Intrinsic::ID>(name)
                               .Case("copysign", Intrinsic::copysign)
                               .Case("fabs", Intrinsic::fabs)
                               .Case("floor", Intrinsic::floor)
                               .Case("ceil", Intrinsic::ceil)
                               .Case("trunc", Intrinsic::trunc)
                               .Case("rint", Intrinsic::rint)
                               .Case("nearbyint", Intrinsic::nearbyint)
                               .Case("round", Intrinsic::round)
                               .Case("roundeven", Intrinsic::roundeven)
                               .Default(Intrinsic::not_intrinsic);
  if (id == Intrinsic::not_intrinsic || call.arg_size() != (id == Intrinsic::copysign ? 2 : 1))
    return false;
  IRBuilder<> builder(&call);
  CallInst *made = builder.CreateIntrinsic(id, {type}, SmallVector<Value *, 2>(call.args()),
                                           isa<FPMathOperator>(call) ? &call : nullptr);
  made->copyMetadata(call);
  call.replaceAllUsesWith(made);
  return true;
}

// Sends a call of a library function to the body that is known of it. The increment of constant and other iterators is
// one function.
bool giveBody(CallBase &call) {
  Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->hasLocalLinkage() || !enz::hasLibraryBody(callee->getName()))
    return false;
  Function *body = enz::libraryBody(*callee);
  if (!body)
    return false;
  call.setCalledFunction(body);
  return true;
}

// Whether `call` was replaced and can go.
bool rewriteCall(CallInst &call) {
  if (call.isInlineAsm())
    return enz::rewriteAssembly(call);
  Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration())
    return false;
  if (const Intrinsic::ID id = callee->getIntrinsicID()) {
    if (isMark(id)) {
      call.replaceAllUsesWith(call.getArgOperand(0));
      return true;
    }
    if (id == Intrinsic::fake_use || id == Intrinsic::invariant_end ||
        (id == Intrinsic::invariant_start && call.use_empty()))
      return true;
    if (id == Intrinsic::ptrmask && !call.getType()->isVectorTy()) {
      IRBuilder<> builder(&call);
      Value *pointer = call.getArgOperand(0), *mask = call.getArgOperand(1);
      Value *start = builder.CreatePtrToInt(pointer, mask->getType());
      call.replaceAllUsesWith(movedTo(builder, pointer, builder.CreateAnd(start, mask)));
      return true;
    }
    return enz::rewriteVectorCall(call);
  }
  if (callee->hasLocalLinkage())
    return false;
  const StringRef name = callee->getName();
  return isComplexFunction(name) ? unpackComplex(call, *callee)
                                 : moveByteCopy(call, name) || makeIntrinsic(call, *callee);
}

// The call as the callee's own type wants it: integers have the width of the parameters, lengths of texts that nobody
// passes are zero, and what the callee does not take is left out. Null if it is so already, or if more than that
// differs.
CallInst *withPrototype(CallInst &call) {
  auto *callee = dyn_cast<Function>(call.getCalledOperand());
  FunctionType *type = callee ? callee->getFunctionType() : nullptr;
  if (!type || type == call.getFunctionType() || type->isVarArg() || callee->isDeclaration() ||
      call.hasOperandBundles() || call.getCallingConv() != callee->getCallingConv() ||
      (type->getReturnType() != call.getType() && !call.use_empty()))
    return nullptr;
  IRBuilder<> builder(&call);
  SmallVector<Value *, 16> arguments;
  for (const Argument &parameter : callee->args()) {
    const unsigned n = parameter.getArgNo();
    Value *given = n < call.arg_size() ? call.getArgOperand(n) : nullptr;
    Type *wanted = parameter.getType();
    if (parameter.hasPassPointeeByValueCopyAttr() || parameter.hasStructRetAttr())
      return nullptr;
    if (!given && wanted->isIntegerTy())
      given = ConstantInt::get(wanted, 0);
    else if (given && wanted->isIntegerTy() && given->getType()->isIntegerTy())
      given = builder.CreateSExtOrTrunc(given, wanted);
    if (!given || given->getType() != wanted)
      return nullptr;
    arguments.push_back(given);
  }
  CallInst *made = builder.CreateCall(callee, arguments);
  made->setCallingConv(call.getCallingConv());
  if (made->getType() == call.getType())
    call.replaceAllUsesWith(made);
  return made;
}

} // namespace

// What `dynamic_cast` finds, as a place in the object that it was given.
static bool placeCast(CallBase &call) {
  constexpr StringLiteral kPlaced = "enzyme-placed";
  const Function *callee = call.getCalledFunction();
  if (!callee || callee->getName() != "__dynamic_cast" || call.arg_size() != 4 || call.use_empty() ||
      !isa<CallInst>(call) || !call.getType()->isPointerTy() || call.getArgOperand(0)->getType() != call.getType() ||
      call.hasFnAttr(kPlaced))
    return false;
  call.addFnAttr(Attribute::get(call.getContext(), kPlaced));
  IRBuilder<> builder(call.getNextNode());
  auto *address = cast<Instruction>(builder.CreatePtrToInt(&call, builder.getInt64Ty()));
  Value *none = Constant::getNullValue(call.getType());
  auto *failed = cast<Instruction>(builder.CreateICmpEQ(&call, none));
  Value *found = builder.CreateSelect(failed, none, movedTo(builder, call.getArgOperand(0), address));
  call.replaceUsesWithIf(found, [&](const Use &use) { return use.getUser() != address && use.getUser() != failed; });
  return true;
}

void enz::keepOrder(Function &function) {
  if (!function.hasFnAttribute(Attribute::OptimizeNone))
    return;
  for (Instruction &inst : instructions(function))
    if (isa<FPMathOperator>(inst)) {
      inst.setHasAllowReassoc(false);
      inst.setHasAllowReciprocal(false);
    }
}

bool enz::normalise(Function &function) {
  bool changed = enz::callBlasBodies(function);
  SmallVector<CallInst *, 32> calls;
  SmallVector<IntToPtrInst *, 8> addresses;
  bool launders = false;
  changed |= enz::separateFields(function);
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      if (auto *call = dyn_cast<CallInst>(&inst)) {
        calls.push_back(call);
        launders |= call->getIntrinsicID() == Intrinsic::launder_invariant_group ||
                    call->getIntrinsicID() == Intrinsic::strip_invariant_group;
      } else if (auto *cast = dyn_cast<IntToPtrInst>(&inst)) {
        addresses.push_back(cast);
      }
    }
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst))
        changed |= giveBody(*call);
  for (CallInst *&call : calls)
    if (CallInst *made = withPrototype(*call)) {
      call->eraseFromParent();
      call = made;
      changed = true;
    }
  for (CallInst *call : calls)
    changed |= placeCast(*call);
  for (CallInst *call : calls)
    if (rewriteCall(*call)) {
      call->eraseFromParent();
      changed = true;
    }
  for (IntToPtrInst *cast : addresses) {
    Value *address = cast->getOperand(0);
    Value *from = cast->getType()->isPointerTy() ? sourceOf(address, 0) : nullptr;
    if (!from || from->getType() != cast->getType() || isa<Constant>(from))
      continue;
    IRBuilder<> builder(cast);
    cast->replaceAllUsesWith(movedTo(builder, from, address));
    cast->eraseFromParent();
    changed = true;
  }
  enz::widenShuffles(function);
  // Loads through pointers that were told apart must not be taken for the same any more.
  if (launders)
    for (BasicBlock &block : function)
      for (Instruction &inst : block)
        inst.setMetadata(LLVMContext::MD_invariant_group, nullptr);
  return changed;
}

bool enz::plainResults(Function &function) {
  SmallVector<ExtractValueInst *, 8> results;
  for (Instruction &inst : instructions(function))
    if (auto *taken = dyn_cast<ExtractValueInst>(&inst);
        taken && isa<WithOverflowInst>(taken->getAggregateOperand()) && taken->getIndices().front() == 0)
      results.push_back(taken);
  for (ExtractValueInst *taken : results) {
    const auto *from = cast<WithOverflowInst>(taken->getAggregateOperand());
    taken->replaceAllUsesWith(IRBuilder<>(taken).CreateBinOp(from->getBinaryOp(), from->getLHS(), from->getRHS()));
    taken->eraseFromParent();
  }
  return !results.empty();
}

// Which field of a record is meant, the analysis of memory tells by constant offsets: `left` or `right` of a node of a
// tree, chosen by a condition, would be any field to it.
// Reads at the end of each block that comes before what is read through a phi of several fields: the one that is left
// of a node, then the one that is right of the next.
static bool readBefore(LoadInst &load, PHINode &phi) {
  BasicBlock *block = load.getParent();
  const auto writes = [](const Instruction &inst) { return inst.mayWriteToMemory() || inst.mayThrow(); };
  if (phi.getParent() != block || any_of(make_range(block->begin(), load.getIterator()), writes))
    return false;
  const DataLayout &layout = block->getDataLayout();
  SmallSet<int64_t, 4> fields;
  for (unsigned n = 0; n < phi.getNumIncomingValues(); ++n) {
    APInt offset(layout.getIndexTypeSizeInBits(phi.getType()), 0);
    phi.getIncomingValue(n)->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    fields.insert(offset.getSExtValue());
    // It is read there for sure, or was before.
    const Value *address = phi.getIncomingValue(n);
    const BasicBlock *from = phi.getIncomingBlock(n);
    const auto *branch = dyn_cast<BranchInst>(from->getTerminator());
    const auto reads = [&](const Instruction &inst) { return getLoadStorePointerOperand(&inst) == address; };
    if (!branch || (branch->isConditional() && none_of(*from, reads)))
      return false;
  }
  if (fields.size() < 2)
    return false;
  PHINode *read = PHINode::Create(load.getType(), phi.getNumIncomingValues(), "", phi.getIterator());
  for (unsigned n = 0; n < phi.getNumIncomingValues(); ++n) {
    Instruction *before = load.clone();
    before->setOperand(LoadInst::getPointerOperandIndex(), phi.getIncomingValue(n));
    before->insertBefore(phi.getIncomingBlock(n)->getTerminator()->getIterator());
    read->addIncoming(before, phi.getIncomingBlock(n));
  }
  load.replaceAllUsesWith(read);
  load.eraseFromParent();
  return true;
}

bool enz::splitPointerAccesses(Function &function) {
  SmallVector<Instruction *, 16> work;
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      const auto *load = dyn_cast<LoadInst>(&inst);
      const auto *store = dyn_cast<StoreInst>(&inst);
      const bool simple = load ? load->isSimple() : store && store->isSimple();
      if (simple && getLoadStoreType(&inst)->isPointerTy())
        work.push_back(&inst);
    }
  bool changed = false;
  for (Instruction *inst : work) {
    Value *address = getLoadStorePointerOperand(inst);
    if (auto *phi = dyn_cast<PHINode>(address); phi && isa<LoadInst>(inst)) {
      changed |= readBefore(*cast<LoadInst>(inst), *phi);
      continue;
    }
    auto *gep = dyn_cast<GetElementPtrInst>(address);
    auto *choice = dyn_cast<SelectInst>(gep && gep->getNumIndices() == 1 ? gep->getOperand(1) : address);
    if (!choice || choice->getCondition()->getType()->isVectorTy())
      continue;
    Value *const sides[] = {choice->getTrueValue(), choice->getFalseValue()};
    const bool fields = gep ? isa<ConstantInt>(sides[0]) && isa<ConstantInt>(sides[1])
                            : sides[0]->stripInBoundsConstantOffsets() == sides[1]->stripInBoundsConstantOffsets();
    if (!fields)
      continue;
    Instruction *ends[2] = {nullptr, nullptr};
    SplitBlockAndInsertIfThenElse(choice->getCondition(), inst->getIterator(), &ends[0], &ends[1]);
    Instruction *parts[2];
    for (unsigned n = 0; n < 2; ++n) {
      Value *at = sides[n];
      if (gep) {
        Instruction *own = gep->clone();
        own->setOperand(1, sides[n]);
        own->insertBefore(ends[n]->getIterator());
        at = own;
      }
      parts[n] = inst->clone();
      parts[n]->setOperand(isa<LoadInst>(inst) ? 0 : 1, at);
      parts[n]->insertBefore(ends[n]->getIterator());
    }
    if (isa<LoadInst>(inst)) {
      PHINode *phi = PHINode::Create(inst->getType(), 2, "", inst->getIterator());
      for (unsigned n = 0; n < 2; ++n)
        phi->addIncoming(parts[n], ends[n]->getParent());
      inst->replaceAllUsesWith(phi);
    }
    inst->eraseFromParent();
    changed = true;
  }
  return changed;
}
