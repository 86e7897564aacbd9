// What a module states of its functions and globals: registration globals, which are found by a part of their name and
// hold addresses, attributes, and metadata of functions (`!enzyme_augment !0 !enzyme_gradient !1`, `!0 = !{ptr @f}`),
// by which compilers state the same.
//
// Statements are turned into attributes before anything is inlined (`mark`), so that calls of the functions they speak
// of stay calls; rules are listed, entry by entry, for the engine to judge. Calls by which Fortran states rules become
// globals first (fortran_rules.cpp). Not handled: globals that are filled at run time, which are listed as they are,
// without entries.

#include "products.h"
#include "support.h"

using namespace llvm;

namespace {

struct Row {
  StringLiteral part;
  EnzRegistrationKind kind;
};

// The longer name stands before the shorter one that it contains.
constexpr Row kRows[] = {
    {"__enzyme_register_gradient", ENZ_REG_GRADIENT},      {"__enzyme_register_derivative", ENZ_REG_DERIVATIVE},
    {"__enzyme_register_splitderivative", ENZ_REG_SPLIT},  {"__enzyme_inactivefn", ENZ_REG_INACTIVE_FUNCTION},
    {"__enzyme_inactive_global", ENZ_REG_INACTIVE_GLOBAL}, {"__enzyme_function_like", ENZ_REG_LIKE},
    {"__enzyme_allocation_like", ENZ_REG_ALLOCATION},
};

const Row *rowOf(const GlobalVariable &global) {
  for (const Row &row : kRows)
    if (global.getName().contains(row.part))
      return &row;
  return nullptr;
}

SmallVector<Constant *, 4> entries(const GlobalVariable &global) {
  SmallVector<Constant *, 4> out;
  if (!global.hasInitializer())
    return out;
  Constant *init = const_cast<Constant *>(global.getInitializer());
  if (auto *aggregate = dyn_cast<ConstantAggregate>(init))
    for (Use &use : aggregate->operands())
      out.push_back(cast<Constant>(use.get()));
  else if (init->getType()->isPointerTy())
    out.push_back(init);
  return out;
}

StringRef textOf(Constant *constant) {
  auto *global = dyn_cast<GlobalVariable>(enz::resolve(constant));
  if (!global || !global->hasInitializer())
    return {};
  auto *bytes = dyn_cast<ConstantDataArray>(global->getInitializer());
  return bytes && bytes->isCString() ? bytes->getAsCString() : StringRef();
}

// The function that metadata of `of` names.
Function *named(const Function &of, StringRef kind) {
  const MDNode *node = of.getMetadata(kind);
  const auto *value =
      node && node->getNumOperands() > 0 ? dyn_cast_or_null<ValueAsMetadata>(node->getOperand(0)) : nullptr;
  return value ? dyn_cast<Function>(enz::resolve(value->getValue())) : nullptr;
}

struct Stated {
  EnzRegistrationKind kind;
  std::array<StringLiteral, 2> rules;
  unsigned count;
};

constexpr Stated kStated[] = {
    {ENZ_REG_GRADIENT, {StringLiteral("enzyme_augment"), StringLiteral("enzyme_gradient")}, 2},
    {ENZ_REG_DERIVATIVE, {StringLiteral("enzyme_derivative"), StringLiteral("")}, 1},
    {ENZ_REG_SPLIT, {StringLiteral("enzyme_augment"), StringLiteral("enzyme_splitderivative")}, 2},
};

bool states(const Function &function, const Stated &what) { return function.getMetadata(what.rules[what.count - 1]); }

void keepCall(Function &function) {
  function.removeFnAttr(Attribute::AlwaysInline);
  function.addFnAttr(Attribute::NoInline);
}

// `annotate("word")` on a function or global leaves an entry in llvm.global.annotations; so do our attributes, which
// are read by plugin/clang.
void markAnnotated(Module &module) {
  const GlobalVariable *table = module.getGlobalVariable("llvm.global.annotations");
  const auto *rows = table && table->hasInitializer() ? dyn_cast<ConstantArray>(table->getInitializer()) : nullptr;
  if (!rows)
    return;
  for (const Use &use : rows->operands()) {
    const auto *row = dyn_cast<ConstantStruct>(use.get());
    if (!row || row->getNumOperands() < 2)
      continue;
    StringRef word = textOf(row->getOperand(1));
    Value *target = enz::resolve(row->getOperand(0));
    auto *function = dyn_cast<Function>(target);
    if (function && word == "enzyme_inactive") {
      function->addFnAttr("enzyme_inactive");
      keepCall(*function);
    } else if (function && word.consume_front("enzyme_function_like=")) {
      function->addFnAttr("enzyme_math", word);
      keepCall(*function);
    } else if (auto *global = dyn_cast<GlobalVariable>(target); global && word == "enzyme_inactive") {
      global->addAttribute("enzyme_inactive");
    }
  }
}

// The position of the allocation among the arguments of what releases it: that of "-1" in a list such as "0,-1".
std::optional<unsigned> placeOfAllocation(StringRef list) {
  SmallVector<StringRef, 4> words;
  list.split(words, ',');
  for (unsigned n = 0; n < words.size(); ++n)
    if (words[n].trim() == "-1")
      return n;
  return std::nullopt;
}

// An allocator, the number of its argument with the size, what its release takes, its release. Or an allocator, what
// makes the shadow of its memory, nothing, and what frees that.
void markAllocator(ArrayRef<Constant *> parts) {
  auto *allocator = parts.size() == 4 ? dyn_cast<Function>(enz::resolve(parts[0])) : nullptr;
  if (allocator && isa<Function>(enz::resolve(parts[1]))) {
    keepCall(*allocator);
    allocator->addFnAttr("enzyme_math", "enzyme.alloc.shadowed");
    return;
  }
  auto *release = parts.size() == 4 ? dyn_cast<Function>(enz::resolve(parts[3])) : nullptr;
  if (!allocator || !release)
    return;
  keepCall(*allocator);
  keepCall(*release);
  Constant *number = parts[1];
  if (auto *cast = dyn_cast<ConstantExpr>(number); cast && cast->getOpcode() == Instruction::IntToPtr)
    number = cast->getOperand(0);
  std::optional<uint64_t> size;
  if (number->isNullValue())
    size = 0;
  else if (auto *value = dyn_cast<ConstantInt>(number); value && value->getValue().getActiveBits() < 8)
    size = value->getZExtValue();
  const std::optional<unsigned> place = placeOfAllocation(textOf(parts[2]));
  if (!size || !place)
    return;
  allocator->addFnAttr("enzyme_math", ("enzyme.alloc." + Twine(*size)).str());
  release->addFnAttr("enzyme_math", ("enzyme.free." + Twine(*place)).str());
}

} // namespace

void enz_registry_mark(EnzHost host) {
  Module &module = *host->module;
  enz::raiseHandlers(module);
  enz::markKernels(*host);
  enz::stateFortranRules(module);
  markAnnotated(module);
  for (Function &function : module)
    if (any_of(kStated, [&](const Stated &what) { return states(function, what); }))
      keepCall(function);
  for (GlobalVariable &global : module.globals()) {
    const Row *row = rowOf(global);
    if (!row)
      continue;
    const SmallVector<Constant *, 4> parts = entries(global);
    switch (row->kind) {
    case ENZ_REG_INACTIVE_FUNCTION:
      for (Constant *part : parts)
        if (auto *function = dyn_cast<Function>(enz::resolve(part))) {
          function->addFnAttr("enzyme_inactive");
          keepCall(*function);
        }
      break;
    case ENZ_REG_INACTIVE_GLOBAL:
      for (Constant *part : parts)
        if (auto *named = dyn_cast<GlobalVariable>(enz::resolve(part)))
          named->addAttribute("enzyme_inactive");
      break;
    case ENZ_REG_LIKE:
      if (parts.size() == 2)
        if (auto *function = dyn_cast<Function>(enz::resolve(parts[0]))) {
          function->addFnAttr("enzyme_math", textOf(parts[1]));
          keepCall(*function);
        }
      break;
    case ENZ_REG_ALLOCATION:
      markAllocator(parts);
      break;
    case ENZ_REG_PRODUCT:
      break;
    case ENZ_REG_GRADIENT:
    case ENZ_REG_DERIVATIVE:
    case ENZ_REG_SPLIT:
      if (!parts.empty())
        if (auto *function = dyn_cast<Function>(enz::resolve(parts[0])))
          keepCall(*function);
      break;
    }
  }
}

size_t enz_registrations(EnzHost host, EnzRegistration *out, size_t capacity) {
  size_t n = 0;
  for (GlobalVariable &global : host->module->globals()) {
    const Row *row = rowOf(global);
    if (!row)
      continue;
    if (n < capacity) {
      out[n] = EnzRegistration{};
      out[n].kind = row->kind;
      out[n].name = enz::text(global.getName());
      if (const Function *place = enz::statedIn(global)) {
        out[n].stated_in = enz::in(const_cast<Value *>(static_cast<const Value *>(place)));
        out[n].name = enz::text(global.getName().split('.').second.split('.').first);
        out[n].text = enz::text(enz::refusedRule(global));
      }
      const SmallVector<Constant *, 4> parts = entries(global);
      out[n].count = static_cast<uint32_t>(parts.size());
      for (size_t i = 0; i < parts.size() && i < std::size(out[n].functions); ++i)
        out[n].functions[i] = enz::in(static_cast<Value *>(dyn_cast<Function>(enz::resolve(parts[i]))));
      if (row->kind == ENZ_REG_LIKE && parts.size() == 2)
        out[n].text = enz::text(textOf(parts[1]));
    }
    ++n;
  }
  for (Function &function : *host->module)
    for (const Stated &what : kStated) {
      if (!states(function, what))
        continue;
      if (n < capacity) {
        out[n] = EnzRegistration{};
        out[n].kind = what.kind;
        out[n].name = enz::text(function.getName());
        out[n].count = what.count + 1;
        out[n].functions[0] = enz::in(static_cast<Value *>(&function));
        for (unsigned i = 0; i < what.count; ++i)
          out[n].functions[i + 1] = enz::in(static_cast<Value *>(named(function, what.rules[i])));
      }
      ++n;
    }
  for (const std::array<Function *, 4> &rules : enz::productRules(*host->module)) {
    if (n < capacity) {
      out[n] = EnzRegistration{};
      out[n].kind = ENZ_REG_PRODUCT;
      out[n].name = enz::text(rules.front()->getName());
      out[n].count = 4;
      for (size_t i = 0; i < rules.size(); ++i)
        out[n].functions[i] = enz::in(static_cast<Value *>(rules[i]));
    }
    ++n;
  }
  return n;
}
