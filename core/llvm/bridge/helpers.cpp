// Help with LLVM's objects for compilers: what LLVM-C does not have. Each function looks at what it is given before it
// changes anything; 0 and null say that it is of another kind than it has to be.

#include "compiler.h"
#include "support.h"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

template <typename T> T *as(LLVMValueRef value) { return dyn_cast_or_null<T>(unwrap(value)); }

// The attribute that says which parameters a clone has lost, counted as the source counts them.
constexpr StringLiteral kRemoved = "enzyme_parmremove";

MaybeAlign alignOf(Value *value) {
  if (auto *load = dyn_cast_or_null<LoadInst>(value))
    return load->getAlign();
  if (auto *store = dyn_cast_or_null<StoreInst>(value))
    return store->getAlign();
  if (auto *slot = dyn_cast_or_null<AllocaInst>(value))
    return slot->getAlign();
  return std::nullopt;
}

// Whether the numbers are below `limit` and grow.
bool ascending(ArrayRef<uint64_t> numbers, uint64_t limit) {
  for (size_t n = 0; n < numbers.size(); ++n)
    if (numbers[n] >= limit || (n > 0 && numbers[n] <= numbers[n - 1]))
      return false;
  return true;
}

// Attributes of a function or call that keeps only some of its parameters.
AttributeList without(LLVMContext &context, AttributeList all, size_t params, ArrayRef<uint64_t> removed, bool result) {
  SmallVector<AttributeSet, 8> kept;
  for (unsigned n = 0; n < params; ++n)
    if (!is_contained(removed, n)) {
      AttributeSet set = all.getParamAttrs(n);
      kept.push_back(result ? set : set.removeAttribute(context, Attribute::Returned));
    }
  return AttributeList::get(context, all.getFnAttrs(), result ? all.getRetAttrs() : AttributeSet(), kept);
}

// The parameters that are lost altogether, of those that were lost before and `more` of those that were left.
std::string removedText(const Function &function, ArrayRef<uint64_t> more) {
  SmallVector<uint64_t, 8> lost;
  SmallVector<StringRef, 8> words;
  function.getFnAttribute(kRemoved).getValueAsString().split(words, ',', -1, false);
  for (StringRef word : words)
    if (uint64_t n = 0; !word.getAsInteger(10, n))
      lost.push_back(n);
  SmallVector<uint64_t, 8> all(lost);
  for (uint64_t n : more) {
    uint64_t at = n;
    for (uint64_t before : lost)
      at += before <= at ? 1 : 0;
    all.push_back(at);
  }
  sort(all);
  std::string out;
  for (uint64_t n : all)
    out += (out.empty() ? "" : ",") + std::to_string(n);
  return out;
}

bool isPath(Type *type, ArrayRef<unsigned> path) {
  return !path.empty() && ExtractValueInst::getIndexedType(type, path) != nullptr;
}

} // namespace

LLVMTypeRef enz_help_alloca_type(LLVMValueRef value) {
  auto *slot = as<AllocaInst>(value);
  return slot ? wrap(slot->getAllocatedType()) : nullptr;
}

LLVMMetadataRef enz_help_scope_domain(const char *name, LLVMContextRef context) {
  return context ? wrap(MDBuilder(*unwrap(context)).createAnonymousAliasScopeDomain(name ? name : "")) : nullptr;
}

LLVMMetadataRef enz_help_scope(LLVMMetadataRef domain, const char *name) {
  auto *node = dyn_cast_or_null<MDNode>(unwrap(domain));
  return node ? wrap(MDBuilder(node->getContext()).createAnonymousAliasScope(node, name ? name : "")) : nullptr;
}

LLVMValueRef enz_help_extract(LLVMBuilderRef builder, LLVMValueRef whole, const unsigned *path, size_t size,
                              const char *name) {
  const ArrayRef<unsigned> indices(path, path ? size : 0);
  if (!builder || !whole || !isPath(unwrap(whole)->getType(), indices))
    return nullptr;
  return wrap(unwrap(builder)->CreateExtractValue(unwrap(whole), indices, name ? name : ""));
}

LLVMValueRef enz_help_insert(LLVMBuilderRef builder, LLVMValueRef whole, LLVMValueRef part, const unsigned *path,
                             size_t size, const char *name) {
  const ArrayRef<unsigned> indices(path, path ? size : 0);
  if (!builder || !whole || !part || !isPath(unwrap(whole)->getType(), indices) ||
      ExtractValueInst::getIndexedType(unwrap(whole)->getType(), indices) != unwrap(part)->getType())
    return nullptr;
  return wrap(unwrap(builder)->CreateInsertValue(unwrap(whole), unwrap(part), indices, name ? name : ""));
}

LLVMValueRef enz_help_gep_offset(LLVMBuilderRef builder, LLVMValueRef value, LLVMTypeRef type) {
  auto *gep = as<GEPOperator>(value);
  auto *wanted = dyn_cast_or_null<IntegerType>(type ? unwrap(type) : nullptr);
  BasicBlock *block = builder ? unwrap(builder)->GetInsertBlock() : nullptr;
  if (!gep || !wanted || !block || !gep->getType()->isPointerTy())
    return nullptr;
  IRBuilder<> &b = *unwrap(builder);
  return wrap(b.CreateSExtOrTrunc(emitGEPOffset(&b, block->getDataLayout(), gep), wanted));
}

uint8_t enz_help_copy_alignment(LLVMValueRef to, LLVMValueRef from) {
  const MaybeAlign align = from ? alignOf(unwrap(from)) : std::nullopt;
  if (!align)
    return 0;
  if (auto *load = as<LoadInst>(to))
    load->setAlignment(*align);
  else if (auto *store = as<StoreInst>(to))
    store->setAlignment(*align);
  else if (auto *slot = as<AllocaInst>(to))
    slot->setAlignment(*align);
  else
    return 0;
  return 1;
}

uint8_t enz_help_copy_metadata(LLVMValueRef to, LLVMValueRef from) {
  auto *target = as<Instruction>(to), *source = as<Instruction>(from);
  if (target && source)
    target->copyMetadata(*source);
  return target && source;
}

uint8_t enz_help_take_name(LLVMValueRef to, LLVMValueRef from) {
  if (!to || !from)
    return 0;
  unwrap(to)->takeName(unwrap(from));
  return 1;
}

uint8_t enz_help_move_before(LLVMValueRef raw, LLVMValueRef raw_place, LLVMBuilderRef builder) {
  auto *moved = as<Instruction>(raw), *place = as<Instruction>(raw_place);
  if (!moved || !place || !moved->getParent() || !place->getParent())
    return 0;
  if (moved == place)
    return 1;
  // A builder that stands before what moves stays where it was.
  if (builder && unwrap(builder)->GetInsertBlock() == moved->getParent() &&
      unwrap(builder)->GetInsertPoint() == moved->getIterator())
    unwrap(builder)->SetInsertPoint(moved->getParent(), std::next(moved->getIterator()));
  moved->moveBefore(place->getIterator());
  return 1;
}

uint8_t enz_help_copy_place(LLVMValueRef to, LLVMValueRef from) {
  auto *target = as<Instruction>(to), *source = as<Instruction>(from);
  if (target && source)
    target->setDebugLoc(source->getDebugLoc());
  return target && source;
}

uint8_t enz_help_set_metadata(LLVMValueRef value, const char *kind, LLVMValueRef metadata) {
  auto *wrapped = as<MetadataAsValue>(metadata);
  auto *node = wrapped ? dyn_cast<MDNode>(wrapped->getMetadata()) : nullptr;
  if (!kind || (metadata && !node))
    return 0;
  if (auto *inst = as<Instruction>(value))
    inst->setMetadata(kind, node);
  else if (auto *global = as<GlobalObject>(value))
    global->setMetadata(kind, node);
  else
    return 0;
  return 1;
}

LLVMValueRef enz_help_get_metadata(LLVMValueRef value, const char *kind) {
  MDNode *node = nullptr;
  if (auto *inst = as<Instruction>(value); inst && kind)
    node = inst->getMetadata(kind);
  else if (auto *global = as<GlobalObject>(value); global && kind)
    node = global->getMetadata(kind);
  return node ? wrap(MetadataAsValue::get(unwrap(value)->getContext(), node)) : nullptr;
}

uint8_t enz_help_mark(LLVMValueRef value, const char *kind) {
  auto *inst = as<Instruction>(value);
  if (inst)
    inst->setMetadata(kind, MDNode::get(inst->getContext(), {}));
  return inst != nullptr;
}

LLVMTypeRef enz_help_array(LLVMTypeRef type, uint64_t width) {
  if (!type || width < 2 || !ArrayType::isValidElementType(unwrap(type)))
    return type;
  return wrap(ArrayType::get(unwrap(type), width));
}

LLVMMetadataRef enz_help_writable_tbaa(LLVMMetadataRef raw) {
  auto *node = dyn_cast_or_null<MDNode>(unwrap(raw));
  auto *last =
      node && node->getNumOperands() == 4 ? mdconst::dyn_extract_or_null<ConstantInt>(node->getOperand(3)) : nullptr;
  if (!last || !last->isOne())
    return raw;
  SmallVector<Metadata *, 4> parts(node->op_begin(), node->op_end());
  parts[3] = ConstantAsMetadata::get(ConstantInt::get(last->getType(), 0));
  return wrap(MDNode::get(node->getContext(), parts));
}

uint8_t enz_help_set_called(LLVMValueRef raw, LLVMValueRef raw_function, const uint64_t *raw_removed, size_t count) {
  auto *call = as<CallInst>(raw);
  auto *function = as<Function>(raw_function);
  const ArrayRef<uint64_t> removed(raw_removed, raw_removed ? count : 0);
  if (!call || !call->getParent() || !function || removed.size() != count || !ascending(removed, call->arg_size()))
    return 0;
  SmallVector<Value *, 8> args;
  for (unsigned n = 0; n < call->arg_size(); ++n)
    if (!is_contained(removed, n))
      args.push_back(call->getArgOperand(n));
  FunctionType *type = function->getFunctionType();
  if (args.size() < type->getNumParams() || (args.size() > type->getNumParams() && !type->isVarArg()))
    return 0;
  for (unsigned n = 0; n < type->getNumParams(); ++n)
    if (args[n]->getType() != type->getParamType(n))
      return 0;
  const bool same = call->getType() == type->getReturnType();
  if (!same && !call->use_empty())
    return 0;
  SmallVector<OperandBundleDef, 2> bundles;
  call->getOperandBundlesAsDefs(bundles);
  IRBuilder<> b(call);
  CallInst *made = b.CreateCall(type, function, args, bundles);
  made->setAttributes(without(call->getContext(), call->getAttributes(), call->arg_size(), removed, same));
  made->copyMetadata(*call);
  made->setCallingConv(call->getCallingConv());
  made->setTailCallKind(call->getTailCallKind());
  if (same)
    call->replaceAllUsesWith(made);
  if (!made->getType()->isVoidTy())
    made->takeName(call);
  call->eraseFromParent();
  return 1;
}

LLVMValueRef enz_help_clone_without(LLVMValueRef raw, uint8_t keep_result, const uint64_t *raw_removed, size_t count) {
  auto *function = as<Function>(raw);
  const ArrayRef<uint64_t> removed(raw_removed, raw_removed ? count : 0);
  if (!function || !function->getParent() || removed.size() != count || !ascending(removed, function->arg_size()))
    return nullptr;
  LLVMContext &context = function->getContext();
  const bool result = keep_result != 0;
  SmallVector<Type *, 8> types;
  for (const Argument &param : function->args())
    if (!is_contained(removed, param.getArgNo()))
      types.push_back(param.getType());
  auto *type =
      FunctionType::get(result ? function->getReturnType() : Type::getVoidTy(context), types, function->isVarArg());
  Function *made = Function::Create(type, function->getLinkage(), function->getAddressSpace(), function->getName(),
                                    function->getParent());
  ValueToValueMapTy map;
  auto next = made->arg_begin();
  for (const Argument &param : function->args()) {
    if (is_contained(removed, param.getArgNo())) {
      map[&param] = PoisonValue::get(param.getType());
      continue;
    }
    next->setName(param.getName());
    map[&param] = &*next++;
  }
  const AttributeList attributes = without(context, function->getAttributes(), function->arg_size(), removed, result);
  if (!function->isDeclaration()) {
    // Returns fit the new type before they are looked at as a function.
    SmallVector<ReturnInst *, 8> returns;
    CloneFunctionInto(made, function, map, CloneFunctionChangeType::LocalChangesOnly, returns);
    if (!result)
      for (BasicBlock &block : *made)
        if (auto *ret = dyn_cast_or_null<ReturnInst>(block.getTerminator())) {
          auto *empty = ReturnInst::Create(context, nullptr, ret->getIterator());
          empty->copyMetadata(*ret);
          ret->eraseFromParent();
        }
  }
  made->setAttributes(attributes);
  made->setCallingConv(function->getCallingConv());
  if (!result)
    made->addFnAttr("enzyme_retremove", "");
  if (count > 0)
    made->addFnAttr(kRemoved, removedText(*function, removed));
  made->takeName(function);
  return wrap(made);
}

void enz_help_dump_value(LLVMValueRef value) {
  if (value)
    errs() << *unwrap(value) << "\n";
}

void enz_help_dump_type(LLVMTypeRef type) {
  if (type)
    errs() << *unwrap(type) << "\n";
}

void enz_help_dump_module(LLVMModuleRef module) {
  if (module)
    unwrap(module)->print(errs(), nullptr);
}
