// Bodies for functions that stand in libraries and link data structures, move data or compute: library.c, flang.c,
// blas.c and strings.cpp say which; the build compiles them to bitcode. A call in a prepared clone goes to an internal
// copy named `enzyme.lib.` and the symbol.

#include "products.h"
#include "support.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// What the build made of these files.
constexpr unsigned char kNodes[] = {
#include "library.inc"
};
constexpr unsigned char kFlang[] = {
#include "flang.inc"
};
constexpr unsigned char kGnuStrings[] = {
#include "libstdc++.inc"
};
constexpr unsigned char kLlvmStrings[] = {
#include "libc++.inc"
};

// The mark of what is inlined when all else was.
constexpr StringLiteral kFlangMark = "enzyme-flang";
// Instructions beyond which a function grows no more by that.
constexpr uint64_t kFlangLimit = 200'000;

// A body calls the library's own function by its symbol after this.
constexpr StringLiteral kOriginal = "enzyme.runtime.";

// What such a body gives has no derivative.
constexpr StringLiteral kGiven = "given_";
// What is called from several places of one, and is not worth a copy for each.
constexpr StringLiteral kApart = "apart_";

bool isFlang(StringRef name) { return name.starts_with("_FortranA"); }

bool isGnuString(StringRef name) {
  name.consume_front("_ZN");
  name.consume_front("K");
  return name.starts_with("St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE");
}

bool isLlvmString(StringRef name) {
  name.consume_front("_ZN");
  name.consume_front("K");
  return name.starts_with("St3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE") ||
         name.starts_with("St3__1plIcNS_11char_traitsIcEENS_9allocatorIcEEEENS_12basic_string") ||
         name.starts_with("St3__19to_stringE");
}

bool isString(StringRef name) { return isGnuString(name) || isLlvmString(name); }

StringRef bitcode(StringRef name) {
  const auto text = [](const unsigned char *bytes, size_t count) {
    return StringRef(reinterpret_cast<const char *>(bytes), count);
  };
  if (isFlang(name))
    return text(kFlang, sizeof kFlang);
  if (enz::isBlas(name))
    return enz::blasBitcode();
  if (isLlvmString(name))
    return text(kLlvmStrings, sizeof kLlvmStrings);
  return isGnuString(name) ? text(kGnuStrings, sizeof kGnuStrings) : text(kNodes, sizeof kNodes);
}

// Whether the body may be meant: same parameters and result. Of BLAS callers of several languages say other things.
bool fits(const Function &declared, const Function &body) {
  return declared.getFunctionType() == body.getFunctionType() || enz::isBlas(declared.getName());
}

// What a program says of its derived types, by the flags of flang's descriptions of them (derived_type in
// flang_values.h). Of those that other files state less is known: they count as such that have all. Nothing is said
// where variables are polymorphic, which may be of types of any file.
class DerivedTypes {
public:
  explicit DerivedTypes(Module &module) : module(module) {}

  // Whether values of some type hold memory of their own.
  Constant *holdsMemory(Type *type) {
    return ConstantInt::get(type, isPolymorphic() || !without(kNoDestruction).empty());
  }

  // The type with initial values, if there is but one.
  Constant *onlyBegun(Type *type) {
    const SmallVector<GlobalVariable *, 4> begun = without(kNoInitialization);
    const bool isOne = begun.size() == 1 && begun.front()->hasInitializer() && !isPolymorphic();
    return isOne ? static_cast<Constant *>(begun.front()) : Constant::getNullValue(type);
  }

private:
  static constexpr uint64_t kNoInitialization = 429, kNoDestruction = 430;

  // Whether the program asks flang's library for what only polymorphic variables need.
  bool isPolymorphic() {
    return any_of(module.functions(), [](const Function &function) {
      const StringRef name = function.getName();
      return isFlang(name) && (name.contains("Polymorphic") || name.contains("ApplyMold") ||
                               name.contains("InitDerived") || name.contains("NullifyDerived"));
    });
  }

  // Those of which the flag is not set.
  SmallVector<GlobalVariable *, 4> without(uint64_t flag) {
    SmallVector<GlobalVariable *, 4> found;
    for (GlobalVariable &global : module.globals()) {
      const auto *type = dyn_cast<StructType>(global.getValueType());
      if (!type || !type->hasName() || !type->getName().starts_with("_QM__fortran_type_infoTderivedtype"))
        continue;
      const Constant *none =
          global.hasInitializer()
              ? ConstantFoldLoadFromConst(global.getInitializer(), Type::getInt8Ty(module.getContext()),
                                          APInt(64, flag), module.getDataLayout())
              : nullptr;
      if (!none || none->isNullValue())
        found.push_back(&global);
    }
    return found;
  }

  Module &module;
};

// Copies functions of a library, with all that they use, into a module.
class Copier {
public:
  Copier(Module &to, bool flang) : to(to), flang(flang) {}

  Function *copy(Function &body) {
    Function *first = declare(body);
    while (!work.empty()) {
      auto [from, made] = work.pop_back_val();
      fill(*from, *made);
    }
    return first;
  }

private:
  Function *declare(Function &body) {
    Function *made =
        Function::Create(body.getFunctionType(), GlobalValue::InternalLinkage, "enzyme.lib." + body.getName(), to);
    map[&body] = made;
    for (unsigned n = 0; n < body.arg_size(); ++n)
      map[body.getArg(n)] = made->getArg(n);
    work.push_back({&body, made});
    return made;
  }

  void use(Constant &value) {
    if (map.count(&value))
      return;
    if (!isa<GlobalValue>(value))
      for (Use &operand : value.operands())
        if (auto *constant = dyn_cast<Constant>(operand.get()))
          use(*constant);
    if (auto *function = dyn_cast<Function>(&value)) {
      const std::string name = ("enzyme.lib." + function->getName()).str();
      StringRef product = function->getName();
      if (function->isDeclaration() && product.consume_front("product_")) {
        Function *rule = enz::blasProduct(to, product);
        Function *plain = function->getParent()->getFunction(("plain_product_" + product).str());
        map[function] = rule ? rule : to.getFunction(("enzyme.lib.plain_product_" + product).str());
        if (!map[function])
          map[function] = declare(*plain);
      } else if (function->isDeclaration()) {
        StringRef symbol = function->getName();
        symbol.consume_front(kOriginal);
        map[function] = to.getOrInsertFunction(symbol, function->getFunctionType()).getCallee();
      } else if (Function *known = to.getFunction(name))
        map[function] = known;
      else
        declare(*function);
    } else if (auto *text = dyn_cast<GlobalVariable>(&value); text && text->hasInitializer()) {
      auto *made = new GlobalVariable(to, text->getValueType(), true, GlobalValue::PrivateLinkage,
                                      text->getInitializer(), "enzyme.lib.text");
      map[text] = made;
    } else if (auto *question = dyn_cast<GlobalVariable>(&value)) {
      DerivedTypes types(to);
      Type *type = question->getValueType();
      Constant *answer = question->getName() == "only_begun" ? types.onlyBegun(type) : types.holdsMemory(type);
      map[question] = new GlobalVariable(to, type, true, GlobalValue::PrivateLinkage, answer, "enzyme.lib.types");
    }
  }

  void fill(Function &from, Function &made) {
    for (BasicBlock &block : from)
      for (Instruction &inst : block)
        for (Use &operand : inst.operands())
          if (auto *constant = dyn_cast<Constant>(operand.get()))
            use(*constant);
    SmallVector<ReturnInst *, 4> returns;
    CloneFunctionInto(&made, &from, map, CloneFunctionChangeType::DifferentModule, returns);
    made.setLinkage(GlobalValue::InternalLinkage);
    made.setCallingConv(CallingConv::C);
    // What the build's compiler noted is about its target and its level.
    made.setAttributes(AttributeList());
    for (BasicBlock &block : made)
      for (Instruction &inst : block)
        if (auto *call = dyn_cast<CallBase>(&inst)) {
          call->setCallingConv(CallingConv::C);
          // Compiled without exceptions, which what throws in a library does not know.
          if (call->doesNotReturn())
            call->removeFnAttr(Attribute::NoUnwind);
          // The program's own declaration may not say so.
          const Function *callee = call->getCalledFunction();
          if (callee && callee->isDeclaration() && isFlang(callee->getName()))
            call->addFnAttr(Attribute::get(call->getContext(), kOriginal));
          if (callee && callee->getName() == "malloc" && call->getType()->isPointerTy())
            call->addRetAttr(Attribute::NoAlias);
        }
    // What asks a string for a place behind its end may catch what comes of it.
    if (!isString(from.getName()))
      made.setDoesNotThrow();
    if (flang)
      made.addFnAttr(kFlangMark);
    if (from.getName().starts_with(kGiven)) {
      made.addFnAttr("enzyme_inactive");
      made.addFnAttr(Attribute::NoInline);
    }
    if (from.getName().starts_with(kApart))
      made.addFnAttr(Attribute::NoInline);
  }

  Module &to;
  const bool flang;
  ValueToValueMapTy map;
  SmallVector<std::pair<Function *, Function *>, 8> work;
};

} // namespace

Function *enz::libraryBody(Function &declared) {
  Module &module = *declared.getParent();
  // Iterators to constant nodes are moved as others are.
  std::string symbol = declared.getName().str();
  if (const size_t at = symbol.find("PKSt"); at != std::string::npos)
    symbol.erase(at + 1, 1);
  if (Function *known = module.getFunction("enzyme.lib." + symbol))
    return fits(declared, *known) ? known : nullptr;
  if (module.getDataLayout().getPointerSizeInBits(0) != 64)
    return nullptr;
  Expected<std::unique_ptr<Module>> library =
      parseBitcodeFile(MemoryBufferRef(bitcode(symbol), symbol), module.getContext());
  if (!library) {
    consumeError(library.takeError());
    return nullptr;
  }
  // Constructors of whole objects are other names of those of parts.
  GlobalValue *named = (*library)->getNamedValue(symbol);
  for (GlobalAlias &alias : make_early_inc_range((*library)->aliases())) {
    auto *meant = dyn_cast_or_null<Function>(alias.getAliaseeObject());
    if (!meant)
      return nullptr;
    if (named == &alias)
      named = meant;
    alias.replaceAllUsesWith(meant);
  }
  auto *body = dyn_cast_or_null<Function>(named);
  if (!body || body->isDeclaration() || !fits(declared, *body))
    return nullptr;
  return Copier(module, isFlang(symbol)).copy(*body);
}

bool enz::hasLibraryBody(StringRef name) {
  return (isGnuString(name) && sizeof kGnuStrings > 1) || (isLlvmString(name) && sizeof kLlvmStrings > 1) ||
         name.starts_with("_ZNSt8__detail15_List_node_base") || name.starts_with("_ZNSt3__119__shared_weak_count") ||
         name.starts_with("_ZNSt3__16__sortIRNS_6__less") || name.starts_with("_ZSt29_Rb_tree_") ||
         name.starts_with("_ZSt28_Rb_tree_") || name.starts_with("_ZSt18_Rb_tree_") ||
         is_contained({"lfind", "lsearch", "wmemcpy", "wmempcpy", "wmemmove", "__wmemcpy_chk", "__wmempcpy_chk",
                       "__wmemmove_chk"},
                      name);
}

bool enz::callFlangBodies(Function &function) {
  bool any = false;
  DenseMap<Function *, Function *> bodies;
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      auto *call = dyn_cast<CallBase>(&inst);
      Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !callee->isDeclaration() || callee->hasLocalLinkage() || !isFlang(callee->getName()) ||
          call->hasFnAttr(kOriginal))
        continue;
      const auto [known, isNew] = bodies.try_emplace(callee, nullptr);
      if (isNew)
        known->second = libraryBody(*callee);
      if (known->second) {
        call->setCalledFunction(known->second);
        any = true;
      }
    }
  return any;
}

bool enz::inlineFlangBodies(Function &function, bool copies) {
  SmallVector<CallBase *, 16> calls;
  const auto note = [&](CallBase &call) {
    const Function *callee = call.getCalledFunction();
    if (callee && callee->hasFnAttribute(kFlangMark) && (copies || !callee->getName().starts_with("enzyme.lib.copy_")))
      calls.push_back(&call);
  };
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst))
        note(*call);
  const bool any = !calls.empty();
  uint64_t size = function.getInstructionCount();
  while (!calls.empty()) {
    CallBase *call = calls.pop_back_val();
    size += call->getCalledFunction()->getInstructionCount();
    if (size > kFlangLimit)
      break;
    InlineFunctionInfo info;
    if (InlineFunction(*call, info).isSuccess())
      for (CallBase *inner : info.InlinedCallSites)
        note(*inner);
  }
  return any;
}

void enz::forgetUnrolling(Function &function) {
  for (BasicBlock &block : function) {
    Instruction *end = block.getTerminator();
    const MDNode *loop = end ? end->getMetadata(LLVMContext::MD_loop) : nullptr;
    if (loop && any_of(loop->operands(), [](const MDOperand &note) {
          const auto *node = dyn_cast_or_null<MDNode>(note.get());
          const auto *name = node && node->getNumOperands() ? dyn_cast<MDString>(node->getOperand(0)) : nullptr;
          return name && name->getString() == "llvm.loop.unroll.full";
        }))
      end->setMetadata(LLVMContext::MD_loop, nullptr);
  }
}
