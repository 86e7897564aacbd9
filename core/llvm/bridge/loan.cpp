// Modules that are lent by compilers which hold them through LLVM-C: a derivative of one function is to come into such
// a module, and nothing else in it may change.
//
// So the engine works on a copy, in the same context, of the function and of what can be reached from it; all else is
// declared there. Afterwards the functions that were asked for are moved over with everything new that they need, and
// what they share with the module is that module's again. A refusal leaves no trace.
//
// Variables that only this module sees are copied with all functions that use them, since LLVM would otherwise take
// those for read-only that others write. Functions with markers in them are changed in the copy; derivatives call the
// changed ones. What a request says of the bytes behind a parameter is stated at the entry of the copy, as a program
// does (statements.cpp).
//
// Not handled: functions of a module that does not verify (the engine says so).

#include "loan.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <functional>

using namespace llvm;

struct EnzLoan::Managers {
  PassBuilder passes;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  EnzOpaqueHost host{};

  explicit Managers(Module &module) {
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(components);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, components, modules);
    host = EnzOpaqueHost{&module, &modules, &functions, &passes, ThinOrFullLTOPhase::None};
  }
};

struct EnzWatched {
  WeakTrackingVH value;
};

namespace {

constexpr StringLiteral kMarker = "__enzyme_";

// The default handler of a context prints, and ends the process at an error.
struct SilentHandler : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &) override { return true; }
};

// Everything global that is reached from where it starts, in the order in which it is found.
class Reach {
public:
  explicit Reach(std::function<bool(GlobalValue &)> follow) : follow_(std::move(follow)) {}

  void add(GlobalValue &global) {
    if (found_.insert(&global) && follow_(global))
      work_.push_back(&global);
    while (!work_.empty()) {
      GlobalValue *next = work_.pop_back_val();
      if (auto *function = dyn_cast<Function>(next))
        for (Instruction &inst : instructionsOf(*function))
          look(inst);
      look(*next);
    }
  }

  const SetVector<GlobalValue *> &found() const { return found_; }

private:
  static SmallVector<std::reference_wrapper<Instruction>, 0> instructionsOf(Function &function) {
    SmallVector<std::reference_wrapper<Instruction>, 0> out;
    for (BasicBlock &block : function)
      for (Instruction &inst : block)
        out.push_back(inst);
    return out;
  }

  void look(User &user) {
    SmallVector<User *, 8> users{&user};
    while (!users.empty())
      for (Value *operand : users.pop_back_val()->operands()) {
        if (auto *global = dyn_cast<GlobalValue>(operand)) {
          if (found_.insert(global) && follow_(*global))
            work_.push_back(global);
        } else if (auto *constant = dyn_cast<Constant>(operand); constant && seen_.insert(constant).second) {
          users.push_back(constant);
        }
      }
  }

  std::function<bool(GlobalValue &)> follow_;
  SetVector<GlobalValue *> found_;
  SmallVector<GlobalValue *, 16> work_;
  SmallPtrSet<Constant *, 32> seen_;
};

bool callsMarkers(Function &function) {
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst))
        if (auto *callee = dyn_cast<Function>(enz::resolve(call->getCalledOperand()));
            callee && callee->getName().contains(kMarker))
          return true;
  return false;
}

// The functions that use a variable; false if something else does, too.
bool usersOf(GlobalVariable &variable, SmallSetVector<Function *, 8> &out) {
  SmallVector<User *, 8> users(variable.users());
  SmallPtrSet<User *, 16> seen;
  while (!users.empty()) {
    User *user = users.pop_back_val();
    if (!seen.insert(user).second)
      continue;
    if (auto *inst = dyn_cast<Instruction>(user))
      out.insert(inst->getFunction());
    else if (isa<GlobalValue>(user))
      return false;
    else
      append_range(users, user->users());
  }
  return true;
}

// What a module states of its functions, by the names of variables and in metadata.
bool isStatement(const GlobalValue &global) {
  if (global.getName() == "llvm.global.annotations")
    return true;
  if (isa<GlobalVariable>(global))
    return global.getName().contains(kMarker);
  const auto *function = dyn_cast<Function>(&global);
  return function && (function->hasMetadata("enzyme_gradient") || function->hasMetadata("enzyme_derivative"));
}

void addStated(Function &function, Reach &reach) {
  for (StringRef kind : {"enzyme_augment", "enzyme_gradient", "enzyme_derivative"})
    if (const MDNode *node = function.getMetadata(kind); node && node->getNumOperands() > 0)
      if (const auto *value = dyn_cast_or_null<ValueAsMetadata>(node->getOperand(0)))
        if (auto *rule = dyn_cast<Function>(enz::resolve(value->getValue())))
          reach.add(*rule);
}

void copyModule(EnzLoan &loan, Function &function) {
  Module &lender = *loan.lender;
  Reach reach([](GlobalValue &) { return true; });
  reach.add(function);
  for (GlobalValue &global : lender.global_values())
    if (isStatement(global)) {
      reach.add(global);
      if (auto *stated = dyn_cast<Function>(&global))
        addStated(*stated, reach);
    }
  SmallPtrSet<const GlobalValue *, 32> wanted(reach.found().begin(), reach.found().end());
  SmallVector<GlobalVariable *, 4> open;
  for (GlobalValue *global : reach.found()) {
    auto *variable = dyn_cast<GlobalVariable>(global);
    if (!variable || !variable->hasLocalLinkage() || variable->isConstant())
      continue;
    SmallSetVector<Function *, 8> users;
    bool known = usersOf(*variable, users);
    for (Function *user : users)
      known &= wanted.contains(user) || !callsMarkers(*user);
    if (!known) {
      open.push_back(variable);
      continue;
    }
    wanted.insert(users.begin(), users.end());
  }
  loan.copy = CloneModule(lender, loan.map, [&](const GlobalValue *global) { return wanted.contains(global); });
  for (GlobalVariable *variable : open)
    if (auto *copied = dyn_cast_or_null<GlobalVariable>(loan.map.lookup(variable)))
      copied->setLinkage(GlobalValue::ExternalLinkage);
  for (Function &copied : *loan.copy)
    if (callsMarkers(copied))
      loan.changed.insert(&copied);
}

// The functions of these names in the copy, and what they need that the lender does not have.
bool novelties(EnzLoan &loan, ArrayRef<EnzStr> names, SmallVectorImpl<Function *> &functions,
               SetVector<GlobalValue *> &needed) {
  SmallPtrSet<GlobalValue *, 32> shared;
  for (GlobalValue &global : loan.lender->global_values())
    if (auto *copied = dyn_cast_or_null<GlobalValue>(loan.map.lookup(&global)))
      if (!loan.changed.contains(copied))
        shared.insert(copied);
  Reach reach([&](GlobalValue &global) { return !shared.contains(&global); });
  for (const EnzStr &name : names) {
    Function *function = loan.copy->getFunction(enz::text(name));
    if (!function || function->isDeclaration())
      return false;
    functions.push_back(function);
    reach.add(*function);
  }
  for (GlobalValue *global : reach.found())
    if (!shared.contains(global))
      needed.insert(global);
  return true;
}

void move(GlobalValue &global, Module &to) {
  if (!global.isDeclaration()) {
    global.setLinkage(GlobalValue::InternalLinkage);
    global.setVisibility(GlobalValue::DefaultVisibility);
  }
  if (auto *object = dyn_cast<GlobalObject>(&global))
    object->setComdat(nullptr);
  if (auto *function = dyn_cast<Function>(&global)) {
    function->removeFromParent();
    to.getFunctionList().push_back(function);
  } else if (auto *variable = dyn_cast<GlobalVariable>(&global)) {
    variable->removeFromParent();
    to.insertGlobalVariable(variable);
  }
}

} // namespace

EnzLoan::EnzLoan() = default;

EnzLoan::~EnzLoan() {
  managers.reset();
  map.clear();
  copy.reset();
  if (lender)
    lender->getContext().setDiagnosticHandler(std::move(silenced));
}

EnzLoan *enz_loan_take(LLVMValueRef raw, EnzTextSink error, void *context) {
  enz::SinkStream out(error, context);
  auto *function = dyn_cast_or_null<Function>(unwrap(raw));
  if (!function || !function->getParent() || function->isDeclaration()) {
    *out << (function && function->isDeclaration() ? "'" + function->getName().str() + "' has no body here"
                                                   : "what is to be differentiated is not a function of a module");
    return nullptr;
  }
  auto loan = std::make_unique<EnzLoan>();
  LLVMContext &context_of = function->getContext();
  loan->silenced = context_of.getDiagnosticHandler();
  context_of.setDiagnosticHandler(std::make_unique<SilentHandler>());
  loan->lender = function->getParent();
  copyModule(*loan, *function);
  loan->root = dyn_cast_or_null<Function>(loan->map.lookup(function));
  if (!loan->root || loan->root->isDeclaration()) {
    *out << "'" << function->getName() << "' cannot be copied";
    return nullptr;
  }
  // It is this one that is meant, whatever a linker would take.
  loan->root->setComdat(nullptr);
  loan->root->setLinkage(GlobalValue::InternalLinkage);
  loan->root->setVisibility(GlobalValue::DefaultVisibility);
  if (!loan->root->hasName())
    loan->root->setName("unnamed");
  loan->managers = std::make_unique<EnzLoan::Managers>(*loan->copy);
  return loan.release();
}

EnzHost enz_loan_host(EnzLoan *loan) { return &loan->managers->host; }

EnzStr enz_loan_root(EnzLoan *loan) { return enz::text(loan->root->getName()); }

uint8_t enz_loan_return(EnzLoan *loan, const EnzStr *names, size_t count, LLVMValueRef *out) {
  SmallVector<Function *, 4> functions;
  SetVector<GlobalValue *> needed;
  if (!novelties(*loan, ArrayRef(names, count), functions, needed))
    return 0;
  // Analyses hold on to functions.
  loan->managers.reset();
  for (GlobalValue &global : loan->lender->global_values())
    if (auto *copied = dyn_cast_or_null<GlobalValue>(loan->map.lookup(&global)))
      if (!needed.contains(copied))
        copied->replaceAllUsesWith(&global);
  loan->map.clear();
  for (GlobalValue *global : needed)
    move(*global, *loan->lender);
  for (size_t n = 0; n < functions.size(); ++n)
    out[n] = wrap(functions[n]);
  return 1;
}

uint8_t enz_loan_allocates(EnzLoan *loan, const EnzStr *names, size_t count) {
  SmallVector<Function *, 4> functions;
  SetVector<GlobalValue *> needed;
  return novelties(*loan, ArrayRef(names, count), functions, needed) &&
         any_of(needed, [](const GlobalValue *g) { return g->getName().starts_with("enzyme.rt.alloc"); });
}

void enz_loan_state(EnzLoan *loan, const EnzStatedBytes *stated, size_t count) {
  constexpr StringLiteral kStates[] = {"__enzyme_integer.", "__enzyme_pointer.", "__enzyme_float.", "__enzyme_double."};
  Function &root = *loan->root;
  if (!root.use_empty())
    return;
  IRBuilder<> b(&*root.getEntryBlock().getFirstInsertionPt());
  for (const EnzStatedBytes &bytes : ArrayRef(stated, count)) {
    if (bytes.param >= root.arg_size() || bytes.type >= std::size(kStates))
      continue;
    Value *at = root.getArg(bytes.param);
    auto *address = dyn_cast<PointerType>(at->getType());
    if (!address)
      continue;
    const bool all = bytes.offset < 0;
    // Of a name of its own for each type: the module may declare one of another.
    const std::string name = (kStates[bytes.type] + Twine(address->getAddressSpace()) + (all ? ".all" : "")).str();
    SmallVector<Type *, 2> types{address};
    if (!all)
      types.push_back(b.getInt64Ty());
    FunctionCallee states = loan->copy->getOrInsertFunction(name, FunctionType::get(b.getVoidTy(), types, false));
    if (bytes.offset > 0)
      at = b.CreatePtrAdd(at, b.getInt64(bytes.offset));
    SmallVector<Value *, 2> args{at};
    if (!all)
      args.push_back(b.getInt64(bytes.bytes));
    b.CreateCall(states, args);
  }
}

uint8_t enz_redirect(LLVMValueRef raw_from, LLVMValueRef raw_to) {
  auto *from = dyn_cast_or_null<Function>(unwrap(raw_from)), *to = dyn_cast_or_null<Function>(unwrap(raw_to));
  if (!from || !to || from == to || from->getParent() != to->getParent() || from->isVarArg() ||
      from->getFunctionType() != to->getFunctionType())
    return 0;
  from->deleteBody();
  from->setLinkage(GlobalValue::InternalLinkage);
  from->setAttributes(to->getAttributes());
  from->setCallingConv(to->getCallingConv());
  IRBuilder<> b(BasicBlock::Create(from->getContext(), "", from));
  SmallVector<Value *, 8> args;
  for (Argument &param : from->args())
    args.push_back(&param);
  CallInst *call = b.CreateCall(to, args);
  call->setCallingConv(to->getCallingConv());
  if (call->getType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
  return 1;
}

void enz_loan_drop(EnzLoan *loan) { delete loan; }

EnzWatched *enz_watch(LLVMValueRef value) { return new EnzWatched{WeakTrackingVH(unwrap(value))}; }

LLVMValueRef enz_watched(const EnzWatched *watched) { return wrap(static_cast<Value *>(watched->value)); }

void enz_unwatch(EnzWatched *watched) { delete watched; }
