// Rules that a Fortran program states by calls: `call enzyme_register_gradient(f, augmented, reverse)`,
// `enzyme_register_derivative(f, tangent)` and `enzyme_register_inactive(f)`. They state as they stand, wherever that
// is and whether or not they would run: each becomes a registration global (registry.cpp), and goes.
//
// A rule is written as Fortran would have it, with arguments by reference or by value, where the engine passes what the
// function takes, each address followed by its shadow. Between them stands a function of ours:
//
//   | the rule takes            | it gets                                                                         |
//   | ------------------------- | ------------------------------------------------------------------------------- |
//   | an address                | the argument's address; that of its shadow comes next                           |
//   | an integer by value       | what the argument held when the function was called; it has no shadow           |
//   | a real by value           | the same; its shadow comes next: an address, or (forward) its tangent by value  |
//   | an array by its shape     | its description as it was, then the same with the address of the shadow; absent |
//   |                           | if there is none                                                                |
//   | the adjoint of the result | by value or by address                                                          |
//
// What a reverse rule takes by value or by its shape is read before the augmented rule runs and travels on the tape,
// behind which comes that of the rule if it has one. Rules that do not fit these are left to the engine's own
// conventions. Not handled, and refused: arrays whose description a procedure changes or hands on (allocatables,
// pointers).

#include "support.h"

#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <set>
#include <vector>

using namespace llvm;

namespace {

constexpr StringLiteral kStatedIn = "enzyme_stated_in";

struct Row {
  StringLiteral call;
  StringLiteral global;
};

constexpr Row kRows[] = {
    {"enzyme_register_gradient", "__enzyme_register_gradient.enzyme_register_gradient"},
    {"enzyme_register_derivative", "__enzyme_register_derivative.enzyme_register_derivative"},
    {"enzyme_register_inactive", "__enzyme_inactivefn.enzyme_register_inactive"},
};

// A procedure of Fortran that the program does not define has a symbol with an underscore behind it.
const Row *rowOf(const Function &function) {
  if (!function.isDeclaration() || !function.getName().ends_with("_"))
    return nullptr;
  for (const Row &row : kRows)
    if (function.getName().starts_with(row.call))
      return &row;
  return nullptr;
}

enum class Part { Augmented, Reverse, Forward };

// How an argument of a rule comes from what the engine passes.
struct Step {
  enum How { Same, Loaded, LoadedOrZero, Referenced, Described, DescribedShadow } how;
  unsigned from; // among what the engine passes
  Type *type;    // of what is loaded

  // What the reverse rule wants as it was when the function was called.
  bool isKept() const { return how == Loaded || how == Described || how == DescribedShadow; }
};

struct Plan {
  SmallVector<Type *, 8> given; // what the engine passes, without the tape
  SmallVector<Step, 8> steps;
  Type *tape = nullptr; // as the rule takes it, if it does

  bool isPlain() const {
    return all_of(steps, [](const Step &step) { return step.how == Step::Same; });
  }
  SmallVector<Type *, 4> kept() const {
    SmallVector<Type *, 4> out;
    for (const Step &step : steps)
      if (step.isKept())
        out.push_back(step.type);
    return out;
  }
};

constexpr StringLiteral kShape = "has an array that a procedure may allocate or associate; what becomes of its shadow "
                                 "then cannot be stated (pass it with its bounds, x(n), or by its shape, x(:))";

// The type of the description by which an array is passed, or null; false if that may change.
bool describes(const Function &function, unsigned index, Type *&type) {
  bool kept = true;
  if (index < function.arg_size())
    if (Type *found = enz::descriptorOf(*function.getArg(index), kept))
      type = found;
  return kept || !type;
}

// Reads the parameters of a rule from the left.
struct Reader {
  const Function &rule;
  FunctionType *type;
  unsigned next = 0;
  StringRef refused = {};

  Type *peek() const { return next < type->getNumParams() ? type->getParamType(next) : nullptr; }
  bool take(Type *wanted) {
    if (!wanted || peek() != wanted)
      return false;
    ++next;
    return true;
  }
};

bool takeParameter(const Argument &arg, Part part, Reader &rule, Plan &plan) {
  Type *param = arg.getType();
  const unsigned at = plan.given.size();
  plan.given.push_back(param);
  if (!param->isPointerTy()) {
    plan.steps.push_back({Step::Same, at, nullptr});
    if (!rule.take(param))
      return false;
    if (part != Part::Forward || param->isIntegerTy())
      return true;
    plan.given.push_back(param);
    plan.steps.push_back({Step::Same, at + 1, nullptr});
    return rule.take(param);
  }
  plan.given.push_back(param);
  Type *taken = rule.peek();
  if (taken && taken->isIntegerTy()) {
    plan.steps.push_back({Step::Loaded, at, taken});
    return rule.take(taken);
  }
  if (taken && taken->isFloatingPointTy()) {
    plan.steps.push_back({Step::Loaded, at, taken});
    rule.take(taken);
    const bool by_value = part == Part::Forward && rule.peek() == taken;
    plan.steps.push_back({by_value ? Step::LoadedOrZero : Step::Same, at + 1, taken});
    return rule.take(by_value ? taken : param);
  }
  Type *shape = nullptr;
  const bool kept = describes(*arg.getParent(), arg.getArgNo(), shape) && describes(rule.rule, rule.next, shape) &&
                    describes(rule.rule, rule.next + 1, shape);
  if (!kept)
    rule.refused = kShape;
  plan.steps.push_back({shape ? Step::Described : Step::Same, at, shape});
  plan.steps.push_back({shape ? Step::DescribedShadow : Step::Same, at + 1, shape ? param : nullptr});
  return kept && rule.take(param) && rule.take(param);
}

bool containsFloat(const Type *type) {
  if (type->isFPOrFPVectorTy())
    return true;
  return any_of(type->subtypes(), [](const Type *part) { return containsFloat(part); });
}

// How `rule` is called; nothing if it does not fit, and `refused` says why where that is for us to say. `tape` is what
// its augmented rule leaves for it, or null.
std::optional<Plan> planOf(const Function &primal, const Function &rule, Part part, Type *tape, StringRef &refused) {
  for (const Function *function : {&primal, &rule})
    if (function->isVarArg() || any_of(function->args(), [](const Argument &arg) {
          return arg.hasByValAttr() || arg.hasStructRetAttr() || arg.hasNestAttr();
        }))
      return std::nullopt;
  Plan plan;
  Reader reader{rule, rule.getFunctionType()};
  for (const Argument &arg : primal.args())
    if (!takeParameter(arg, part, reader, plan)) {
      refused = reader.refused.empty() ? refused : reader.refused;
      return std::nullopt;
    }
  Type *result = primal.getReturnType();
  if (part == Part::Reverse && containsFloat(result)) {
    const bool by_address = reader.peek() && reader.peek()->isPointerTy();
    plan.steps.push_back({by_address ? Step::Referenced : Step::Same, unsigned(plan.given.size()), result});
    plan.given.push_back(result);
    ++reader.next;
  }
  // An address in a structure that is returned in registers travels as a number.
  Type *address = PointerType::getUnqual(rule.getContext());
  if (part == Part::Reverse && reader.take(tape))
    plan.tape = tape;
  else if (part == Part::Reverse && tape && tape->isIntegerTy(64) && reader.take(address))
    plan.tape = address;
  if (reader.next != rule.arg_size())
    return std::nullopt;
  for (unsigned n = 0; n < plan.steps.size(); ++n)
    if (plan.steps[n].how == Step::Same && plan.given[plan.steps[n].from] != rule.getFunctionType()->getParamType(n))
      return std::nullopt;
  return plan;
}

// What an augmented rule leaves for the reverse rule, behind which its result comes if it has one.
Type *tapeOf(const Function &primal, const Function &augmented) {
  Type *given = augmented.getReturnType(), *result = primal.getReturnType();
  if (given == result || given->isVoidTy())
    return nullptr;
  if (result->isVoidTy())
    return given;
  auto *both = dyn_cast<StructType>(given);
  return both && both->getNumElements() == 2 && both->getElementType(1) == result ? both->getElementType(0) : nullptr;
}

Function *start(const Function &rule, Type *result, ArrayRef<Type *> params) {
  auto *made = Function::Create(FunctionType::get(result, params, false), GlobalValue::InternalLinkage,
                                "enzyme.rule." + rule.getName(), const_cast<Module *>(rule.getParent()));
  for (const Attribute &attribute : rule.getAttributes().getFnAttrs())
    if (!attribute.hasAttribute(Attribute::Memory))
      made->addFnAttr(attribute);
  BasicBlock::Create(made->getContext(), "", made);
  return made;
}

// The tangent at an address, or zero where there is none.
Value *loadedOrZero(IRBuilder<> &b, Value *address, Type *type) {
  AllocaInst *zero = b.CreateAlloca(type);
  b.CreateStore(Constant::getNullValue(type), zero);
  Value *from = b.CreateSelect(b.CreateIsNull(address), zero, address);
  return b.CreateAlignedLoad(type, from, Align(1));
}

// What is to be kept for the reverse rule, where it stands when the function is called.
Value *read(IRBuilder<> &b, const Step &step, Function &made) {
  Value *given = made.getArg(step.from);
  if (step.how != Step::DescribedShadow)
    return b.CreateAlignedLoad(step.type, given, Align(1));
  // The description of a shadow says of constant memory that it is its own shadow, or nothing.
  Value *shadow = loadedOrZero(b, given, step.type);
  Value *primal = loadedOrZero(b, made.getArg(step.from - 1), step.type);
  return b.CreateSelect(b.CreateICmpEQ(shadow, primal), Constant::getNullValue(step.type), shadow);
}

Value *inMemory(IRBuilder<> &b, Value *value) {
  AllocaInst *slot = b.CreateAlloca(value->getType());
  b.CreateStore(value, slot);
  return slot;
}

// The arguments of a rule; what is to be kept is taken from `kept` where that is given.
SmallVector<Value *, 8> arguments(IRBuilder<> &b, const Plan &plan, Function &made, Value *kept) {
  SmallVector<Value *, 8> out;
  unsigned field = 0;
  Value *shape = nullptr;
  for (const Step &step : plan.steps) {
    Value *given = made.getArg(step.from);
    if (step.isKept())
      given = kept ? b.CreateExtractValue(kept, field++) : read(b, step, made);
    switch (step.how) {
    case Step::Same:
    case Step::Loaded:
      out.push_back(given);
      break;
    case Step::LoadedOrZero:
      out.push_back(loadedOrZero(b, given, step.type));
      break;
    case Step::Referenced:
      out.push_back(inMemory(b, given));
      break;
    case Step::Described:
      shape = given;
      out.push_back(inMemory(b, given));
      break;
    case Step::DescribedShadow: {
      Value *moved = inMemory(b, b.CreateInsertValue(shape, given, 0));
      out.push_back(b.CreateSelect(b.CreateIsNull(given), Constant::getNullValue(moved->getType()), moved));
      break;
    }
    }
  }
  return out;
}

Value *called(IRBuilder<> &b, Function &rule, ArrayRef<Value *> args) {
  CallInst *call = b.CreateCall(&rule, args);
  call->setCallingConv(rule.getCallingConv());
  return call;
}

void finish(IRBuilder<> &b, Value *result) {
  if (result->getType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(result);
}

Function *forward(const Plan &plan, Function &rule) {
  if (plan.isPlain())
    return &rule;
  Function *made = start(rule, rule.getReturnType(), plan.given);
  IRBuilder<> b(&made->getEntryBlock());
  finish(b, called(b, rule, arguments(b, plan, *made, nullptr)));
  return made;
}

// Calls the augmented rule and adds to its tape what the reverse rule, which is called as `reverse` says, takes by
// value.
Function *augmented(const Plan &plan, const Plan &reverse, Function &rule, StructType *kept, Type *own) {
  Type *result = rule.getReturnType();
  if (kept && own)
    result = result == own ? nullptr : cast<StructType>(result)->getElementType(1);
  const bool has_result = result && !result->isVoidTy();
  Type *whole = result;
  if (kept)
    whole = has_result ? StructType::get(kept, result) : kept;
  Function *made = start(rule, whole, plan.given);
  IRBuilder<> b(&made->getEntryBlock());
  Value *tape = kept ? PoisonValue::get(kept) : nullptr;
  unsigned field = 0;
  for (const Step &step : reverse.steps)
    if (kept && step.isKept())
      tape = b.CreateInsertValue(tape, read(b, step, *made), field++);
  Value *out = called(b, rule, arguments(b, plan, *made, nullptr));
  if (kept) {
    if (own) {
      Value *given = has_result ? b.CreateExtractValue(out, 0) : out;
      if (Type *held = kept->getElementType(field); held != own)
        given = b.CreateIntToPtr(given, held);
      tape = b.CreateInsertValue(tape, given, field);
      out = has_result ? b.CreateExtractValue(out, 1) : out;
    }
    if (has_result)
      out = b.CreateInsertValue(b.CreateInsertValue(PoisonValue::get(whole), tape, 0), out, 1);
    else
      out = tape;
  }
  finish(b, out);
  return made;
}

Function *reverse(const Plan &plan, Function &rule, StructType *kept) {
  SmallVector<Type *, 8> params(plan.given);
  if (kept)
    params.push_back(kept);
  Function *made = start(rule, rule.getReturnType(), params);
  IRBuilder<> b(&made->getEntryBlock());
  Value *tape = kept ? made->getArg(made->arg_size() - 1) : nullptr;
  SmallVector<Value *, 8> args = arguments(b, plan, *made, tape);
  if (plan.tape)
    args.push_back(b.CreateExtractValue(tape, kept->getNumElements() - 1));
  finish(b, called(b, rule, args));
  return made;
}

// Puts what the engine can call in the place of rules of Fortran.
StringRef adaptGradient(const Function &primal, Constant *&first, Constant *&second) {
  StringRef refused = {};
  auto *aug = cast<Function>(first), *rev = cast<Function>(second);
  Type *own = tapeOf(primal, *aug);
  const std::optional<Plan> of_aug = planOf(primal, *aug, Part::Augmented, nullptr, refused);
  const std::optional<Plan> of_rev = planOf(primal, *rev, Part::Reverse, own, refused);
  if (of_rev && of_aug && (!of_rev->isPlain() || (of_rev->tape && of_rev->tape != own))) {
    SmallVector<Type *, 4> fields = of_rev->kept();
    if (own)
      fields.push_back(of_rev->tape ? of_rev->tape : own);
    StructType *kept = fields.empty() ? nullptr : StructType::get(primal.getContext(), fields);
    first = augmented(*of_aug, *of_rev, *aug, kept, own);
    second = reverse(*of_rev, *rev, kept);
  } else if (of_aug && !of_aug->isPlain()) {
    first = augmented(*of_aug, Plan{}, *aug, nullptr, nullptr);
  }
  return refused;
}

void state(CallBase &call, const Row &row) {
  Module &module = *call.getModule();
  Type *address = PointerType::getUnqual(module.getContext());
  SmallVector<Constant *, 3> parts;
  for (Value *arg : call.args()) {
    auto *function = dyn_cast<Function>(enz::resolve(arg));
    parts.push_back(function ? static_cast<Constant *>(function) : Constant::getNullValue(address));
  }
  const bool complete = all_of(parts, [](Constant *part) { return isa<Function>(part); });
  StringRef refused = {};
  const auto *primal = complete && !parts.empty() ? cast<Function>(parts[0]) : nullptr;
  if (primal && row.global.starts_with("__enzyme_register_gradient") && parts.size() == 3) {
    refused = adaptGradient(*primal, parts[1], parts[2]);
  } else if (primal && row.global.starts_with("__enzyme_register_derivative") && parts.size() == 2) {
    auto *rule = cast<Function>(parts[1]);
    if (const std::optional<Plan> plan = planOf(*primal, *rule, Part::Forward, nullptr, refused))
      parts[1] = forward(*plan, *rule);
  }
  auto *type = ArrayType::get(address, parts.size());
  auto *global =
      new GlobalVariable(module, type, true, GlobalValue::InternalLinkage, ConstantArray::get(type, parts), row.global);
  LLVMContext &context = module.getContext();
  Metadata *notes[] = {ValueAsMetadata::get(call.getFunction()), MDString::get(context, refused)};
  global->setMetadata(kStatedIn, MDNode::get(context, notes));
  appendToCompilerUsed(module, {global});
  enz::drop(call);
}

} // namespace

void enz::stateFortranRules(Module &module) {
  // The same may be stated at several places.
  std::set<std::vector<const Value *>> seen;
  for (Function &function : make_early_inc_range(module)) {
    const Row *row = rowOf(function);
    if (!row)
      continue;
    for (User *user : make_early_inc_range(function.users()))
      if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledOperand() == &function) {
        std::vector<const Value *> what{&function};
        for (Value *arg : call->args())
          what.push_back(enz::resolve(arg));
        if (seen.insert(std::move(what)).second)
          state(*call, *row);
        else
          enz::drop(*call);
      }
    if (function.use_empty())
      function.eraseFromParent();
  }
}

const Function *enz::statedIn(const GlobalVariable &global) {
  const MDNode *node = global.getMetadata(kStatedIn);
  const auto *value = node && node->getNumOperands() ? dyn_cast_or_null<ValueAsMetadata>(node->getOperand(0)) : nullptr;
  return value ? dyn_cast<Function>(value->getValue()) : nullptr;
}

StringRef enz::refusedRule(const GlobalVariable &global) {
  const MDNode *node = global.getMetadata(kStatedIn);
  const auto *why = node && node->getNumOperands() > 1 ? dyn_cast<MDString>(node->getOperand(1)) : nullptr;
  return why ? why->getString() : StringRef();
}

void enz::dropFortranRules(Module &module) {
  const auto ours = [](const GlobalVariable &global) { return global.getMetadata(kStatedIn); };
  removeFromUsedLists(module, [&](Constant *used) {
    const auto *global = dyn_cast<GlobalVariable>(enz::resolve(used));
    return global && ours(*global);
  });
  for (GlobalVariable &global : make_early_inc_range(module.globals()))
    if (ours(global) && global.use_empty())
      global.eraseFromParent();
}
