// Which integers that are read or written are the bits of floats (reads.cpp).
#ifndef ENZYME_READS_H
#define ENZYME_READS_H

#include "llvm/IR/Instruction.h"

namespace enz {

// The float of which an integer that is read or written by `access` is the bits; null if that is not known.
llvm::Type *floatOf(const llvm::Instruction &access);

} // namespace enz

#endif
