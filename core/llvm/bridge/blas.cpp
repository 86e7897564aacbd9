// Functions of BLAS and LAPACK, which stand in libraries: calls in a clone go to the bodies of blas.c.
//
// A function is known by its name: in Fortran, in C (cblas, LAPACKE), with integers of 32 or 64 bits. What a compiler
// of Fortran passes behind the arguments, the lengths of texts, no body asks for. Products of matrices in these bodies
// are the library's own `gemm`, with the rules of products.c; a program that names only others is not made to link
// that: it is declared weak, and done by loops where it is not there.
//
// Not handled: prototypes of other types than the library's.

#include "products.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// What the build made of blas.c.
constexpr unsigned char kBodies[] = {
#include "blas.inc"
};

// The names of all bodies.
const StringSet<> &names() {
  static const StringSet<> known = [] {
    StringSet<> out;
    LLVMContext context;
    Expected<std::unique_ptr<Module>> bodies =
        getLazyBitcodeModule(MemoryBufferRef(enz::blasBitcode(), "blas"), context);
    if (!bodies) {
      consumeError(bodies.takeError());
      return out;
    }
    for (const Function &function : **bodies)
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        out.insert(function.getName());
    return out;
  }();
  return known;
}

// Puts a call of its body before one of a function of BLAS; false if that is given other arguments.
bool callBody(CallBase &call, Function &body) {
  const FunctionType *type = body.getFunctionType();
  if (call.arg_size() < type->getNumParams() || call.hasOperandBundles())
    return false;
  SmallVector<Value *, 14> args;
  for (unsigned n = 0; n < call.arg_size(); ++n) {
    Value *arg = call.getArgOperand(n);
    const bool wanted = n < type->getNumParams();
    if (wanted ? arg->getType() != type->getParamType(n) : !arg->getType()->isIntegerTy())
      return false;
    if (wanted)
      args.push_back(arg);
  }
  Type *given = type->getReturnType(), *result = call.getType();
  const bool fits = given == result || result->isVoidTy() || (given->isIntegerTy() && result->isIntegerTy()) ||
                    (given->isVoidTy() && call.use_empty());
  if (!fits)
    return false;
  IRBuilder<> b(&call);
  Value *made = b.CreateCall(&body, args);
  if (!call.use_empty())
    call.replaceAllUsesWith(given == result ? made : b.CreateSExtOrTrunc(made, result));
  return true;
}

} // namespace

StringRef enz::blasBitcode() { return StringRef(reinterpret_cast<const char *>(kBodies), sizeof kBodies); }

bool enz::isBlas(StringRef name) {
  return (name.ends_with("_") || name.starts_with("cblas_") || name.starts_with("LAPACKE_")) &&
         !name.starts_with("plain_product") && names().contains(name);
}

std::optional<enz::BlasName> enz::blasName(StringRef name) {
  BlasName out{name, false, false, false};
  StringRef rest = name;
  if (rest.consume_front("cblas_") || rest.consume_front("LAPACKE_")) {
    out.inC = true;
    out.isWide = rest.consume_back("64_");
  } else if (rest.consume_back("_64_")) {
    out.isWide = true;
  } else if (!rest.consume_back("_")) {
    return std::nullopt;
  }
  if (rest.consume_front("d"))
    out.isDouble = true;
  else if (!rest.consume_front("s"))
    return std::nullopt;
  out.stem = rest;
  return out;
}

void enz::declareBlas(Module &module) {
  // For doubles and floats, integers of 32 and 64 bits: one that is called, and whether all are called from C.
  std::map<std::pair<bool, bool>, std::pair<const Function *, bool>> asked;
  for (const Function &function : module) {
    if (!function.isDeclaration() || !isBlas(function.getName()))
      continue;
    if (const std::optional<BlasName> name = blasName(function.getName())) {
      const bool in_c = function.getName().starts_with("cblas_");
      const auto [known, isNew] = asked.try_emplace({name->isDouble, name->isWide}, &function, in_c);
      known->second.second &= in_c;
    }
  }
  LLVMContext &context = module.getContext();
  Type *ptr = PointerType::getUnqual(context), *none = Type::getVoidTy(context);
  for (const auto &[kind, first] : asked) {
    const auto [isDouble, isWide] = kind;
    const auto [like, in_c] = first;
    const std::string stem = isDouble ? "dgemm" : "sgemm";
    const std::string in_c_name = "cblas_" + stem + (isWide ? "64_" : ""), name = stem + (isWide ? "_64_" : "_");
    if (module.getNamedValue(name) || module.getNamedValue(in_c_name))
      continue;
    Type *real = isDouble ? Type::getDoubleTy(context) : Type::getFloatTy(context);
    Type *whole = Type::getIntNTy(context, isWide ? 64 : 32), *choice = Type::getInt32Ty(context);
    SmallVector<Type *, 15> params(13, ptr);
    if (in_c)
      params = {choice, choice, choice, whole, whole, whole, real, ptr, whole, ptr, whole, real, ptr, whole};
    else
      params.append(2, Type::getInt64Ty(context));
    Function *made = Function::Create(FunctionType::get(none, params, false), GlobalValue::ExternalWeakLinkage,
                                      in_c ? in_c_name : name, module);
    for (const StringRef key : {"target-cpu", "target-features", "tune-cpu"})
      if (const Attribute value = like->getFnAttribute(key); value.isValid())
        made->addFnAttr(value);
  }
}

bool enz::callBlasBodies(Function &function) {
  SmallVector<CallBase *, 16> calls;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && isa<CallInst, InvokeInst>(call))
        if (const Function *callee = call->getCalledFunction();
            callee && callee->isDeclaration() && isBlas(callee->getName()))
          calls.push_back(call);
  bool any = false, unwound = false;
  for (CallBase *call : calls) {
    Function *body = libraryBody(*call->getCalledFunction());
    if (!body || !callBody(*call, *body))
      continue;
    unwound |= isa<InvokeInst>(call);
    drop(*call);
    any = true;
  }
  if (unwound)
    removeUnreachableBlocks(function);
  return any;
}
