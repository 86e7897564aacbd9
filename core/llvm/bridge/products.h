// Dense matrix products that other people's libraries compute (products.cpp).
#ifndef ENZYME_PRODUCTS_H
#define ENZYME_PRODUCTS_H

#include "support.h"

namespace enz {

// The attribute of the functions that stand for products in prepared clones.
constexpr llvm::StringLiteral kProduct = "enzyme-product";

// Has the kernels that are known stay calls, before anything is inlined.
void markKernels(EnzOpaqueHost &host);

// Whether the function is such a kernel.
bool isKernel(const llvm::Function &function);

// Sends calls of kernels in a clone to the functions with rules that were made for them; whether there were any.
bool callProducts(llvm::Function &clone);

// The functions that stand for products, each followed by its augmented primal, reverse and forward rule.
llvm::SmallVector<std::array<llvm::Function *, 4>, 4> productRules(llvm::Module &module);

// What the name of a function of BLAS or LAPACK says (blas.cpp).
struct BlasName {
  llvm::StringRef stem; // without the letter of its type
  bool isDouble;
  bool inC;
  bool isWide; // its integers have 64 bits
};
std::optional<BlasName> blasName(llvm::StringRef name);

// Declares the library's product of matrices where the program calls another function that has a body here.
void declareBlas(llvm::Module &module);

// The function for products of a type, `f64` or `f32`, that calls it; null if there is none.
llvm::Function *blasProduct(llvm::Module &module, llvm::StringRef type);

// The type of a matrix of the Rust crate faer: where it lies, its rows and columns, their strides (views.cpp).
llvm::StructType *viewType(llvm::LLVMContext &context);

// The type of the numbers of faer's product of matrices: of views of that type whose elements are floats; else null.
llvm::Type *elementOfViews(const llvm::Function &product);

// Whether a parameter points to so many bytes, as far as its attributes tell: unoptimised Rust states no sizes.
bool isOfSize(const llvm::Function &function, unsigned parameter, uint64_t bytes);

// Notes that type, which code tells that goes when the program is optimised.
void noteViews(llvm::Function &product, const llvm::Type *element);

} // namespace enz

#endif
