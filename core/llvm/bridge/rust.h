// Functions of Rust's own library that stay calls (rust.cpp).
#ifndef ENZYME_RUST_H
#define ENZYME_RUST_H

#include "llvm/IR/Module.h"

namespace enz {

// Attribute of functions that drop what the library keeps to itself: no destructors of the program's objects.
constexpr llvm::StringLiteral kDropsOwn = "enzyme-drops-own";

// Marks them, before anything is inlined.
void markRustLibrary(llvm::Module &module);

} // namespace enz

#endif
