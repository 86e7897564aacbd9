// Dense matrix products that other people's libraries compute are differentiated as products, by rule, not by what
// packs, unrolls and vectorises them: products.c has the rules.
//
// A kernel is known by its path, the arguments of its template and its signature, all of which are rows of a table
// here. For each one that the module has there are made: an adapter to the way in which the kernel takes its operands;
// `multiply`, which computes C = alpha A B + beta C for operands with any strides, by the kernel; and the rules for
// that. In a prepared clone a call of the kernel becomes one of `multiply`. The user's functions keep their calls.
//
// BLAS's product of matrices is a kernel, too, of what blas.c is written with (blas.cpp).
//
// faer's products into the lower half of a matrix have no rule. In a clone they become calls of `part` in products.c,
// whose code is differentiated: it is made of products that have one. (faer turns those into the upper half round.)
//
// Invariants: what does not match in all that the table says is left to be differentiated by its body; so is a kernel
// that optimisations between functions may have changed, and a call of which something is not known. A kernel stays a
// call from the start of the pipeline on; LLVM may change nothing in functions that others may define as well.
// Exceptions do not pass: where a kernel finds no memory, the program ends.
// Not handled: kernels that run in threads, complex numbers, operands of two types, pointers of other sizes than 64
// bits; triangular and symmetric products of other libraries than faer.

#include "products.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// What the build made of products.c.
constexpr unsigned char kRules[] = {
#include "products.inc"
};

// The attribute of kernels.
constexpr StringLiteral kKernel = "enzyme-kernel";

// The attribute of faer's products into the lower half: the type of their numbers.
constexpr StringLiteral kLower = "enzyme-lower-of";

// How a kernel takes its operands.
enum class Form {
  // rows, columns, depth, A, its stride, B, its stride, C, its two strides, alpha, memory for blocks, threads
  EigenMatrix,
  // rows, columns, A and x with their strides in memory, y, its stride, alpha
  EigenVector,
  // rows, depth, columns, alpha, A, its two strides, B, its two strides, beta, C, its two strides
  Strided,
  // C, whether the product is added to it, A, whether it is conjugated, B, whether it is conjugated, alpha; matrices
  // are
  // views behind pointers (views.cpp), alpha lies behind one
  Views,
  // `dgemm_` or `cblas_dgemm`, which blas.c is written with: no calls of it are left
  Blas,
};

// Of a path: the arguments of the template, where `T` is the type, `A`, `B` and `C` the layouts, `?` anything. Of a
// signature: `l` is a word, `p` a pointer, `r` a float, `b` a bit, `c` a byte.
struct Row {
  StringLiteral path;
  StringLiteral arguments;
  StringLiteral function;
  StringLiteral signature;
  Form form;
};

constexpr Row kRows[] = {
    {"Eigen::internal::general_matrix_matrix_product", "long,T,A,false,T,B,false,0,C", "run", "lllplplpllrpp",
     Form::EigenMatrix},
    {"Eigen::internal::general_matrix_vector_product",
     "long,T,Eigen::internal::const_blas_data_mapper<T,long,A>,A,false,T,"
     "Eigen::internal::const_blas_data_mapper<T,long,B>,false,?",
     "run", "llppplr", Form::EigenVector},
    {"matrixmultiply::gemm::dgemm", "", "", "lllrpllpllrpll", Form::Strided},
    {"matrixmultiply::gemm::sgemm", "", "", "lllrpllpllrpll", Form::Strided},
    {"faer::linalg::matmul::matmul_imp", "", "", "pbpbpbp", Form::Views},
};
constexpr Row kBlas = {"", "", "", "", Form::Blas};

// faer's products into the lower half of a matrix end in assembly that the crate private-gemm-x86 writes as it runs.
// Its parameters: type, type of indices, instructions, rows, columns, depth, C, its two strides, indices of rows and of
// columns, which half, whether the product is added, A, its strides, whether it is conjugated, the diagonal, its
// stride, B, its strides, whether it is conjugated, alpha, threads.
constexpr StringLiteral kHalf = "cbblllpllppcbpllbplpllbpl";

// What chooses the size of blocks asks the processor once: nothing of that is written where a program can see it.
constexpr StringLiteral kChooses = "_ZN5Eigen8internal20manage_caching_sizesENS_6ActionEPlS2_S2_";

// The bits of `layout` in products.c.
enum Layout : unsigned { RowsOfA = 1, RowsOfB = 2, StridedB = 4, StridedC = 8, Vector = 16 };

struct Kernel {
  const Row *row;
  Type *real;
  unsigned layout;
};

// The commas of a list that stand in no brackets.
SmallVector<StringRef, 10> split(StringRef list) {
  SmallVector<StringRef, 10> out;
  size_t start = 0;
  int depth = 0;
  for (size_t at = 0; at < list.size(); ++at) {
    depth += list[at] == '<' ? 1 : list[at] == '>' ? -1 : 0;
    if (list[at] == ',' && depth == 0) {
      out.push_back(list.slice(start, at));
      start = at + 1;
    }
  }
  out.push_back(list.substr(start));
  return out;
}

// Whether `given` is what `wanted` says, letter by letter; what its variables stand for is noted.
bool matches(StringRef wanted, StringRef given, std::map<char, std::string> &values) {
  if (wanted == "?")
    return true;
  const auto isWord = [](char c) { return isAlnum(c) || c == '_'; };
  while (!wanted.empty() && !given.empty()) {
    const char c = wanted.front();
    const bool variable = isUpper(c) && (wanted.size() == 1 || !isWord(wanted[1]));
    if (!variable) {
      // A whole word, so that no letter of it is taken for a variable.
      const StringRef word = wanted.take_while(isWord);
      if (!given.consume_front(word.empty() ? wanted.take_front() : word))
        return false;
      wanted = wanted.drop_front(std::max<size_t>(word.size(), 1));
      continue;
    }
    const StringRef value = given.take_while([&](char d) { return isWord(d) || d == '-'; });
    const auto [known, isNew] = values.try_emplace(c, value.str());
    if (value.empty() || (!isNew && known->second != value))
      return false;
    wanted = wanted.drop_front();
    given = given.drop_front(value.size());
  }
  return wanted.empty() && given.empty();
}

// The type of the floats of a signature; null if it is another one. Of views they are not in it.
Type *realOf(const Function &function, StringRef signature, Type *of_views = nullptr) {
  const FunctionType *type = function.getFunctionType();
  if (!type->getReturnType()->isVoidTy() || type->isVarArg() || type->getNumParams() != signature.size())
    return nullptr;
  Type *real = of_views;
  for (const auto [param, code] : zip(type->params(), signature)) {
    if (code == 'l'   ? !param->isIntegerTy(64)
        : code == 'p' ? !param->isPointerTy()
        : code == 'b' ? !param->isIntegerTy(1)
        : code == 'c' ? !param->isIntegerTy(8)
                      : false)
      return nullptr;
    if (code == 'r') {
      if ((real && real != param) || !(param->isDoubleTy() || param->isFloatTy()))
        return nullptr;
      real = param;
    }
  }
  return real;
}

std::optional<Kernel> matchTemplate(const Row &row, StringRef path, const Function &function) {
  const auto [arguments, rest] = path.split(std::string(">::") + row.function.str() + "(");
  if (rest.empty())
    return std::nullopt;
  std::string given;
  for (const char c : arguments)
    if (c != ' ')
      given += c;
  const auto wanted = split(row.arguments), have = split(given);
  std::map<char, std::string> values;
  if (wanted.size() != have.size())
    return std::nullopt;
  for (const auto [pattern, argument] : zip(wanted, have))
    if (!matches(pattern, argument, values))
      return std::nullopt;
  Type *real = realOf(function, row.signature);
  if (!real || values['T'] != (real->isDoubleTy() ? "double" : "float"))
    return std::nullopt;
  for (const char order : {'A', 'B'})
    if (values[order] != "0" && values[order] != "1")
      return std::nullopt;
  const bool rows_a = values['A'] == "1", rows_b = values['B'] == "1";
  if (row.form == Form::EigenMatrix) {
    // The memory for blocks: two addresses, three sizes.
    if (function.getParamDereferenceableBytes(11) != 40)
      return std::nullopt;
    return Kernel{&row, real, (rows_a ? RowsOfA : 0u) | (rows_b ? RowsOfB : 0u) | (values['C'] == "1" ? 0u : StridedC)};
  }
  // An address and a stride each. Of a vector that lies in a row the stride counts, and of a result that is not
  // written in columns.
  if (function.getParamDereferenceableBytes(2) != 16 || function.getParamDereferenceableBytes(3) != 16)
    return std::nullopt;
  return Kernel{&row, real, Vector | (rows_a ? RowsOfA | StridedC : 0u) | (rows_b ? StridedB : 0u)};
}

// BLAS's product of matrices, as a program declares it: after the arguments in Fortran may come the lengths of texts.
std::optional<Kernel> matchBlas(const Function &function) {
  const std::optional<enz::BlasName> name = enz::blasName(function.getName());
  const FunctionType *type = function.getFunctionType();
  if (!name || name->stem != "gemm" || type->isVarArg() || !function.isDeclaration())
    return std::nullopt;
  LLVMContext &context = function.getContext();
  Type *real = name->isDouble ? Type::getDoubleTy(context) : Type::getFloatTy(context);
  const StringRef codes = name->inC ? "eeeiiirpipirpi" : "ppppppppppppp";
  const unsigned given = type->getNumParams();
  if (name->inC ? given != codes.size() : given < codes.size())
    return std::nullopt;
  const auto fits = [&](unsigned n, char code) {
    const Type *param = type->getParamType(n);
    return code == 'p'   ? param->isPointerTy()
           : code == 'r' ? param == real
                         : param->isIntegerTy(name->isWide ? 64 : 32) || (code == 'e' && param->isIntegerTy());
  };
  for (unsigned n = 0; n < given; ++n)
    if (n < codes.size() ? !fits(n, codes[n]) : !type->getParamType(n)->isIntegerTy())
      return std::nullopt;
  return Kernel{&kBlas, real, 0};
}

std::optional<Kernel> kernelOf(const Function &function) {
  const StringRef name = function.getName();
  if (function.getCallingConv() != CallingConv::C)
    return std::nullopt;
  if (const std::optional<Kernel> blas = matchBlas(function))
    return blas;
  const bool rust = name.starts_with("_R") && (name.contains("matrixmultiply") || name.contains("10matmul_imp"));
  if (!rust && !name.starts_with("_ZN5Eigen8internal29general_matrix_") && !name.starts_with("_ZN14matrixmultiply") &&
      !name.starts_with("_ZN4faer6linalg6matmul10matmul_imp"))
    return std::nullopt;
  std::string path = demangle(std::string_view(name.data(), name.size()));
  // Crates and hashes of Rust's symbols.
  if (const size_t at = path.find('['); rust && at != std::string::npos)
    path.erase(at, path.find(']', at) - at + 1);
  for (const Row &row : kRows) {
    StringRef rest = path;
    if (!rest.consume_front(row.path))
      continue;
    if (row.form == Form::Views) {
      Type *real = enz::elementOfViews(function);
      const bool fits = real && realOf(function, row.signature, real);
      return fits && (rest.starts_with("::<") || rest.starts_with("::h")) ? std::optional(Kernel{&row, real, 0})
                                                                          : std::nullopt;
    }
    if (row.form != Form::Strided)
      return rest.consume_front("<") ? matchTemplate(row, rest, function) : std::nullopt;
    Type *real = realOf(function, row.signature);
    const bool fits = real && row.path.ends_with(real->isDoubleTy() ? "dgemm" : "sgemm");
    if (fits && (rest.empty() || rest.starts_with("::h")))
      return Kernel{&row, real, 0};
  }
  return std::nullopt;
}

bool isHalf(const Function &function) {
  const StringRef name = function.getName();
  const bool named = name.starts_with("_ZN16private_gemm_x864gemm17h") ||
                     (name.starts_with("_RNvC") && name.ends_with("_16private_gemm_x864gemm"));
  LLVMContext &context = function.getContext();
  return named && function.getCallingConv() == CallingConv::C &&
         realOf(function, kHalf, Type::getDoubleTy(context)) != nullptr;
}

// The type that a call of it says; null if it is of complex numbers or not known.
Type *typeOfHalf(const CallBase &call) {
  const auto *type = dyn_cast<ConstantInt>(call.getArgOperand(0));
  if (!type || type->getZExtValue() > 1)
    return nullptr;
  return type->isOne() ? Type::getDoubleTy(call.getContext()) : Type::getFloatTy(call.getContext());
}

// The type of the numbers of faer's product into the lower half of a matrix: C, whether the product is added, whether
// the diagonal is left out, A, B, alpha, two bits about complex numbers; matrices are views. Null of other functions.
Type *lowerOf(const Function &function) {
  constexpr StringLiteral kStem = "10triangular35mat_x_mat_into_lower_impl_unchecked";
  const StringRef name = function.getName();
  LLVMContext &context = function.getContext();
  if (!(name.starts_with(("_ZN4faer6linalg6matmul" + kStem + "17h").str()) ||
        (name.starts_with("_RINv") && name.contains(("4faer6linalg6matmul" + kStem).str()))) ||
      function.getCallingConv() != CallingConv::C || !realOf(function, "pbbpppbb", Type::getDoubleTy(context)))
    return nullptr;
  if (const Attribute noted = function.getFnAttribute(kLower); noted.isValid())
    return noted.getValueAsString() == "f64" ? Type::getDoubleTy(context) : Type::getFloatTy(context);
  Type *real = nullptr;
  for (const BasicBlock &block : function)
    for (const Instruction &inst : block) {
      const auto *call = dyn_cast<CallBase>(&inst);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !isHalf(*callee))
        continue;
      if (real || !typeOfHalf(*call))
        return nullptr;
      real = typeOfHalf(*call);
    }
  const auto is = [&](unsigned n, uint64_t bytes) { return enz::isOfSize(function, n, bytes); };
  return real && is(0, 40) && is(3, 40) && is(4, 40) && is(5, real->isDoubleTy() ? 8 : 4) ? real : nullptr;
}

std::string nameFor(const Function &kernel, StringRef what) {
  return ("enzyme.lib.product." + kernel.getName() + "." + what).str();
}

// The parameters of `multiply`.
enum Param { M, K, N, Alpha, A, RsA, CsA, B, RsB, CsB, Beta, C, RsC, CsC };

class Maker {
public:
  Maker(Function &kernel, const Kernel &what)
      : module_(*kernel.getParent()), context_(module_.getContext()), kernel_(kernel), what_(what) {}

  // False if something is not there that should be.
  bool make() {
    Expected<std::unique_ptr<Module>> rules = parseBitcodeFile(
        MemoryBufferRef(StringRef(reinterpret_cast<const char *>(kRules), sizeof kRules), "products"), context_);
    if (!rules) {
      consumeError(rules.takeError());
      return false;
    }
    const std::string suffix = what_.real->isDoubleTy() ? "_f64" : "_f32";
    const auto named = [&](StringRef stem) { return (*rules)->getFunction((stem + suffix).str()); };
    Function *kernel = named("kernel"), *multiply = named("multiply"), *general = named("general");
    if (!kernel || !multiply || !general)
      return false;
    Function *product = declare(*multiply, "multiply");
    map_[multiply] = product;
    const Form form = what_.row->form;
    const bool blas = form == Form::Blas, strided = form == Form::Strided || form == Form::Views;
    Function *gemm = named("gemm"), *linked = named("is_linked"), *by_library = named("by_library");
    if (blas && gemm && linked && by_library) {
      map_[gemm] = callBlas(declare(*gemm, "gemm"));
      map_[linked] = isLinked(declare(*linked, "is_linked"));
    } else if (blas) {
      return false;
    } else if (!strided) {
      map_[kernel] = adapter(declare(*kernel, "kernel"));
    }
    SmallVector<std::pair<Function *, Function *>, 8> bodies;
    for (Function &from : **rules) {
      // A kernel that takes all strides needs none of what makes it do so.
      const StringRef stem = from.getName().drop_back(std::min(from.getName().size(), suffix.size()));
      if ((strided && stem == "loops") || ((strided || blas) && (stem == "general" || stem == "kernel")))
        continue;
      if ((form != Form::Views && stem == "part") || (!blas && is_contained({gemm, linked, by_library}, &from)))
        continue;
      if (map_.count(&from) || (!from.isDeclaration() && !from.getName().ends_with(suffix)))
        continue;
      if (from.isDeclaration()) {
        map_[&from] = module_.getOrInsertFunction(from.getName(), from.getFunctionType()).getCallee();
        continue;
      }
      Function *made = declare(from, stem);
      map_[&from] = made;
      bodies.push_back({&from, made});
    }
    for (auto [from, made] : bodies)
      fill(*from, *made);
    describe(*product);
    IRBuilder<> b(BasicBlock::Create(context_, "", product));
    SmallVector<Value *, 14> args;
    for (Argument &arg : product->args())
      args.push_back(&arg);
    if (form == Form::Views) {
      callWithViews(b, args);
    } else if (blas) {
      b.CreateCall(cast<Function>(map_[by_library]), args);
    } else if (strided) {
      b.CreateCall(kernel_.getFunctionType(), &kernel_, args)->setCallingConv(kernel_.getCallingConv());
    } else {
      // These kernels add.
      args.erase(args.begin() + Beta);
      args.push_back(b.getInt32(what_.layout));
      b.CreateCall(cast<Function>(map_[general]), args);
    }
    b.CreateRetVoid();
    return true;
  }

private:
  Function *declare(const Function &like, StringRef what) {
    Function *made =
        Function::Create(like.getFunctionType(), GlobalValue::InternalLinkage, nameFor(kernel_, what), module_);
    for (const StringRef key : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width"})
      if (const Attribute value = kernel_.getFnAttribute(key); value.isValid())
        made->addFnAttr(value);
    made->setDoesNotThrow();
    for (unsigned n = 0; n < like.arg_size(); ++n)
      if (!like.isDeclaration())
        map_[like.getArg(n)] = made->getArg(n);
    return made;
  }

  void fill(Function &from, Function &made) {
    const AttributeList own = made.getAttributes();
    SmallVector<ReturnInst *, 4> returns;
    CloneFunctionInto(&made, &from, map_, CloneFunctionChangeType::DifferentModule, returns);
    made.setLinkage(GlobalValue::InternalLinkage);
    made.setCallingConv(CallingConv::C);
    // What the build's compiler noted is about its target and its level.
    made.setAttributes(own);
    for (BasicBlock &block : made)
      for (Instruction &inst : block)
        if (auto *call = dyn_cast<CallBase>(&inst)) {
          call->setCallingConv(CallingConv::C);
          const Function *callee = call->getCalledFunction();
          if (callee && callee->getName() == "malloc" && call->getType()->isPointerTy())
            call->addRetAttr(Attribute::NoAlias);
        }
  }

  // What is to be known of a product where it is called.
  void describe(Function &product) {
    product.addFnAttr(enz::kProduct);
    product.addFnAttr(Attribute::NoInline);
    product.setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
    const Attribute no_capture = Attribute::getWithCaptureInfo(context_, CaptureInfo::none());
    for (const unsigned n : {A, B, C})
      product.addParamAttr(n, no_capture);
    product.addParamAttr(A, Attribute::ReadOnly);
    product.addParamAttr(B, Attribute::ReadOnly);
  }

  // The kernel with the arguments of `multiply`, whose beta is 0 or 1.
  void callWithViews(IRBuilder<> &b, ArrayRef<Value *> args) {
    const auto view = [&](Param rows, Param columns, Param start) -> Value * {
      Value *memory = b.CreateAlloca(enz::viewType(context_));
      Value *const fields[] = {args[start], args[rows], args[columns], args[start + 1], args[start + 2]};
      for (unsigned n = 0; n < std::size(fields); ++n)
        b.CreateStore(fields[n], b.CreateStructGEP(enz::viewType(context_), memory, n));
      return memory;
    };
    Value *c = view(M, N, C), *a = view(M, K, A), *rhs = view(K, N, B);
    Value *alpha = b.CreateAlloca(what_.real);
    b.CreateStore(args[Alpha], alpha);
    Value *adds = b.CreateFCmpUNE(args[Beta], Constant::getNullValue(what_.real));
    CallInst *call = b.CreateCall(&kernel_, {c, adds, a, b.getFalse(), rhs, b.getFalse(), alpha});
    for (const unsigned n : {1, 3, 5})
      call->addParamAttr(n, Attribute::ZExt);
  }

  // `kernel` of products.c: rows, depth, columns, alpha, A, its stride, B, its stride, C, its two strides.
  Function *adapter(Function *made) {
    IRBuilder<> b(BasicBlock::Create(context_, "", made));
    const auto arg = [&](unsigned n) -> Value * { return made->getArg(n); };
    Type *ptr = b.getPtrTy(), *word = b.getInt64Ty();
    const auto put = [&](Type *type, Value *memory, unsigned field, Value *value) {
      b.CreateStore(value, b.CreateStructGEP(type, memory, field));
    };
    SmallVector<Value *, 13> args;
    if (what_.row->form == Form::EigenMatrix) {
      // The depth of blocks is for the first level of caches, their rows for the second, their columns for the third.
      const auto most = [&](Value *size, uint64_t limit) {
        return b.CreateBinaryIntrinsic(Intrinsic::smin, size, b.getInt64(limit));
      };
      const uint64_t scale = what_.real->isDoubleTy() ? 1 : 2;
      Type *type = StructType::get(ptr, ptr, word, word, word);
      Value *blocks = b.CreateAlloca(type), *null = Constant::getNullValue(ptr);
      put(type, blocks, 0, null);
      put(type, blocks, 1, null);
      put(type, blocks, 2, most(arg(0), 192 * scale));
      put(type, blocks, 3, most(arg(2), 1024 * scale));
      put(type, blocks, 4, most(arg(1), 256));
      args = {arg(0), arg(2), arg(1), arg(4), arg(5), arg(6), arg(7), arg(8), arg(9), arg(10), arg(3), blocks, null};
    } else {
      Type *type = StructType::get(ptr, word);
      Value *matrix = b.CreateAlloca(type), *vector = b.CreateAlloca(type);
      put(type, matrix, 0, arg(4));
      put(type, matrix, 1, arg(5));
      put(type, vector, 0, arg(6));
      put(type, vector, 1, arg(7));
      args = {arg(0), arg(1), matrix, vector, arg(8), arg(9), arg(3)};
    }
    b.CreateCall(kernel_.getFunctionType(), &kernel_, args)->setCallingConv(kernel_.getCallingConv());
    b.CreateRetVoid();
    return made;
  }

  // Whether the program has the function, which it need not if only its bodies here ask for it.
  Function *isLinked(Function *made) {
    IRBuilder<> b(BasicBlock::Create(context_, "", made));
    b.CreateRet(b.CreateIsNotNull(&kernel_));
    made->addRetAttr(Attribute::ZExt);
    return made;
  }

  // `gemm` of products.c: which factors are transposed, rows, columns, depth, alpha, A, its stride, B, its stride,
  // beta, C, its stride.
  Function *callBlas(Function *made) {
    const std::optional<enz::BlasName> name = enz::blasName(kernel_.getName());
    IRBuilder<> b(BasicBlock::Create(context_, "", made));
    Type *whole = b.getIntNTy(name && name->isWide ? 64 : 32);
    SmallVector<Value *, 15> args;
    for (Argument &arg : made->args()) {
      const bool moves = arg.getArgNo() < 2;
      if (name && name->inC)
        args.push_back(moves ? b.CreateSelect(b.CreateTrunc(&arg, b.getInt1Ty()), b.getInt32(112), b.getInt32(111))
                       : arg.getType()->isIntegerTy() ? b.CreateTrunc(&arg, whole)
                                                      : &arg);
      else if (arg.getType()->isPointerTy())
        args.push_back(&arg);
      else {
        Value *value = moves ? b.CreateSelect(b.CreateTrunc(&arg, b.getInt1Ty()), b.getInt8('T'), b.getInt8('N'))
                       : arg.getType()->isIntegerTy() ? b.CreateTrunc(&arg, whole)
                                                      : &arg;
        args.push_back(b.CreateAlloca(value->getType()));
        b.CreateStore(value, args.back());
      }
    }
    const FunctionType *type = kernel_.getFunctionType();
    if (name && name->inC)
      args.insert(args.begin(), b.getInt32(102));
    while (args.size() < type->getNumParams())
      args.push_back(ConstantInt::get(type->getParamType(args.size()), 1));
    for (unsigned n = 0; n < args.size(); ++n)
      if (args[n]->getType()->isIntegerTy())
        args[n] = b.CreateZExtOrTrunc(args[n], type->getParamType(n));
    b.CreateCall(kernel_.getFunctionType(), &kernel_, args)->setCallingConv(kernel_.getCallingConv());
    b.CreateRetVoid();
    return made;
  }

  Module &module_;
  LLVMContext &context_;
  Function &kernel_;
  const Kernel &what_;
  ValueToValueMapTy map_;
};

// The arguments of `multiply` for a call of a kernel; none if one of them is not known.
SmallVector<Value *, 14> operands(CallBase &call, const Kernel &kernel) {
  const auto arg = [&](unsigned n) { return call.getArgOperand(n); };
  IRBuilder<> b(&call);
  Value *one = b.getInt64(1), *beta = ConstantFP::get(kernel.real, 1.0);
  const bool rows_a = kernel.layout & RowsOfA, rows_b = kernel.layout & RowsOfB;
  const auto strides = [&](bool rows, Value *other) { return rows ? std::pair(other, one) : std::pair(one, other); };
  switch (kernel.row->form) {
  case Form::EigenMatrix: {
    // Parts of a product that several threads compute.
    if (!isa<ConstantPointerNull>(arg(12)))
      return {};
    const auto [rsa, csa] = strides(rows_a, arg(4));
    const auto [rsb, csb] = strides(rows_b, arg(6));
    Value *rsc = kernel.layout & StridedC ? arg(8) : one;
    return {arg(0), arg(2), arg(1), arg(10), arg(3), rsa, csa, arg(5), rsb, csb, beta, arg(7), rsc, arg(9)};
  }
  case Form::EigenVector: {
    Type *type = StructType::get(b.getPtrTy(), b.getInt64Ty());
    const auto get = [&](Value *memory, unsigned field) {
      return b.CreateLoad(type->getStructElementType(field), b.CreateStructGEP(type, memory, field));
    };
    Value *x = get(arg(3), 0);
    const auto [rsa, csa] = strides(rows_a, get(arg(2), 1));
    Value *rsb = kernel.layout & StridedB ? get(arg(3), 1) : one;
    Value *rsc = kernel.layout & StridedC ? arg(5) : one;
    return {arg(0), arg(1), one, arg(6), get(arg(2), 0), rsa, csa, x, rsb, one, beta, arg(4), rsc, one};
  }
  case Form::Strided:
    return SmallVector<Value *, 14>(call.args());
  case Form::Blas:
    return {};
  case Form::Views: {
    StructType *type = enz::viewType(b.getContext());
    const auto get = [&](unsigned view, unsigned field) -> Value * {
      return b.CreateLoad(type->getElementType(field), b.CreateStructGEP(type, arg(view), field));
    };
    Value *adds = b.CreateUIToFP(arg(1), kernel.real), *alpha = b.CreateLoad(kernel.real, arg(6));
    return {get(0, 1), get(2, 2), get(0, 2), alpha, get(2, 0), get(2, 3), get(2, 4),
            get(4, 0), get(4, 3), get(4, 4), adds,  get(0, 0), get(0, 3), get(0, 4)};
  }
  }
  return {};
}

// The function `part` of products.c for faer's numbers of a type; null if the module has no product of such.
Function *partOf(Module &module, const Type *real) {
  for (const Function &function : module) {
    if (!enz::isKernel(function))
      continue;
    const std::optional<Kernel> kernel = kernelOf(function);
    if (kernel && kernel->row->form == Form::Views && kernel->real == real)
      return module.getFunction(nameFor(function, "part"));
  }
  return nullptr;
}

// Sends a call of faer's triangular product to `part`: false if something is not known.
bool callLower(CallBase &call) {
  const auto arg = [&](unsigned n) { return call.getArgOperand(n); };
  IRBuilder<> b(&call);
  Type *real = lowerOf(*call.getCalledFunction());
  Function *part = partOf(*call.getModule(), real);
  if (!part)
    return false;
  StructType *type = enz::viewType(b.getContext());
  const auto get = [&](unsigned view, unsigned field) -> Value * {
    return b.CreateLoad(type->getElementType(field), b.CreateStructGEP(type, arg(view), field));
  };
  // Without the diagonal: that of the matrix without its first row is next to it.
  Value *skipped = b.CreateZExt(arg(2), b.getInt64Ty());
  const auto start = [&](unsigned view) { return b.CreateGEP(real, get(view, 0), b.CreateMul(skipped, get(view, 3))); };
  Value *alpha = b.CreateLoad(real, arg(5)), *adds = b.CreateUIToFP(arg(1), real);
  b.CreateCall(part, {b.CreateSub(get(0, 1), skipped), get(3, 2), get(0, 2), alpha, start(3), get(3, 3), get(3, 4),
                      get(4, 0), get(4, 3), get(4, 4), adds, start(0), get(0, 3), get(0, 4)});
  return true;
}

} // namespace

void enz::markKernels(EnzOpaqueHost &host) {
  if (host.module->getDataLayout().getPointerSizeInBits(0) != 64)
    return;
  if (Function *chooses = host.module->getFunction(kChooses); chooses && !chooses->hasLocalLinkage()) {
    chooses->setMemoryEffects(chooses->getMemoryEffects() & MemoryEffects::inaccessibleOrArgMemOnly());
    chooses->setDoesNotThrow();
    chooses->addFnAttr("enzyme_inactive");
    chooses->addFnAttr(Attribute::NoInline);
  }
  for (Function &function : *host.module) {
    Type *lower = lowerOf(function);
    const bool half = lower || isHalf(function);
    const std::optional<Kernel> kernel = function.hasFnAttribute(kKernel) ? std::nullopt : kernelOf(function);
    if (!kernel && !half)
      continue;
    if (kernel && kernel->row->form == Form::Views)
      enz::noteViews(function, kernel->real);
    // Optimisations make another function of one that nobody else can call or define: one for the arguments that they
    // see. Those that went through them have another calling convention.
    if (function.hasLocalLinkage()) {
      function.setLinkage(GlobalValue::LinkOnceODRLinkage);
      function.setVisibility(GlobalValue::HiddenVisibility);
      function.setDSOLocal(true);
    }
    if (kernel)
      function.addFnAttr(kKernel);
    if (lower)
      function.addFnAttr(kLower, lower->isDoubleTy() ? "f64" : "f32");
    function.removeFnAttr(Attribute::AlwaysInline);
    function.addFnAttr(Attribute::NoInline);
  }
}

bool enz::isKernel(const Function &function) { return function.hasFnAttribute(kKernel); }

bool enz::callProducts(Function &clone) {
  SmallVector<CallBase *, 8> calls;
  for (BasicBlock &block : clone)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && isa<CallInst, InvokeInst>(call))
        if (const Function *callee = call->getCalledFunction();
            callee && (isKernel(*callee) || callee->hasFnAttribute(kLower)))
          calls.push_back(call);
  bool any = false, unwound = false;
  for (CallBase *call : calls) {
    Function *callee = call->getCalledFunction();
    if (call->getFunctionType() != callee->getFunctionType() || call->hasOperandBundles())
      continue;
    if (!isKernel(*callee)) {
      if (callLower(*call)) {
        unwound |= isa<InvokeInst>(call);
        drop(*call);
        any = true;
      }
      continue;
    }
    Function *product = clone.getParent()->getFunction(nameFor(*callee, "multiply"));
    const std::optional<Kernel> kernel = product ? kernelOf(*callee) : std::nullopt;
    if (!kernel)
      continue;
    const SmallVector<Value *, 14> args = operands(*call, *kernel);
    if (args.empty())
      continue;
    IRBuilder<> b(call);
    b.CreateCall(product, args);
    unwound |= isa<InvokeInst>(call);
    drop(*call);
    any = true;
  }
  if (unwound)
    removeUnreachableBlocks(clone);
  return any;
}

SmallVector<std::array<Function *, 4>, 4> enz::productRules(Module &module) {
  SmallVector<std::array<Function *, 4>, 4> out;
  for (Function &function : module) {
    if (!isKernel(function))
      continue;
    std::array<Function *, 4> rules;
    constexpr StringLiteral kNames[] = {"multiply", "augmented", "reverse", "forward"};
    for (size_t n = 0; n < rules.size(); ++n)
      rules[n] = module.getFunction(nameFor(function, kNames[n]));
    if (all_of(rules, [](const Function *rule) { return rule != nullptr; }))
      out.push_back(rules);
  }
  return out;
}

Function *enz::blasProduct(Module &module, StringRef type) {
  for (Function &function : module) {
    const std::optional<Kernel> kernel = enz::isKernel(function) ? matchBlas(function) : std::nullopt;
    if (kernel && kernel->real->isDoubleTy() == type.starts_with("f64"))
      if (Function *product = module.getFunction(nameFor(function, "multiply")))
        return product;
  }
  return nullptr;
}

void enz_make_products(EnzHost host) {
  enz::declareBlas(*host->module);
  SmallVector<std::pair<Function *, Kernel>, 4> kernels;
  for (Function &function : *host->module) {
    if (matchBlas(function))
      function.addFnAttr(kKernel);
    if (!enz::isKernel(function) || host->module->getFunction(nameFor(function, "multiply")))
      continue;
    if (const std::optional<Kernel> kernel = kernelOf(function); kernel && !function.hasLocalLinkage())
      kernels.push_back({&function, *kernel});
  }
  for (auto &[function, kernel] : kernels)
    Maker(*function, kernel).make();
}
