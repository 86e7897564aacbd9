// Which functions Rust made, and which of its library's stay calls (rust.cpp).
#ifndef ENZYME_RUST_H
#define ENZYME_RUST_H

#include "llvm/IR/Module.h"

namespace enz {

// Attribute of functions that drop what the library keeps to itself: no destructors of the program's objects.
constexpr llvm::StringLiteral kDropsOwn = "enzyme-drops-own";

// Whether its name is one of Rust's.
bool isRust(const llvm::Function &function);

// Marks those that stay calls, before anything is inlined.
void markRustLibrary(llvm::Module &module);

// Leaves what prints backtraces as the library has it, neither inlined nor optimised (backtraces.cpp). Whether there is
// such.
bool leaveBacktraces(llvm::Module &module);

} // namespace enz

#endif
