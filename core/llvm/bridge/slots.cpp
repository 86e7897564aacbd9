// Copies through stack slots to which LLVM has given a type by an access that is gone.
//
// Where the variants of a union or a `std::variant` are moved by way of a slot of the stack, some as numbers, some as
// pointers, some as bytes, scalar replacement gives each word of the slot one type, and the copies of bytes as well. Is
// it found later that the slot holds one of the variants, what is left is a copy of a double that reads a pointer:
//
//   store double x, slot;  p = load ptr, slot;  store ptr p, to       becomes       store double x, to
//
// What is only copied is moved as a double if nothing else is stored in the slot, and as an integer, which may be
// either, if pointers are, too.
//
// Taken are slots of one word of which nothing but simple loads and stores has the address. Not handled: copies that go
// through phis.

#include "support.h"

#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

// How many casts a copy goes through at most.
constexpr unsigned kMostCasts = 3;

// A load whose value goes nowhere but into memory.
struct Copy {
  LoadInst *load;
  SmallVector<Use *, 4> stored;
};

struct Accesses {
  SmallVector<Copy, 4> copies;
  bool doubles = false, others = false;
};

// Whether `value` is only stored, as it is or as a number; the places where it is.
bool isOnlyStored(Value &value, SmallVectorImpl<Use *> &stored, unsigned casts = 0) {
  return all_of(value.uses(), [&](Use &use) {
    auto *store = dyn_cast<StoreInst>(use.getUser());
    if (store && store->isSimple() && use.getOperandNo() == 0) {
      stored.push_back(&use);
      return true;
    }
    auto *cast = dyn_cast<CastInst>(use.getUser());
    return cast && isa<PtrToIntInst, IntToPtrInst>(cast) &&
           (cast->getType()->isPointerTy() || cast->getType()->isIntegerTy(64)) && casts < kMostCasts &&
           isOnlyStored(*cast, stored, casts + 1);
  });
}

std::optional<Accesses> accessesOf(AllocaInst &slot) {
  Accesses out;
  for (User *user : slot.users()) {
    if (auto *load = dyn_cast<LoadInst>(user)) {
      if (!load->isSimple())
        return std::nullopt;
      Copy copy{load, {}};
      if (load->getType()->isPointerTy() && isOnlyStored(*load, copy.stored) && !copy.stored.empty())
        out.copies.push_back(std::move(copy));
    } else if (auto *store = dyn_cast<StoreInst>(user)) {
      if (!store->isSimple() || store->getValueOperand() == &slot)
        return std::nullopt;
      const bool isDouble = store->getValueOperand()->getType()->isDoubleTy();
      (isDouble ? out.doubles : out.others) = true;
    } else if (!cast<Instruction>(user)->isLifetimeStartOrEnd()) {
      return std::nullopt;
    }
  }
  return out;
}

} // namespace

bool enz::copyAsStored(Function &function) {
  SmallVector<AllocaInst *, 16> slots;
  const DataLayout &layout = function.getDataLayout();
  for (Instruction &inst : function.getEntryBlock())
    if (auto *slot = dyn_cast<AllocaInst>(&inst); slot && slot->isStaticAlloca() && !slot->isArrayAllocation() &&
                                                  layout.getTypeStoreSize(slot->getAllocatedType()) == 8)
      slots.push_back(slot);
  bool changed = false;
  for (AllocaInst *slot : slots) {
    const std::optional<Accesses> accesses = accessesOf(*slot);
    if (!accesses || !accesses->doubles)
      continue;
    LLVMContext &context = function.getContext();
    Type *type = accesses->others ? static_cast<Type *>(Type::getInt64Ty(context)) : Type::getDoubleTy(context);
    for (const Copy &copy : accesses->copies) {
      auto *again = new LoadInst(type, slot, "", false, copy.load->getAlign(), copy.load->getIterator());
      again->setDebugLoc(copy.load->getDebugLoc());
      for (Use *use : copy.stored)
        use->set(again);
      changed = true;
    }
  }
  return changed;
}
