// Functions and globals made from flat descriptions, and the verifier's word on what was written into them.

#include "support.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"

using namespace llvm;

static Function *intrinsic(Module &module, StringRef name, FunctionType *type) {
  const Intrinsic::ID id = Intrinsic::lookupIntrinsicID(name);
  if (id == Intrinsic::not_intrinsic)
    return nullptr;
  SmallVector<Type *, 4> overloads;
  if (!Intrinsic::getIntrinsicSignature(id, type, overloads))
    return nullptr;
  return Intrinsic::getOrInsertDeclaration(&module, id, overloads);
}

static const Function *template_of(const Module &module, EnzValue like) {
  if (auto *function = enz::as<Function>(like))
    return function;
  for (const Function &function : module)
    if (!function.isDeclaration())
      return &function;
  return nullptr;
}

static constexpr StringLiteral kTake = "enzyme.rt.take";

// What decides how code is generated: target features, floating-point environment, unwinding tables, sanitizers.
static void copyTarget(Function &to, const Function &from) {
  for (const Attribute &attribute : from.getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute() && !attribute.getKindAsString().starts_with("enzyme"))
      to.addFnAttr(attribute);
  }
  for (Attribute::AttrKind kind :
       {Attribute::UWTable, Attribute::StrictFP, Attribute::NullPointerIsValid, Attribute::NoImplicitFloat,
        Attribute::OptimizeForSize, Attribute::MinSize, Attribute::SanitizeAddress, Attribute::SanitizeMemory,
        Attribute::SanitizeThread, Attribute::SanitizeHWAddress})
    if (from.hasFnAttribute(kind))
      to.addFnAttr(from.getFnAttribute(kind));
}

// What cuts memory from the arena of a derivative stays a call: its body does not tell that this memory is no other.
// The variable that it writes besides, of what glibc keeps, is read by itself alone, and may be out of date.
static void keepFresh(Function &function) {
  function.addFnAttr(Attribute::NoInline);
  if (function.getReturnType()->isPointerTy())
    function.addRetAttr(Attribute::NoAlias);
  function.setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
}

static void setAttributes(Function &function, const EnzFuncSpec &spec) {
  MemoryEffects effects = MemoryEffects::unknown();
  if (spec.flags & ENZ_FUNC_NO_READ)
    effects &= MemoryEffects::writeOnly();
  if (spec.flags & ENZ_FUNC_NO_WRITE)
    effects &= MemoryEffects::readOnly();
  if (spec.flags & ENZ_FUNC_ARG_MEM_ONLY)
    effects &= MemoryEffects::argMemOnly();
  if (effects != MemoryEffects::unknown())
    function.setMemoryEffects(effects);
  if (spec.flags & ENZ_FUNC_NORETURN)
    function.setDoesNotReturn();
  if (spec.flags & ENZ_FUNC_NOUNWIND)
    function.setDoesNotThrow();
  if (spec.always_inline)
    function.addFnAttr(Attribute::AlwaysInline);
  LLVMContext &context = function.getContext();
  for (unsigned i = 0; i < function.arg_size() && i < spec.num_params; ++i) {
    const EnzParamInfo &param = spec.params[i];
    if (!function.getArg(i)->getType()->isPointerTy())
      continue;
    if (param.flags & ENZ_PARAM_NOALIAS)
      function.addParamAttr(i, Attribute::NoAlias);
    if ((param.flags & ENZ_PARAM_READONLY) && (param.flags & ENZ_PARAM_WRITEONLY))
      function.addParamAttr(i, Attribute::ReadNone);
    else if (param.flags & ENZ_PARAM_READONLY)
      function.addParamAttr(i, Attribute::ReadOnly);
    else if (param.flags & ENZ_PARAM_WRITEONLY)
      function.addParamAttr(i, Attribute::WriteOnly);
    if (param.flags & ENZ_PARAM_NOCAPTURE)
      function.addParamAttr(i, Attribute::getWithCaptureInfo(context, CaptureInfo::none()));
    if (param.sret)
      function.addParamAttr(i, Attribute::getWithStructRetType(context, enz::un(param.sret)));
    if (param.byval)
      function.addParamAttr(i, Attribute::getWithByValType(context, enz::un(param.byval)));
  }
}

EnzValue enz_func_make(EnzHost host, const EnzFuncSpec *spec) {
  Module &module = *host->module;
  auto *type = dyn_cast_or_null<FunctionType>(enz::un(spec->sig));
  const StringRef name = enz::text(spec->name);
  if (!type || spec->conv > CallingConv::MaxID)
    return nullptr;
  if (!spec->generated) {
    if (name.starts_with("llvm."))
      return enz::in(static_cast<Value *>(intrinsic(module, name, type)));
    if (GlobalValue *existing = module.getNamedValue(name))
      return enz::in(enz::resolve(existing));
    const bool weak = spec->flags & ENZ_FUNC_INTERPOSABLE;
    const auto linkage = weak ? GlobalValue::ExternalWeakLinkage : GlobalValue::ExternalLinkage;
    Function *declared = Function::Create(type, linkage, name, module);
    declared->setCallingConv(spec->conv);
    setAttributes(*declared, *spec);
    const auto &library = host->functions->getResult<TargetLibraryAnalysis>(*declared);
    inferNonMandatoryLibFuncAttrs(*declared, library);
    return enz::in(static_cast<Value *>(declared));
  }
  if (name.starts_with("llvm."))
    return nullptr;
  Function *made = Function::Create(type, spec->internal ? GlobalValue::InternalLinkage : GlobalValue::ExternalLinkage,
                                    name, module);
  made->setCallingConv(spec->conv);
  if (const Function *like = template_of(module, spec->like); like && like != made)
    copyTarget(*made, *like);
  setAttributes(*made, *spec);
  if (name.starts_with(kTake))
    keepFresh(*made);
  return enz::in(static_cast<Value *>(made));
}

EnzBlock enz_block_make(EnzValue function, EnzStr name) {
  auto *parent = enz::as<Function>(function);
  return enz::in(BasicBlock::Create(parent->getContext(), enz::text(name), parent));
}

EnzValue enz_global_make(EnzHost host, const EnzGlobalInfo *info) {
  Type *type = enz::un(info->type);
  const StringRef name = enz::text(info->name);
  if (!type || !PointerType::isValidElementType(type) || type->isFunctionTy() || !type->isSized())
    return nullptr;
  if (!info->internal)
    if (GlobalValue *existing = host->module->getNamedValue(name))
      return enz::in(static_cast<Value *>(dyn_cast<GlobalVariable>(existing)));
  auto *made = new GlobalVariable(
      *host->module, type, info->constant, info->internal ? GlobalValue::InternalLinkage : GlobalValue::ExternalLinkage,
      info->internal ? Constant::getNullValue(type) : nullptr, name, nullptr,
      info->thread_local_ ? GlobalValue::GeneralDynamicTLSModel : GlobalValue::NotThreadLocal, info->space);
  if (info->align)
    made->setAlignment(Align(PowerOf2Ceil(info->align)));
  return enz::in(static_cast<Value *>(made));
}

uint8_t enz_set_personality(EnzValue raw, EnzValue routine) {
  auto *function = enz::as<Function>(raw);
  auto *constant = enz::as<Constant>(routine);
  if (!function || !constant || !constant->getType()->isPointerTy())
    return 0;
  function->setPersonalityFn(constant);
  return 1;
}

uint8_t enz_global_set_init(EnzValue raw, EnzValue init) {
  auto *global = enz::as<GlobalVariable>(raw);
  auto *content = enz::as<Constant>(init);
  if (!global || !content || content->getType() != global->getValueType())
    return 0;
  global->setInitializer(content);
  return 1;
}

void enz_global_erase(EnzValue raw) {
  auto *global = enz::as<GlobalVariable>(raw);
  if (!global)
    return;
  global->removeDeadConstantUsers();
  if (!global->use_empty())
    global->replaceAllUsesWith(PoisonValue::get(global->getType()));
  global->eraseFromParent();
}

uint8_t enz_verify_function(EnzValue raw, EnzTextSink error, void *context) {
  enz::SinkStream out(error, context);
  return verifyFunction(*enz::as<Function>(raw), &*out) ? 0 : 1;
}

void enz_function_clear(EnzValue raw) {
  if (auto *function = enz::as<Function>(raw))
    function->deleteBody();
}
