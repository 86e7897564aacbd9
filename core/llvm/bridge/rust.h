// Which functions Rust made, and which of its library's stay calls (rust.cpp); what the crate faer is told of the
// processor (scalar.cpp).
#ifndef ENZYME_RUST_H
#define ENZYME_RUST_H

#include "llvm/IR/Module.h"

namespace enz {

// Attribute of functions of what the library keeps to itself: none of the program's objects lead to them.
constexpr llvm::StringLiteral kOwn = "enzyme-own";

// Attribute of calls by which faer asks what the processor has.
constexpr llvm::StringLiteral kAsksProcessor = "enzyme-asks-processor";

// Whether its name is one of Rust's.
bool isRust(const llvm::Function &function);

// The path that a symbol of Rust spells, in either way in which Rust makes symbols.
std::string rustPath(llvm::StringRef name);

// Marks those that stay calls, before anything is inlined.
void markRustLibrary(llvm::Module &module);

// Moves text that the library makes to memory that a derivative sees allocated, in a clone.
void moveTexts(llvm::Function &clone);

// Fills vectors with the number that is given in a clone, also if it happens to be zero. Whether there were any.
bool fillAlike(llvm::Function &clone);

// Leaves what prints backtraces as the library has it, neither inlined nor optimised (backtraces.cpp). Whether there is
// such.
bool leaveBacktraces(llvm::Module &module);

// Marks the calls by which faer asks what the processor has, before anything is inlined, in what is not optimised.
void markQuestions(llvm::Module &module);

// Answers those in a clone: the processor has nothing in particular. Whether there were any.
bool answerQuestions(llvm::Function &clone);

} // namespace enz

#endif
