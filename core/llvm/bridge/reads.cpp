// Which integers that are read or written are the bits of floats: what the program's types say of the place, and notes
// on reads of floats that are made before LLVM makes reads of integers of them.
//
// Not handled: places whose type is nowhere to be seen.

#include "reads.h"
#include "support.h"

#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace {

constexpr StringLiteral kReadOf = "enzyme read of ";

bool isFloat(const Type *type) { return type->isFloatTy() || type->isDoubleTy(); }

// The type that a program gives to what lies at `pointer`, as far as addresses are computed by it; null if that is
// nowhere to be seen.
Type *typeAt(const Value *pointer, const DataLayout &layout, unsigned size) {
  while (const auto *address = dyn_cast<GEPOperator>(pointer)) {
    APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
    if (!address->getSourceElementType()->isIntegerTy(8))
      return address->getResultElementType();
    if (!address->accumulateConstantOffset(layout, offset) || offset.urem(size) != 0)
      return nullptr;
    pointer = address->getPointerOperand();
  }
  return nullptr;
}

// A copy of one number by glibc's own `memcpy`, which looks at sizes as `_FORTIFY_SOURCE` asks for: there are no types
// in that function. Where it can find nothing out here the copy is one without it, as an assignment is.
void plainCopy(CallInst &call) {
  const StringRef name = call.getCalledFunction() ? call.getCalledFunction()->getName() : StringRef();
  Type *pointer = PointerType::get(call.getContext(), 0);
  const auto *length = call.arg_size() == 3 ? dyn_cast<ConstantInt>(call.getArgOperand(2)) : nullptr;
  if ((name != "memcpy.inline" && name != "memmove.inline") || !length ||
      call.getFunctionType() != FunctionType::get(pointer, {pointer, pointer, length->getType()}, false))
    return;
  const DataLayout &layout = call.getDataLayout();
  Value *to = call.getArgOperand(0), *from = call.getArgOperand(1);
  const auto isNumber = [&](const Value *place) {
    Type *type = typeAt(place, layout, 1);
    return type && isFloat(type) && layout.getTypeStoreSize(type) == length->getZExtValue();
  };
  uint64_t room = 0;
  const bool fits = getObjectSize(to, room, layout, nullptr) && length->getZExtValue() <= room;
  if (!(isNumber(to) || isNumber(from)) || !(fits || !isIdentifiedObject(getUnderlyingObject(to))))
    return;
  IRBuilder<>(&call).CreateMemMove(to, MaybeAlign(), from, MaybeAlign(), call.getArgOperand(2));
  call.replaceAllUsesWith(to);
  call.eraseFromParent();
}

} // namespace

Type *enz::floatOf(const Instruction &access) {
  const Type *word = getLoadStoreType(&access);
  const unsigned width = word->isIntegerTy() ? word->getIntegerBitWidth() : 0;
  if (width != 64 && width != 32)
    return nullptr;
  LLVMContext &context = access.getContext();
  Type *real = width == 64 ? Type::getDoubleTy(context) : Type::getFloatTy(context);
  const MDNode *tag = access.getMetadata(LLVMContext::MD_tbaa);
  const auto *type = tag && tag->getNumOperands() > 1 ? dyn_cast_or_null<MDNode>(tag->getOperand(1).get()) : nullptr;
  const auto *text =
      type && type->getNumOperands() > 0 ? dyn_cast_or_null<MDString>(type->getOperand(0).get()) : nullptr;
  StringRef name = text ? text->getString() : StringRef();
  // Of Julia's names most say what kind of object is read, not what of it.
  if (!tag || name == "omnipotent char" || name.starts_with("jtbaa"))
    return typeAt(getLoadStorePointerOperand(&access), access.getDataLayout(), width / 8) == real ? real : nullptr;
  name.consume_front(kReadOf);
  return name == (width == 64 ? "double" : "float") ? real : nullptr;
}

void enz::noteFloats(Function &function) {
  LLVMContext &context = function.getContext();
  const DataLayout &layout = function.getDataLayout();
  MDBuilder metadata(context);
  const auto tagOf = [&](StringRef name) {
    // Each has a root of its own, so that nothing is said of which accesses meet.
    MDNode *type = metadata.createTBAAScalarTypeNode((kReadOf + name).str(),
                                                     metadata.createTBAARoot((kReadOf + name + "s").str()));
    return metadata.createTBAAStructTagNode(type, type, 0);
  };
  MDNode *doubles = tagOf("double"), *floats = tagOf("float");
  // What is accessed, or one end of a copy of that size.
  const auto typeOf = [&](Instruction &inst) -> Type * {
    if (isa<LoadInst, StoreInst>(inst))
      return getLoadStoreType(&inst);
    const auto *copy = dyn_cast<MemTransferInst>(&inst);
    const auto *length = copy ? dyn_cast<ConstantInt>(copy->getLength()) : nullptr;
    for (const Value *pointer : {length ? copy->getSource() : nullptr, length ? copy->getDest() : nullptr})
      if (Type *type = pointer ? typeAt(pointer, layout, 1) : nullptr;
          type && isFloat(type) && layout.getTypeStoreSize(type) == length->getZExtValue())
        return type;
    return nullptr;
  };
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block))
      if (auto *call = dyn_cast<CallInst>(&inst))
        plainCopy(*call);
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (!inst.getMetadata(LLVMContext::MD_tbaa) && !inst.getMetadata(LLVMContext::MD_tbaa_struct))
        if (const Type *type = typeOf(inst); type && isFloat(type))
          inst.setMetadata(LLVMContext::MD_tbaa, type->isDoubleTy() ? doubles : floats);
}
