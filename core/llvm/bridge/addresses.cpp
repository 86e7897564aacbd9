// Memory at addresses that the program gives as numbers: `*(double **)0x10000000`, a region that is mapped at a place
// of its own, registers of a device. Nobody can make a shadow of it, and the number is no address of one. So in
// prepared clones these are places in one variable of other modules, which the engine knows to have no shadow; once all
// is differentiated they are numbers again.
//
// Not taken for addresses: numbers where no memory of a program can lie (null, small numbers and negative ones), by
// which programs mark pointers that lead nowhere; and what is called.

#include "support.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace {

// The address at which the variable is said to lie: the first that Linux lets programs have.
constexpr uint64_t kFirst = 1 << 16;
constexpr StringLiteral kMemory = "enzyme.memory.of.numbers";

// The number of which an address is made, if memory may lie there.
std::optional<uint64_t> numberOf(const Value *value) {
  const auto *made = dyn_cast<Operator>(value);
  if (!made || made->getOpcode() != Instruction::IntToPtr ||
      value->getType() != PointerType::getUnqual(value->getContext()))
    return std::nullopt;
  const auto *number = dyn_cast<ConstantInt>(made->getOperand(0));
  if (!number || number->getValue().getActiveBits() > 63 || number->getZExtValue() < kFirst)
    return std::nullopt;
  return number->getZExtValue();
}

Constant *placeOf(Module &module, uint64_t number) {
  LLVMContext &context = module.getContext();
  Type *byte = Type::getInt8Ty(context);
  auto *memory = cast<GlobalVariable>(module.getOrInsertGlobal(kMemory, byte));
  Constant *offset = ConstantInt::get(Type::getInt64Ty(context), number - kFirst);
  return ConstantExpr::getGetElementPtr(byte, memory, offset);
}

} // namespace

namespace enz {

// To be called where constant expressions are instructions.
bool nameAddresses(Function &function) {
  SmallVector<std::pair<Instruction *, uint64_t>, 8> found;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (const auto number = numberOf(&inst))
        found.emplace_back(&inst, *number);
  for (const auto &[inst, number] : found)
    inst->replaceUsesWithIf(placeOf(*function.getParent(), number), [](const Use &use) {
      const auto *call = dyn_cast<CallBase>(use.getUser());
      return !call || !call->isCallee(&use);
    });
  return !found.empty();
}

void unnameAddresses(Module &module) {
  GlobalVariable *memory = module.getNamedGlobal(kMemory);
  if (!memory)
    return;
  Type *word = Type::getInt64Ty(module.getContext());
  memory->replaceAllUsesWith(ConstantExpr::getIntToPtr(ConstantInt::get(word, kFirst), memory->getType()));
  memory->eraseFromParent();
}

} // namespace enz
