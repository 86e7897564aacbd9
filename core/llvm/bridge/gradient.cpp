// What callbacks ask of a derivative of a call that they write: where the values of the call are in the function at
// hand, what their shadows are, and where their adjoints go.
//
// Only the parameters of the call, its result and constants are known: a callback sees no more of the program. What is
// asked of anything else has no answer, which is null, or 2.

#include "rule.h"

using namespace llvm;

namespace {

// The sum of two numbers, or of all numbers in two aggregates; null if there are none.
Value *sum(IRBuilder<> &b, Value *left, Value *right) {
  Type *type = left->getType();
  if (type != right->getType())
    return nullptr;
  if (type->isFPOrFPVectorTy())
    return b.CreateFAdd(left, right);
  if (!type->isStructTy() && !type->isArrayTy())
    return nullptr;
  const unsigned parts = type->isStructTy() ? type->getStructNumElements() : type->getArrayNumElements();
  Value *out = left;
  for (unsigned n = 0; n < parts; ++n) {
    Value *part = sum(b, b.CreateExtractValue(left, n), b.CreateExtractValue(right, n));
    if (!part)
      return nullptr;
    out = b.CreateInsertValue(out, part, n);
  }
  return out;
}

AllocaInst *slotOf(EnzRule *rule, LLVMValueRef original) {
  auto found = rule->adjoint.find(unwrap(original));
  return found == rule->adjoint.end() ? nullptr : found->second;
}

} // namespace

LLVMValueRef enz_rule_primal(EnzRule *rule, LLVMValueRef original) {
  Value *value = unwrap(original);
  if (!value || isa<Constant>(value))
    return original;
  auto found = rule->primal.find(value);
  if (found != rule->primal.end())
    return wrap(found->second);
  return value == rule->call ? wrap(static_cast<Value *>(rule->result)) : nullptr;
}

LLVMValueRef enz_rule_shadow(EnzRule *rule, LLVMValueRef original) {
  Value *value = unwrap(original);
  if (!value)
    return nullptr;
  if (auto found = rule->shadow.find(value); found != rule->shadow.end())
    return wrap(found->second);
  // Constants have none but zero; whether memory of the program has one is not known here.
  if (isa<Constant>(value) && !isa<GlobalValue>(value))
    return wrap(value->getType()->isPointerTy() ? value : Constant::getNullValue(value->getType()));
  const bool is_number = rule->primal.count(value) && !value->getType()->isPointerTy();
  return is_number ? wrap(Constant::getNullValue(value->getType())) : nullptr;
}

LLVMValueRef enz_rule_lookup(EnzRule *rule, LLVMValueRef value) {
  Value *wanted = unwrap(value);
  if (!wanted || isa<Constant>(wanted))
    return value;
  if (auto *inst = dyn_cast<Instruction>(wanted))
    return inst->getFunction() == rule->made ? value : nullptr;
  if (auto *param = dyn_cast<Argument>(wanted))
    return param->getParent() == rule->made ? value : nullptr;
  return nullptr;
}

LLVMValueRef enz_rule_adjoint(EnzRule *rule, LLVMValueRef original, LLVMBuilderRef builder) {
  if (AllocaInst *slot = slotOf(rule, original))
    return wrap(unwrap(builder)->CreateLoad(slot->getAllocatedType(), slot));
  Value *value = unwrap(original);
  return value && enz_rule_is_constant(rule, original) == 1 ? wrap(Constant::getNullValue(value->getType())) : nullptr;
}

uint8_t enz_rule_set_adjoint(EnzRule *rule, LLVMValueRef original, LLVMValueRef value, LLVMBuilderRef builder) {
  AllocaInst *slot = slotOf(rule, original);
  if (!slot || !value || unwrap(value)->getType() != slot->getAllocatedType())
    return 0;
  unwrap(builder)->CreateStore(unwrap(value), slot);
  return 1;
}

uint8_t enz_rule_add_adjoint(EnzRule *rule, LLVMValueRef original, LLVMValueRef value, LLVMBuilderRef builder) {
  AllocaInst *slot = slotOf(rule, original);
  if (!slot || !value || unwrap(value)->getType() != slot->getAllocatedType())
    return 0;
  IRBuilder<> &b = *unwrap(builder);
  Value *added = sum(b, b.CreateLoad(slot->getAllocatedType(), slot), unwrap(value));
  if (!added)
    return 0;
  b.CreateStore(added, slot);
  return 1;
}

uint8_t enz_rule_add_to_memory(EnzRule *rule, LLVMValueRef pointer, LLVMValueRef value, LLVMBuilderRef builder,
                               uint32_t align) {
  if (enz_rule_is_constant(rule, pointer) != 0 || !value)
    return 0;
  Value *shadow = unwrap(enz_rule_shadow(rule, pointer));
  if (!shadow || !shadow->getType()->isPointerTy() || (align & (align - 1)) != 0)
    return 0;
  IRBuilder<> &b = *unwrap(builder);
  Type *type = unwrap(value)->getType();
  if (!type->isFPOrFPVectorTy())
    return 0;
  const Align at = align ? Align(align) : Align(1);
  b.CreateAlignedStore(b.CreateFAdd(b.CreateAlignedLoad(type, shadow, at), unwrap(value)), shadow, at);
  return 1;
}

uint8_t enz_rule_is_constant(EnzRule *rule, LLVMValueRef original) {
  Value *value = unwrap(original);
  if (!value)
    return 2;
  if (isa<Constant>(value))
    return 1;
  const bool part = rule->primal.count(value) || value == rule->call;
  if (!part)
    return 2;
  Type *type = value->getType();
  if (type->isPointerTy())
    return rule->shadow.count(value) ? 0 : 1;
  return type->isVoidTy() || type->isIntOrIntVectorTy() ? 1 : 0;
}

uint32_t enz_rule_mode(EnzRule *rule) { return rule->mode; }

uint32_t enz_rule_concrete(LLVMValueRef value) {
  enum : uint32_t {
    INTEGER = 1,
    POINTER = 2,
    HALF = 3,
    FLOAT = 4,
    DOUBLE = 5,
    UNKNOWN = 6,
    FP80 = 7,
    BFLOAT = 8,
    FP128
  };
  if (!value)
    return UNKNOWN;
  switch (unwrap(value)->getType()->getScalarType()->getTypeID()) {
  case Type::HalfTyID:
    return HALF;
  case Type::BFloatTyID:
    return BFLOAT;
  case Type::FloatTyID:
    return FLOAT;
  case Type::DoubleTyID:
    return DOUBLE;
  case Type::X86_FP80TyID:
    return FP80;
  case Type::FP128TyID:
    return FP128;
  case Type::IntegerTyID:
    return INTEGER;
  case Type::PointerTyID:
    return POINTER;
  default:
    return UNKNOWN;
  }
}

uint8_t enz_rule_replace(EnzRule *rule, LLVMValueRef value, LLVMValueRef by) {
  auto *old = dyn_cast_or_null<Instruction>(unwrap(value));
  if (!old || !by || old->getFunction() != rule->made || old->getType() != unwrap(by)->getType() || value == by)
    return 0;
  old->replaceAllUsesWith(unwrap(by));
  if (old == static_cast<Value *>(rule->result))
    rule->result = unwrap(by);
  for (auto *map : {&rule->primal, &rule->shadow})
    for (auto &entry : *map)
      if (entry.second == old)
        entry.second = unwrap(by);
  return 1;
}

uint8_t enz_rule_erase(EnzRule *rule, LLVMValueRef value) {
  auto *old = dyn_cast_or_null<Instruction>(unwrap(value));
  if (!old || old->getFunction() != rule->made || !old->use_empty() || old->isTerminator())
    return 0;
  old->eraseFromParent();
  return 1;
}

void enz_rule_map(EnzRule *rule, LLVMValueRef original, LLVMValueRef value) {
  if (unwrap(original) == rule->call)
    rule->result = unwrap(value);
  else
    rule->primal[unwrap(original)] = unwrap(value);
}

LLVMBasicBlockRef enz_rule_entry(EnzRule *rule) { return wrap(&rule->made->getEntryBlock()); }

LLVMBasicBlockRef enz_rule_new_block(EnzRule *rule, LLVMBasicBlockRef behind, const char *name) {
  BasicBlock *before = behind ? unwrap(behind)->getNextNode() : nullptr;
  if (behind && unwrap(behind)->getParent() != rule->made)
    return nullptr;
  return wrap(BasicBlock::Create(rule->made->getContext(), name ? name : "", rule->made, before));
}

void enz_rule_set_last(EnzRule *rule, LLVMBasicBlockRef block) { rule->last = unwrap(block); }

LLVMValueRef enz_rule_call(EnzRule *rule, LLVMValueRef function, LLVMTypeRef type, LLVMValueRef *args, size_t count,
                           LLVMValueRef original, LLVMBuilderRef builder) {
  auto *signature = dyn_cast_or_null<FunctionType>(unwrap(type));
  auto *call = dyn_cast_or_null<CallBase>(unwrap(original));
  if (!function || !signature || !call || call->hasOperandBundles() || call != rule->call ||
      (signature->isVarArg() ? count < signature->getNumParams() : count != signature->getNumParams()))
    return nullptr;
  SmallVector<Value *, 8> values;
  for (size_t n = 0; n < count; ++n) {
    if (!args[n] || (n < signature->getNumParams() && unwrap(args[n])->getType() != signature->getParamType(n)))
      return nullptr;
    values.push_back(unwrap(args[n]));
  }
  return wrap(unwrap(builder)->CreateCall(signature, unwrap(function), values));
}

void enz_rule_describe(EnzRule *rule, EnzTextSink sink, void *context) {
  enz::SinkStream out(sink, context);
  for (const auto &[value, shadow] : rule->shadow)
    *out << "shadow of " << *value << ": " << *shadow << "\n";
}
