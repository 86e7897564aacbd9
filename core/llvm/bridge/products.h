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

} // namespace enz

#endif
