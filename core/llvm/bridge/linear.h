// Which operands of floating-point instructions a derivative asks nothing about.
#ifndef ENZYME_LINEAR_H
#define ENZYME_LINEAR_H

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace enz {

// Whether `inst` is linear in `operand` with slopes that are constants: sums, multiples, moves. Its derivative needs no
// value for that.
inline bool isLinearIn(const llvm::Instruction &inst, const llvm::Value &operand) {
  const auto is = [&](unsigned n) { return inst.getOperand(n) == &operand; };
  const auto isConstant = [&](unsigned n) { return llvm::isa<llvm::Constant>(inst.getOperand(n)); };
  switch (inst.getOpcode()) {
  case llvm::Instruction::PHI:
  case llvm::Instruction::Freeze:
  case llvm::Instruction::FNeg:
  case llvm::Instruction::FAdd:
  case llvm::Instruction::FSub:
  case llvm::Instruction::FPExt:
  case llvm::Instruction::FPTrunc:
    return true;
  case llvm::Instruction::FMul:
    return isConstant(0) || isConstant(1);
  case llvm::Instruction::FDiv:
    return isConstant(1);
  case llvm::Instruction::Select:
    return !is(0);
  default: {
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&inst);
    const bool is_sum =
        call && (call->getIntrinsicID() == llvm::Intrinsic::fmuladd || call->getIntrinsicID() == llvm::Intrinsic::fma);
    return is_sum && !is(0) && !is(1);
  }
  }
}

} // namespace enz

#endif
