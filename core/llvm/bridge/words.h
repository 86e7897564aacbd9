// Words of memory that are now floats, now pointers (words.cpp).
#ifndef ENZYME_WORDS_H
#define ENZYME_WORDS_H

#include "llvm/IR/Module.h"

namespace enz {

// Says of each load of a float or a pointer in Rust that the program means one, before anything is
// simplified.
void markWords(llvm::Module &module);

// The same of a derivative, if the module has marks: it reads what was told apart.
void markWords(llvm::Function &function);

// Floats and pointers that one value stands for are told apart where it is stored or used; returns whether any were.
bool splitWords(llvm::Function &function);

} // namespace enz

#endif
