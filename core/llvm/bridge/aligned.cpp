// Memory that a program aligns by hand: it takes more than it needs, and clears low bits of the address.
//
//   p = malloc(n + 32); q = (p & -32) + 32        =>  p = aligned_alloc(32, n + 32 up to a multiple of 32); q = p + 32
//   p = alloca n + 31;  q = (p + 31) & -32        =>  p = alloca n + 31, align 32;                           q = p
//
// Where in the memory such an address lies nobody could tell otherwise, so that all that is in it would be anywhere in
// it (Eigen's matrices with AVX, where the address before theirs is that of the memory). With the memory aligned itself
// the distance is a number. What is taken so is freed as what `malloc` gave.
//
// Not handled: memory of `new`, whose `delete` would have to be another; of functions that return it before it is
// aligned; alignment that is known when the program runs; targets
// without `aligned_alloc`, or where `free` does not take its memory (GPUs, Windows).

#include "support.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace PatternMatch;

namespace {

// What `malloc` aligns to, and the largest alignment that is taken for one: that of a page.
constexpr uint64_t kOfMalloc = 16, kMost = 4096;

struct Masked {
  Instruction *number;
  uint64_t align;
};

// The numbers that are the address `memory`, or it plus a little less than the alignment, without low bits.
SmallVector<Masked, 2> maskedOf(Value &memory) {
  SmallVector<Masked, 2> out;
  const auto mask = [&out](Value &number, uint64_t added) {
    for (User *user : number.users()) {
      const APInt *bits = nullptr;
      if (!match(user, m_And(m_Specific(&number), m_APInt(bits))) || !bits->isNegatedPowerOf2() ||
          bits->getBitWidth() != 64)
        continue;
      const uint64_t align = (-*bits).getZExtValue();
      if (align > kOfMalloc && align <= kMost && (added == 0 || added == align - 1))
        out.push_back({cast<Instruction>(user), align});
    }
  };
  for (User *user : memory.users()) {
    auto *number = dyn_cast<PtrToIntInst>(user);
    if (!number || !number->getType()->isIntegerTy(64))
      continue;
    mask(*number, 0);
    for (User *sum : number->users()) {
      const APInt *added = nullptr;
      if (match(sum, m_Add(m_Specific(number), m_APInt(added))) && added->getActiveBits() <= 13)
        mask(*sum, added->getZExtValue());
    }
  }
  return out;
}

// What is made of the number, which is the address `memory` itself.
void replace(Instruction &number, Value &memory) {
  IRBuilder<> b(&number);
  Type *byte = b.getInt8Ty();
  const auto address = [&](Value &from, Value *distance) {
    for (User *user : make_early_inc_range(from.users()))
      if (auto *made = dyn_cast<IntToPtrInst>(user); made && made->getType() == memory.getType()) {
        IRBuilder<> at(made);
        made->replaceAllUsesWith(distance ? at.CreateGEP(byte, &memory, distance) : &memory);
        made->eraseFromParent();
      }
  };
  for (User *user : make_early_inc_range(number.users())) {
    Value *distance = nullptr;
    if (match(user, m_c_Add(m_Specific(&number), m_Value(distance))) ||
        match(user, m_DisjointOr(m_Specific(&number), m_Value(distance))))
      address(*user, distance);
  }
  address(number, nullptr);
  number.replaceAllUsesWith(b.CreatePtrToInt(&memory, number.getType()));
  number.eraseFromParent();
}

// The call of `aligned_alloc` in the place of one of `malloc`.
CallInst *alignedCall(CallInst &call, uint64_t align) {
  const Triple &triple = call.getModule()->getTargetTriple();
  if (triple.isGPU() || triple.isOSWindows())
    return nullptr;
  IRBuilder<> b(&call);
  Type *size = call.getArgOperand(0)->getType();
  FunctionCallee callee = call.getModule()->getOrInsertFunction("aligned_alloc", call.getType(), size, size);
  // One of the program's own need not be freed as `malloc`'s.
  const auto *function = dyn_cast<Function>(callee.getCallee());
  if (!function || !function->isDeclaration() || function->getFunctionType() != callee.getFunctionType())
    return nullptr;
  // AddressSanitizer and some C libraries take multiples alone.
  Value *up = b.CreateAdd(call.getArgOperand(0), ConstantInt::get(size, align - 1));
  Value *bytes = b.CreateAnd(up, ConstantInt::get(size, -align));
  CallInst *made = b.CreateCall(callee, {ConstantInt::get(size, align), bytes});
  made->addRetAttr(Attribute::NoAlias);
  made->setDebugLoc(call.getDebugLoc());
  made->takeName(&call);
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
  return made;
}

} // namespace

namespace enz {

bool alignMemory(Function &function) {
  SmallVector<Instruction *, 8> found;
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      const auto *call = dyn_cast<CallInst>(&inst);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      const bool is_malloc = callee && callee->getName() == "malloc" && callee->isDeclaration() &&
                             call->arg_size() == 1 && call->getArgOperand(0)->getType()->isIntegerTy(64) &&
                             call->getType() == PointerType::getUnqual(call->getContext());
      if (is_malloc || isa<AllocaInst>(inst))
        found.push_back(&inst);
    }
  bool changed = false;
  for (Instruction *memory : found) {
    const SmallVector<Masked, 2> masked = maskedOf(*memory);
    uint64_t align = 0;
    for (const Masked &number : masked)
      align = std::max(align, number.align);
    if (!align)
      continue;
    if (auto *slot = dyn_cast<AllocaInst>(memory))
      slot->setAlignment(std::max(slot->getAlign(), Align(align)));
    else
      memory = alignedCall(*cast<CallInst>(memory), align);
    if (!memory)
      continue;
    for (const Masked &number : masked)
      replace(*number.number, *memory);
    changed = true;
  }
  return changed;
}

} // namespace enz
