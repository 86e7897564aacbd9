// Matrices of the Rust crate faer. Its product of matrices (`matmul_imp`) is one generic function that takes views:
// where the matrix lies, its rows and columns, and its two strides, in elements. Rust is free to lay these out as it
// likes, and symbols don't tell for which numbers a function was made. So the code is asked before it is optimised:
// functions of views that the product calls read the fields one by one, and the products of small matrices that it
// calls are of `f64` or `f32`. What is laid out otherwise, or does not say, is not known to be a product.

#include "products.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace {

constexpr StringLiteral kElement = "enzyme-views-of";
constexpr uint64_t kWord = 8, kFields = 5;

// The parameters that are views, and alpha.
constexpr unsigned kViews[] = {0, 2, 4};
constexpr unsigned kAlpha = 6;

// What a value was before it went through functions that return what they are given: unoptimised Rust has such.
const Value *given(const Value *value, unsigned depth = 0) {
  constexpr unsigned kDeepest = 4;
  const auto *call = dyn_cast<CallInst>(value);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || callee->isDeclaration() || callee->size() != 1 || callee->arg_size() != call->arg_size() ||
      depth == kDeepest)
    return value;
  const BasicBlock &body = callee->getEntryBlock();
  const auto *out = dyn_cast<ReturnInst>(body.getTerminator());
  const bool writes = any_of(body, [](const Instruction &inst) { return isa<StoreInst>(inst); });
  const auto *argument =
      out && out->getReturnValue() && !writes ? dyn_cast<Argument>(given(out->getReturnValue(), depth + 1)) : nullptr;
  return argument ? given(call->getArgOperand(argument->getArgNo()), depth + 1) : value;
}

// Where in a view the field lies that a function returns.
std::optional<uint64_t> fieldOf(const Function &function) {
  if (function.isDeclaration() || function.size() != 1 || function.arg_size() != 1)
    return std::nullopt;
  const auto *out = dyn_cast<ReturnInst>(function.getEntryBlock().getTerminator());
  const Value *returned = out ? out->getReturnValue() : nullptr;
  const auto *load = returned ? dyn_cast<LoadInst>(given(returned)) : nullptr;
  if (!load)
    return std::nullopt;
  APInt offset(64, 0);
  const Value *start = load->getPointerOperand();
  for (const Value *before = nullptr; start != before;) {
    before = start;
    start = given(start->stripAndAccumulateConstantOffsets(function.getParent()->getDataLayout(), offset,
                                                           /*AllowNonInbounds=*/true));
  }
  return start == function.getArg(0) ? std::optional(offset.getZExtValue()) : std::nullopt;
}

// The method of a matrix or view that a symbol names, in either way in which Rust makes symbols; none of other
// functions.
std::optional<unsigned> methodOf(StringRef name) {
  if (!name.contains("4faer") || !(name.contains("6matmut") || name.contains("6matref")))
    return std::nullopt;
  constexpr StringLiteral kReads[] = {"6as_ptr", "5nrows", "5ncols", "10row_stride", "10col_stride"};
  for (unsigned n = 0; n < kFields; ++n)
    if (name.contains((kReads[n] + "17h").str()) || name.ends_with(kReads[n]) ||
        name.contains((kReads[n] + "B").str()) || (n == 0 && name.contains("10as_ptr_mut")))
      return n;
  return std::nullopt;
}

bool comparesAccum(StringRef name) {
  return name.contains("faer") && name.contains("Accum") && name.contains("PartialEq");
}

// Whether the constant byte behind a pointer is zero.
bool isZeroByte(const Value *pointer) {
  const auto *byte = dyn_cast<GlobalVariable>(pointer);
  return byte && byte->isConstant() && byte->hasDefinitiveInitializer() && byte->getInitializer()->isNullValue();
}

} // namespace

bool enz::isOfSize(const Function &function, unsigned parameter, uint64_t bytes) {
  const uint64_t stated = function.getParamDereferenceableBytes(parameter);
  return stated == bytes || (stated == 0 && function.getArg(parameter)->getType()->isPointerTy());
}

StructType *enz::viewType(LLVMContext &context) {
  Type *word = Type::getInt64Ty(context);
  return StructType::get(PointerType::getUnqual(context), word, word, word, word);
}

Type *enz::elementOfViews(const Function &product) {
  LLVMContext &context = product.getContext();
  if (const Attribute noted = product.getFnAttribute(kElement); noted.isValid())
    return noted.getValueAsString() == "f64" ? Type::getDoubleTy(context) : Type::getFloatTy(context);
  if (product.arg_size() != kAlpha + 1)
    return nullptr;
  for (const unsigned view : kViews)
    if (!enz::isOfSize(product, view, kWord * kFields))
      return nullptr;
  unsigned seen = 0;
  bool f64 = false, f32 = false, other = false, replaces = false;
  for (const Instruction &inst : instructions(product)) {
    const auto *call = dyn_cast<CallBase>(&inst);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (!callee)
      continue;
    const StringRef name = callee->getName();
    if (const size_t at = name.find("execute_"); name.contains("9nano_gemm") && at != StringRef::npos) {
      const StringRef element = name.substr(at + 8);
      f64 |= element.starts_with("f64");
      f32 |= element.starts_with("f32");
      other |= !element.starts_with("f64") && !element.starts_with("f32");
    }
    // Whether C is replaced is all that the product asks: `beta == Accum::Replace`.
    if (comparesAccum(name)) {
      if (call->arg_size() != 2 || !isZeroByte(call->getArgOperand(1)))
        return nullptr;
      replaces = true;
    }
    const std::optional<unsigned> method = methodOf(name);
    if (!method)
      continue;
    const std::optional<uint64_t> field = fieldOf(*callee);
    if (!field || *field != *method * kWord)
      return nullptr;
    seen |= 1U << *method;
  }
  const uint64_t size = f64 ? 8 : 4;
  if (f64 == f32 || other || !replaces || seen != (1U << kFields) - 1 || !enz::isOfSize(product, kAlpha, size))
    return nullptr;
  return f64 ? Type::getDoubleTy(context) : Type::getFloatTy(context);
}

void enz::noteViews(Function &product, const Type *element) {
  product.addFnAttr(kElement, element->isDoubleTy() ? "f64" : "f32");
}
