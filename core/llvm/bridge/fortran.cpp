// What Fortran's calls of markers leave unsaid. All arguments are passed by reference, through interfaces that say
// nothing of them: whether an address is that of integers follows from the object that it is of, and whether a
// parameter is the descriptor of an array (assumed shape, allocatable, pointer) from how the function uses it. And what
// the bodies of flang's library are to know of descriptors and types before they are brought in.

#include "support.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// The object that an address is of, where that is seen.
const Value *objectOf(const Value *address, const DataLayout &layout) {
  APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
  return address->stripAndAccumulateConstantOffsets(layout, offset, true);
}

Type *contentOf(const Value *object) {
  if (const auto *slot = dyn_cast<AllocaInst>(object))
    return slot->getAllocatedType();
  const auto *global = dyn_cast<GlobalVariable>(object);
  return global ? global->getValueType() : nullptr;
}

// { base, element length, version, rank, type, attribute, extra, ... }
bool isDescriptorType(const Type *type) {
  const auto *fields = dyn_cast_or_null<StructType>(type);
  if (!fields || fields->isOpaque() || fields->getNumElements() < 7)
    return false;
  if (!fields->getElementType(0)->isPointerTy() || !fields->getElementType(1)->isIntegerTy(64) ||
      !fields->getElementType(2)->isIntegerTy(32))
    return false;
  for (unsigned n = 3; n < 7; ++n)
    if (!fields->getElementType(n)->isIntegerTy(8))
      return false;
  return true;
}

// Where a descriptor says its rank and the kind of its elements.
constexpr int64_t kRank = 20, kType = 21;

// Whether elements may be of another kind than is said.
bool isPolymorphic(const ConstantInt &code) { return code.getSExtValue() <= 0 || code.getSExtValue() == 42; }

// flang's names for what it reads of a descriptor.
bool isDescriptorAccess(const Instruction &inst) {
  const MDNode *tag = inst.getMetadata(LLVMContext::MD_tbaa);
  const auto *access = tag && tag->getNumOperands() > 1 ? dyn_cast_or_null<MDNode>(tag->getOperand(1).get()) : nullptr;
  const auto *name =
      access && access->getNumOperands() ? dyn_cast_or_null<MDString>(access->getOperand(0).get()) : nullptr;
  return name && name->getString().contains("descriptor");
}

void leavesOf(Type *type, uint64_t at, const DataLayout &layout, SmallVectorImpl<std::pair<Type *, uint64_t>> &out) {
  if (auto *fields = dyn_cast<StructType>(type)) {
    const StructLayout *places = layout.getStructLayout(fields);
    for (unsigned n = 0; n < fields->getNumElements(); ++n)
      leavesOf(fields->getElementType(n), at + places->getElementOffset(n), layout, out);
  } else if (auto *array = dyn_cast<ArrayType>(type)) {
    const uint64_t size = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t n = 0; n < array->getNumElements(); ++n)
      leavesOf(array->getElementType(), at + n * size, layout, out);
  } else {
    out.push_back({type, at});
  }
}

} // namespace

// The constants among which a value is chosen; false if there is another, or only one.
static bool choicesOf(Value *value, SmallSetVector<Constant *, 8> &out) {
  SmallSetVector<Value *, 16> work;
  work.insert(value);
  for (unsigned n = 0; n < work.size() && n < 32; ++n) {
    auto *choice = dyn_cast<SelectInst>(work[n]);
    auto *phi = dyn_cast<PHINode>(work[n]);
    if (auto *constant = dyn_cast<Constant>(work[n])) {
      out.insert(constant);
    } else if (choice) {
      work.insert(choice->getTrueValue());
      work.insert(choice->getFalseValue());
    } else if (phi) {
      for (Value *value : phi->incoming_values())
        work.insert(value);
    } else {
      return false;
    }
  }
  return out.size() > 1 && out.size() <= 8 && work.size() <= 32;
}

// Where a variable is allocated whose type was chosen before: the call that states the type, and the allocation behind
// it in its block.
static CallInst *allocationAfter(CallInst &stated) {
  for (Instruction &inst : make_range(std::next(stated.getIterator()), stated.getParent()->end()))
    if (auto *call = dyn_cast<CallInst>(&inst))
      if (const Function *callee = call->getCalledFunction();
          callee &&
          (callee->getName() == "_FortranAAllocatableAllocate" || callee->getName() == "_FortranAPointerAllocate") &&
          call->getArgOperand(0) == stated.getArgOperand(0))
        return call;
  return nullptr;
}

// From the call that states the type to the allocation, once for each type.
static void splitAllocation(CallInst &stated, CallInst &allocation, ArrayRef<Constant *> types) {
  Value *type = stated.getArgOperand(1);
  BasicBlock *before = stated.getParent();
  BasicBlock *part = SplitBlock(before, &stated);
  BasicBlock *after = SplitBlock(part, allocation.getNextNode());
  SmallVector<std::pair<Instruction *, PHINode *>, 8> results;
  for (Instruction &inst : *part)
    if (inst.isUsedOutsideOfBlock(part)) {
      PHINode *merged = PHINode::Create(inst.getType(), types.size(), "", after->begin());
      inst.replaceUsesOutsideBlock(merged, part);
      merged->addIncoming(&inst, part);
      results.emplace_back(&inst, merged);
    }
  // The part itself is for the last of them.
  for (Constant *one : types.drop_back()) {
    ValueToValueMapTy map;
    BasicBlock *copy = CloneBasicBlock(part, map, "", part->getParent());
    remapInstructionsInBlocks({copy}, map);
    for (Instruction &inst : *copy)
      inst.replaceUsesOfWith(type, one);
    for (auto [inst, merged] : results)
      merged->addIncoming(map.lookup(inst), copy);
    BasicBlock *next = BasicBlock::Create(part->getContext(), "", part->getParent(), part);
    Instruction *end = before->getTerminator();
    IRBuilder<> b(end);
    b.CreateCondBr(b.CreateICmpEQ(type, one), copy, next);
    end->eraseFromParent();
    IRBuilder<>(next).CreateBr(part);
    before = next;
  }
  for (Instruction &inst : *part)
    inst.replaceUsesOfWith(type, types.back());
}

void enz::splitAllocations(Function &function) {
  SmallVector<CallInst *, 4> found;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallInst>(&inst))
        if (const Function *callee = call->getCalledFunction();
            callee && (callee->getName() == "_FortranAAllocatableInitDerivedForAllocate" ||
                       callee->getName() == "_FortranAPointerNullifyDerived"))
          found.push_back(call);
  for (CallInst *stated : found) {
    SmallSetVector<Constant *, 8> types;
    if (CallInst *allocation = allocationAfter(*stated); allocation && choicesOf(stated->getArgOperand(1), types))
      splitAllocation(*stated, *allocation, types.getArrayRef());
  }
}

bool enz::splitDescriptorCopies(Function &function) {
  const DataLayout &layout = function.getDataLayout();
  bool any = false;
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block)) {
      auto *copy = dyn_cast<MemCpyInst>(&inst);
      const auto *length = copy && !copy->isVolatile() ? dyn_cast<ConstantInt>(copy->getLength()) : nullptr;
      if (!length)
        continue;
      for (Value *side : {copy->getRawDest(), copy->getRawSource()}) {
        Type *type = contentOf(side->stripPointerCasts());
        if (!isDescriptorType(type) || layout.getTypeStoreSize(type) != length->getZExtValue())
          continue;
        SmallVector<std::pair<Type *, uint64_t>, 16> leaves;
        leavesOf(type, 0, layout, leaves);
        IRBuilder<> builder(copy);
        for (const auto &[leaf, at] : leaves) {
          Value *from = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy->getRawSource(), at);
          Value *to = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy->getRawDest(), at);
          Value *part = builder.CreateAlignedLoad(leaf, from, commonAlignment(copy->getSourceAlign().valueOrOne(), at));
          builder.CreateAlignedStore(part, to, commonAlignment(copy->getDestAlign().valueOrOne(), at));
        }
        copy->eraseFromParent();
        any = true;
        break;
      }
    }
  return any;
}

namespace {

// What is seen of one byte of a descriptor.
struct Field {
  int64_t at;
  SmallVector<LoadInst *, 8> loads;
  SmallPtrSet<Value *, 4> stored;
  bool settled = true;
};

// A call that writes no descriptor's rank or kind anew.
bool keepsDescriptors(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  return callee && (callee->isIntrinsic() ? call.isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(call)
                                          : callee->getName().starts_with("enzyme.lib.copy_"));
}

// Follows the address of a slot to all that touches the fields.
void look(AllocaInst &slot, MutableArrayRef<Field> fields) {
  const DataLayout &layout = slot.getDataLayout();
  bool handedOn = false;
  SmallVector<std::pair<Value *, int64_t>, 16> work{{&slot, 0}};
  while (!work.empty()) {
    const auto [address, at] = work.pop_back_val();
    for (User *user : address->users()) {
      APInt step(layout.getIndexTypeSizeInBits(address->getType()), 0);
      if (auto *load = dyn_cast<LoadInst>(user)) {
        for (Field &field : fields)
          if (at == field.at && load->getType()->isIntegerTy(8))
            field.loads.push_back(load);
      } else if (auto *store = dyn_cast<StoreInst>(user); store && store->getPointerOperand() == address) {
        // Written into memory too, the address goes where it is not seen.
        handedOn |= store->getValueOperand() == address;
        Value *value = store->getValueOperand();
        const int64_t end = at + int64_t(layout.getTypeStoreSize(value->getType()).getKnownMinValue());
        for (Field &field : fields) {
          if (field.at < at || field.at >= end)
            continue;
          // Fields may be written together.
          auto *constant = dyn_cast<Constant>(value);
          Type *byte = Type::getInt8Ty(value->getContext());
          Constant *part =
              constant ? ConstantFoldLoadFromConst(constant, byte, APInt(64, field.at - at), layout) : nullptr;
          if (part)
            field.stored.insert(part);
          else
            field.settled = false;
        }
      } else if (auto *gep = dyn_cast<GetElementPtrInst>(user)) {
        // Indices that are not known are those of dimensions, which stand behind the fields.
        if (gep->accumulateConstantOffset(layout, step))
          work.push_back({gep, at + step.getSExtValue()});
      } else if (auto *call = dyn_cast<CallBase>(user); call && !keepsDescriptors(*call)) {
        auto *memory = dyn_cast<MemIntrinsic>(call);
        auto *length = memory ? dyn_cast<ConstantInt>(memory->getLength()) : nullptr;
        if (memory && memory->getRawDest() != address)
          continue;
        for (Field &field : fields)
          if (memory && at <= field.at && (!length || field.at < at + length->getSExtValue()))
            field.settled = false;
        if (memory)
          continue;
        handedOn = true;
      } else if (!isa<CallBase>(user) && !isa<ICmpInst>(user)) {
        handedOn = true;
      }
    }
  }
  // Only what is polymorphic, so said to be of derived or of no type, takes another kind elsewhere.
  for (Field &field : fields)
    for (Value *value : field.stored)
      if (auto *code = dyn_cast<ConstantInt>(value); handedOn && (!code || (field.at == kType && isPolymorphic(*code))))
        field.settled = false;
}

} // namespace

// A variable keeps its rank and its kind, unless it is polymorphic: what is written there is always the same.
bool enz::settleDescriptors(Function &function) {
  bool any = false;
  for (Instruction &inst : function.getEntryBlock()) {
    auto *slot = dyn_cast<AllocaInst>(&inst);
    if (!slot || !isDescriptorType(slot->getAllocatedType()))
      continue;
    Field fields[] = {{kRank, {}, {}}, {kType, {}, {}}};
    look(*slot, fields);
    for (Field &field : fields) {
      auto *only = field.stored.size() == 1 ? dyn_cast<ConstantInt>(*field.stored.begin()) : nullptr;
      if (!only || !field.settled)
        continue;
      for (LoadInst *load : field.loads) {
        load->replaceAllUsesWith(only);
        load->eraseFromParent();
        any = true;
      }
    }
  }
  return any;
}

Type *enz::descriptorOf(const Argument &arg, bool &kept) {
  Type *found = nullptr;
  SmallVector<const Value *, 8> work{&arg};
  for (size_t next = 0; next < work.size(); ++next)
    for (const User *user : work[next]->users()) {
      if (const auto *gep = dyn_cast<GetElementPtrInst>(user)) {
        if (isDescriptorType(gep->getSourceElementType()))
          found = gep->getSourceElementType();
        work.push_back(gep);
      } else if (const auto *load = dyn_cast<LoadInst>(user)) {
        if (isDescriptorType(load->getType()))
          found = load->getType();
      } else if (const auto *copy = dyn_cast<MemCpyInst>(user); copy && copy->getRawDest() != work[next]) {
        if (Type *content = contentOf(copy->getRawDest()->stripPointerCasts()); isDescriptorType(content))
          found = content;
      } else if (const auto *call = dyn_cast<CallBase>(user); !(call && keepsDescriptors(*call))) {
        // Comparing an address and taking its number do nothing to what lies there.
        kept &= isa<ICmpInst, PtrToIntInst>(user);
      }
    }
  return found;
}

uint8_t enz_is_integers(EnzValue call, uint32_t index) {
  const auto *user = enz::as<CallBase>(call);
  if (!user || index >= user->arg_size() || !user->getArgOperand(index)->getType()->isPointerTy())
    return 0;
  const Type *content = contentOf(objectOf(user->getArgOperand(index), user->getDataLayout()));
  while (const auto *array = dyn_cast_or_null<ArrayType>(content))
    content = array->getElementType();
  return content && content->isIntegerTy();
}

uint8_t enz_is_descriptor(EnzValue call, uint32_t index) {
  const auto *user = enz::as<CallBase>(call);
  if (!user || index >= user->arg_size() || !user->getArgOperand(index)->getType()->isPointerTy())
    return 0;
  const Value *object = objectOf(user->getArgOperand(index), user->getDataLayout());
  // What is handed on may be one.
  return !contentOf(object) || isDescriptorType(contentOf(object));
}

uint8_t enz_wants_descriptor(EnzValue raw, uint32_t index) {
  const auto *function = enz::as<Function>(raw);
  if (!function || index >= function->arg_size())
    return 0;
  SmallVector<const Value *, 8> work{function->getArg(index)};
  for (size_t next = 0; next < work.size() && next < 64; ++next)
    for (const User *user : work[next]->users()) {
      const auto *inst = dyn_cast<Instruction>(user);
      if (!inst)
        continue;
      // Its address may also be written into the descriptor of a section.
      if (getLoadStorePointerOperand(inst) == work[next] && isDescriptorAccess(*inst))
        return 1;
      if (const auto *gep = dyn_cast<GetElementPtrInst>(inst)) {
        if (isDescriptorType(gep->getSourceElementType()))
          return 1;
        work.push_back(gep);
      } else if (const auto *load = dyn_cast<LoadInst>(inst); load && isDescriptorType(load->getType())) {
        return 1;
      } else if (const auto *copy = dyn_cast<CallBase>(inst); copy && copy->arg_size() > 1) {
        // At -O0 descriptors are copied first, to slots of their type.
        const Function *callee = copy->getCalledFunction();
        const Value *to = objectOf(copy->getArgOperand(0), function->getDataLayout());
        if (callee && callee->getIntrinsicID() == Intrinsic::memcpy && copy->getArgOperand(1) == work[next] &&
            isDescriptorType(contentOf(to)))
          return 1;
      }
    }
  return 0;
}
