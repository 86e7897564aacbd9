// Functions, globals, instructions and source locations, described.

#include "support.h"

#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/ModRef.h"

using namespace llvm;

namespace enz {

bool exactBody(const Function &function) { return !function.isDeclaration() && !function.isInterposable(); }

bool isHarmless(const Instruction &inst, void *context, uint8_t (*ask)(void *context, EnzStr name)) {
  const auto *call = dyn_cast<CallBase>(&inst);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->isDeclaration() || !ask)
    return false;
  const uint8_t said = ask(context, text(callee->getName()));
  const auto isPointer = [](const Use &use) { return use->getType()->isPtrOrPtrVectorTy(); };
  return said == 2 || (said == 1 && none_of(call->args(), isPointer));
}

} // namespace enz

void enz_func_info(EnzHost, EnzValue raw, EnzFuncInfo *out) {
  *out = EnzFuncInfo{};
  auto *function = enz::as<Function>(raw);
  if (!function)
    return;
  out->name = enz::text(function->getName());
  out->sig = enz::in(static_cast<Type *>(function->getFunctionType()));
  out->conv = function->getCallingConv();
  out->num_params = static_cast<uint32_t>(function->arg_size());
  out->num_blocks = static_cast<uint32_t>(function->size());
  out->scope = reinterpret_cast<EnzScope>(function->getSubprogram());
  if (function->hasPersonalityFn())
    out->personality = enz::in(static_cast<Value *>(function->getPersonalityFn()));
  const MemoryEffects effects = function->getMemoryEffects();
  auto flag = [out](bool on, EnzFunc bit) { out->flags |= on ? bit : 0u; };
  flag(effects.onlyWritesMemory(), ENZ_FUNC_NO_READ);
  flag(effects.onlyReadsMemory(), ENZ_FUNC_NO_WRITE);
  flag(effects.onlyAccessesArgPointees(), ENZ_FUNC_ARG_MEM_ONLY);
  flag(function->doesNotReturn(), ENZ_FUNC_NORETURN);
  flag(function->doesNotThrow(), ENZ_FUNC_NOUNWIND);
  flag(function->hasFnAttribute("enzyme_inactive"), ENZ_FUNC_INACTIVE);
  out->like = enz::text(function->getFnAttribute("enzyme_math").getValueAsString());
  flag(function->isInterposable(), ENZ_FUNC_INTERPOSABLE);
  flag(function->isDeclaration(), ENZ_FUNC_DECLARATION);
  flag(function->hasLocalLinkage(), ENZ_FUNC_INTERNAL);
  flag(function->isIntrinsic(), ENZ_FUNC_INTRINSIC);
}

EnzValue enz_func_param(EnzValue raw, uint32_t index) {
  auto *function = enz::as<Function>(raw);
  return function && index < function->arg_size() ? enz::in(static_cast<Value *>(function->getArg(index))) : nullptr;
}

void enz_param_info(EnzValue raw, uint32_t index, EnzParamInfo *out) {
  *out = EnzParamInfo{};
  AttributeList list;
  if (auto *function = enz::as<Function>(raw))
    list = function->getAttributes();
  else if (auto *call = enz::as<CallBase>(raw))
    list = call->getAttributes();
  const AttributeSet attrs = list.getParamAttrs(index);
  if (attrs.hasAttribute(Attribute::NoAlias))
    out->flags |= ENZ_PARAM_NOALIAS;
  if (attrs.hasAttribute(Attribute::ReadOnly) || attrs.hasAttribute(Attribute::ReadNone))
    out->flags |= ENZ_PARAM_READONLY;
  if (attrs.hasAttribute(Attribute::WriteOnly) || attrs.hasAttribute(Attribute::ReadNone))
    out->flags |= ENZ_PARAM_WRITEONLY;
  if (capturesNothing(attrs.getCaptureInfo()))
    out->flags |= ENZ_PARAM_NOCAPTURE;
  out->sret = enz::in(attrs.getStructRetType());
  out->byval = enz::in(attrs.getByValType());
}

size_t enz_func_blocks(EnzValue raw, EnzBlock *out, size_t capacity) {
  auto *function = enz::as<Function>(raw);
  size_t n = 0;
  if (function)
    for (BasicBlock &block : *function) {
      if (n < capacity)
        out[n] = enz::in(&block);
      ++n;
    }
  return n;
}

size_t enz_block_insts(EnzBlock block, EnzValue *out, size_t capacity) {
  size_t n = 0;
  for (Instruction &inst : *enz::un(block)) {
    if (n < capacity)
      out[n] = enz::in(static_cast<Value *>(&inst));
    ++n;
  }
  return n;
}

EnzStr enz_block_name(EnzBlock block) { return enz::text(enz::un(block)->getName()); }
EnzStr enz_value_name(EnzValue value) { return enz::text(enz::un(value)->getName()); }
void enz_value_set_name(EnzValue value, EnzStr name) { enz::un(value)->setName(enz::text(name)); }

void enz_global_info(EnzValue raw, EnzGlobalInfo *out) {
  *out = EnzGlobalInfo{};
  auto *global = enz::as<GlobalVariable>(raw);
  if (!global)
    return;
  out->name = enz::text(global->getName());
  out->type = enz::in(global->getValueType());
  out->init = global->hasInitializer() ? enz::in(static_cast<Value *>(global->getInitializer())) : nullptr;
  out->align = global->getAlign() ? static_cast<uint32_t>(global->getAlign()->value()) : 0;
  out->space = global->getAddressSpace();
  out->constant = global->isConstant();
  out->thread_local_ = global->isThreadLocal();
  out->internal = global->hasLocalLinkage();
  out->inactive = global->hasAttribute("enzyme_inactive");
}

static uint8_t orderingNumber(AtomicOrdering ordering) {
  switch (ordering) {
  case AtomicOrdering::NotAtomic:
    return 0;
  case AtomicOrdering::Unordered:
    return 1;
  case AtomicOrdering::Monotonic:
    return 2;
  case AtomicOrdering::Acquire:
    return 3;
  case AtomicOrdering::Release:
    return 4;
  case AtomicOrdering::AcquireRelease:
    return 5;
  case AtomicOrdering::SequentiallyConsistent:
    return 6;
  }
  return 6;
}

static uint32_t rmwNumber(AtomicRMWInst::BinOp op) {
  switch (op) {
  case AtomicRMWInst::Xchg:
    return 0;
  case AtomicRMWInst::Add:
    return 1;
  case AtomicRMWInst::Sub:
    return 2;
  case AtomicRMWInst::And:
    return 3;
  case AtomicRMWInst::Nand:
    return 4;
  case AtomicRMWInst::Or:
    return 5;
  case AtomicRMWInst::Xor:
    return 6;
  case AtomicRMWInst::Max:
    return 7;
  case AtomicRMWInst::Min:
    return 8;
  case AtomicRMWInst::UMax:
    return 9;
  case AtomicRMWInst::UMin:
    return 10;
  case AtomicRMWInst::FAdd:
    return 11;
  case AtomicRMWInst::FSub:
    return 12;
  case AtomicRMWInst::FMax:
    return 13;
  case AtomicRMWInst::FMin:
    return 14;
  case AtomicRMWInst::FMaximum:
    return 15;
  case AtomicRMWInst::FMinimum:
    return 16;
  case AtomicRMWInst::UIncWrap:
    return 17;
  case AtomicRMWInst::UDecWrap:
    return 18;
  case AtomicRMWInst::USubCond:
    return 19;
  case AtomicRMWInst::USubSat:
    return 20;
  default:
    return enz::kUnknown;
  }
}

static void describeFlags(const Instruction &inst, EnzInstInfo *out) {
  if (isa<FPMathOperator>(inst)) {
    const FastMathFlags f = inst.getFastMathFlags();
    out->fast = static_cast<uint8_t>((f.allowReassoc() ? 1 : 0) | (f.noNaNs() ? 2 : 0) | (f.noInfs() ? 4 : 0) |
                                     (f.noSignedZeros() ? 8 : 0) | (f.allowReciprocal() ? 16 : 0) |
                                     (f.allowContract() ? 32 : 0) | (f.approxFunc() ? 64 : 0));
  }
  uint8_t ints = 0;
  if (isa<OverflowingBinaryOperator>(inst) || isa<TruncInst>(inst))
    ints |= (inst.hasNoUnsignedWrap() ? 1 : 0) | (inst.hasNoSignedWrap() ? 2 : 0);
  if (isa<PossiblyExactOperator>(inst) && inst.isExact())
    ints |= 4;
  if (const auto *disjoint = dyn_cast<PossiblyDisjointInst>(&inst); disjoint && disjoint->isDisjoint())
    ints |= 8;
  if (isa<PossiblyNonNegInst>(inst) && inst.hasNonNeg())
    ints |= 16;
  if (const auto *compare = dyn_cast<ICmpInst>(&inst); compare && compare->hasSameSign())
    ints |= 32;
  out->ints = ints;
}

static uint8_t tailNumber(const CallInst &call) {
  switch (call.getTailCallKind()) {
  case CallInst::TCK_None:
    return 0;
  case CallInst::TCK_Tail:
    return 1;
  case CallInst::TCK_MustTail:
    return 2;
  case CallInst::TCK_NoTail:
    return 3;
  }
  return 0;
}

static void describeCall(const CallBase &call, EnzInstInfo *out) {
  out->elem = enz::in(static_cast<Type *>(call.getFunctionType()));
  out->num_args = static_cast<uint32_t>(call.arg_size());
  out->conv = call.getCallingConv();
  uint32_t bundled = 0;
  for (unsigned i = 0; i < call.getNumOperandBundles(); ++i)
    bundled += static_cast<uint32_t>(call.getOperandBundleAt(i).Inputs.size());
  out->num_operands = 1 + out->num_args + bundled;
}

static bool skipped(const Instruction &inst) {
  if (isa<DbgInfoIntrinsic>(inst))
    return true;
  const auto *intrinsic = dyn_cast<IntrinsicInst>(&inst);
  if (!intrinsic)
    return false;
  switch (intrinsic->getIntrinsicID()) {
  case Intrinsic::assume:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::donothing:
  case Intrinsic::sideeffect:
  case Intrinsic::pseudoprobe:
    return true;
  default:
    return false;
  }
}

// Predicates cross as distances from the first one; these pin the order that Rust reads.
static_assert(CmpInst::FCMP_FALSE == 0 && CmpInst::FCMP_OEQ == 1 && CmpInst::FCMP_OGT == 2 && CmpInst::FCMP_OGE == 3 &&
                  CmpInst::FCMP_OLT == 4 && CmpInst::FCMP_OLE == 5 && CmpInst::FCMP_ONE == 6 &&
                  CmpInst::FCMP_ORD == 7 && CmpInst::FCMP_UNO == 8 && CmpInst::FCMP_UEQ == 9 &&
                  CmpInst::FCMP_UGT == 10 && CmpInst::FCMP_UGE == 11 && CmpInst::FCMP_ULT == 12 &&
                  CmpInst::FCMP_ULE == 13 && CmpInst::FCMP_UNE == 14 && CmpInst::FCMP_TRUE == 15,
              "order of floating-point predicates");
static_assert(CmpInst::ICMP_EQ == 32 && CmpInst::ICMP_NE == 33 && CmpInst::ICMP_UGT == 34 && CmpInst::ICMP_UGE == 35 &&
                  CmpInst::ICMP_ULT == 36 && CmpInst::ICMP_ULE == 37 && CmpInst::ICMP_SGT == 38 &&
                  CmpInst::ICMP_SGE == 39 && CmpInst::ICMP_SLT == 40 && CmpInst::ICMP_SLE == 41,
              "order of integer predicates");

void enz_inst_info(EnzValue raw, EnzInstInfo *out) {
  *out = EnzInstInfo{};
  auto *inst = enz::as<Instruction>(raw);
  out->op = ENZ_OP_UNKNOWN;
  if (!inst)
    return;
  out->type = enz::in(inst->getType());
  out->num_operands = inst->getNumOperands();
  out->loc = enz::in(inst->getDebugLoc().get());
  out->name = enz::text(inst->getName());
  if (skipped(*inst)) {
    out->op = ENZ_OP_SKIP;
    return;
  }
  describeFlags(*inst, out);
  if (inst->isBinaryOp()) {
    out->op = ENZ_OP_BINARY;
    out->sub = enz::binaryNumber(inst->getOpcode());
  } else if (inst->isCast()) {
    out->op = ENZ_OP_CAST;
    out->sub = enz::castNumber(inst->getOpcode());
  } else if (isa<UnaryOperator>(inst)) {
    out->op = inst->getOpcode() == Instruction::FNeg ? ENZ_OP_FNEG : ENZ_OP_UNKNOWN;
  } else if (auto *icmp = dyn_cast<ICmpInst>(inst)) {
    out->op = ENZ_OP_ICMP;
    out->sub = icmp->getPredicate() - CmpInst::FIRST_ICMP_PREDICATE;
  } else if (auto *fcmp = dyn_cast<FCmpInst>(inst)) {
    out->op = ENZ_OP_FCMP;
    out->sub = fcmp->getPredicate() - CmpInst::FIRST_FCMP_PREDICATE;
  } else if (auto *phi = dyn_cast<PHINode>(inst)) {
    out->op = ENZ_OP_PHI;
    out->num_targets = phi->getNumIncomingValues();
  } else if (isa<SelectInst>(inst)) {
    out->op = ENZ_OP_SELECT;
  } else if (isa<FreezeInst>(inst)) {
    out->op = ENZ_OP_FREEZE;
  } else if (auto *alloca = dyn_cast<AllocaInst>(inst)) {
    out->op = ENZ_OP_ALLOCA;
    out->elem = enz::in(alloca->getAllocatedType());
    out->align = static_cast<uint32_t>(alloca->getAlign().value());
  } else if (auto *load = dyn_cast<LoadInst>(inst)) {
    out->op = ENZ_OP_LOAD;
    out->align = static_cast<uint32_t>(load->getAlign().value());
    out->volatile_ = load->isVolatile();
    out->ordering = orderingNumber(load->getOrdering());
  } else if (auto *store = dyn_cast<StoreInst>(inst)) {
    out->op = ENZ_OP_STORE;
    out->align = static_cast<uint32_t>(store->getAlign().value());
    out->volatile_ = store->isVolatile();
    out->ordering = orderingNumber(store->getOrdering());
  } else if (auto *gep = dyn_cast<GetElementPtrInst>(inst)) {
    out->op = ENZ_OP_GEP;
    out->elem = enz::in(gep->getSourceElementType());
    const GEPNoWrapFlags flags = gep->getNoWrapFlags();
    out->gep = static_cast<uint8_t>((flags.isInBounds() ? 1 : 0) | (flags.hasNoUnsignedSignedWrap() ? 2 : 0) |
                                    (flags.hasNoUnsignedWrap() ? 4 : 0));
  } else if (auto *fence = dyn_cast<FenceInst>(inst)) {
    out->op = ENZ_OP_FENCE;
    out->ordering = orderingNumber(fence->getOrdering());
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(inst)) {
    out->op = ENZ_OP_CMPXCHG;
    out->align = static_cast<uint32_t>(exchange->getAlign().value());
    out->volatile_ = exchange->isVolatile();
    out->weak = exchange->isWeak();
    out->ordering = orderingNumber(exchange->getSuccessOrdering());
    out->failure = orderingNumber(exchange->getFailureOrdering());
  } else if (auto *rmw = dyn_cast<AtomicRMWInst>(inst)) {
    out->op = rmwNumber(rmw->getOperation()) == enz::kUnknown ? ENZ_OP_UNKNOWN : ENZ_OP_RMW;
    out->sub = rmwNumber(rmw->getOperation());
    out->align = static_cast<uint32_t>(rmw->getAlign().value());
    out->volatile_ = rmw->isVolatile();
    out->ordering = orderingNumber(rmw->getOrdering());
  } else if (auto *call = dyn_cast<CallInst>(inst)) {
    out->op = ENZ_OP_CALL;
    out->tail = tailNumber(*call);
    describeCall(*call, out);
  } else if (auto *invoke = dyn_cast<InvokeInst>(inst)) {
    out->op = ENZ_OP_INVOKE;
    out->num_targets = 2;
    describeCall(*invoke, out);
  } else if (auto *asm_goto = dyn_cast<CallBrInst>(inst)) {
    out->op = ENZ_OP_CALL_BR;
    out->num_targets = 1 + asm_goto->getNumIndirectDests();
    describeCall(*asm_goto, out);
  } else if (isa<VAArgInst>(inst)) {
    out->op = ENZ_OP_VAARG;
  } else if (isa<ExtractElementInst>(inst)) {
    out->op = ENZ_OP_EXTRACT_ELEMENT;
  } else if (isa<InsertElementInst>(inst)) {
    out->op = ENZ_OP_INSERT_ELEMENT;
  } else if (auto *shuffle = dyn_cast<ShuffleVectorInst>(inst)) {
    out->op = ENZ_OP_SHUFFLE;
    out->num_indices = static_cast<uint32_t>(shuffle->getShuffleMask().size());
  } else if (auto *extract = dyn_cast<ExtractValueInst>(inst)) {
    out->op = ENZ_OP_EXTRACT_VALUE;
    out->num_indices = extract->getNumIndices();
  } else if (auto *insert = dyn_cast<InsertValueInst>(inst)) {
    out->op = ENZ_OP_INSERT_VALUE;
    out->num_indices = insert->getNumIndices();
  } else if (auto *pad = dyn_cast<LandingPadInst>(inst)) {
    out->op = ENZ_OP_LANDING_PAD;
    out->cleanup = pad->isCleanup();
    out->num_indices = pad->getNumClauses();
  } else if (isa<CleanupPadInst>(inst)) {
    out->op = ENZ_OP_CLEANUP_PAD;
  } else if (isa<CatchPadInst>(inst)) {
    out->op = ENZ_OP_CATCH_PAD;
  } else if (isa<ReturnInst>(inst)) {
    out->op = ENZ_OP_RET;
  } else if (auto *branch = dyn_cast<BranchInst>(inst)) {
    out->op = branch->isConditional() ? ENZ_OP_COND_BR : ENZ_OP_BR;
    out->num_targets = branch->getNumSuccessors();
    out->num_operands = branch->isConditional() ? 1 : 0;
  } else if (auto *choice = dyn_cast<SwitchInst>(inst)) {
    out->op = ENZ_OP_SWITCH;
    out->sub = choice->getNumCases();
    out->num_targets = choice->getNumCases() + 1;
    out->num_operands = 1;
  } else if (auto *indirect = dyn_cast<IndirectBrInst>(inst)) {
    out->op = ENZ_OP_INDIRECT_BR;
    out->num_targets = indirect->getNumDestinations();
    out->num_operands = 1;
  } else if (isa<ResumeInst>(inst)) {
    out->op = ENZ_OP_RESUME;
  } else if (isa<UnreachableInst>(inst)) {
    out->op = ENZ_OP_UNREACHABLE;
  } else if (auto *cleanup = dyn_cast<CleanupReturnInst>(inst)) {
    out->op = ENZ_OP_CLEANUP_RET;
    out->cleanup = cleanup->hasUnwindDest();
    out->num_targets = cleanup->hasUnwindDest() ? 1 : 0;
    out->num_operands = 1;
  } else if (isa<CatchReturnInst>(inst)) {
    out->op = ENZ_OP_CATCH_RET;
    out->num_targets = 1;
    out->num_operands = 1;
  } else if (auto *catches = dyn_cast<CatchSwitchInst>(inst)) {
    out->op = ENZ_OP_CATCH_SWITCH;
    out->cleanup = catches->hasUnwindDest();
    out->num_targets = catches->getNumHandlers() + (catches->hasUnwindDest() ? 1 : 0);
    out->num_operands = 1;
  }
}

void enz_inst_operands(EnzValue raw, EnzValue *out) {
  auto *inst = enz::as<Instruction>(raw);
  if (auto *call = dyn_cast<CallBase>(inst)) {
    *out++ = enz::in(call->getCalledOperand());
    for (const Use &use : call->args())
      *out++ = enz::in(use.get());
    for (unsigned i = 0; i < call->getNumOperandBundles(); ++i)
      for (const Use &use : call->getOperandBundleAt(i).Inputs)
        *out++ = enz::in(use.get());
  } else if (auto *pad = dyn_cast<FuncletPadInst>(inst)) {
    *out++ = enz::in(pad->getParentPad());
    for (const Use &use : pad->arg_operands())
      *out++ = enz::in(use.get());
  } else if (auto *branch = dyn_cast<BranchInst>(inst)) {
    if (branch->isConditional())
      *out = enz::in(branch->getCondition());
  } else if (auto *choice = dyn_cast<SwitchInst>(inst)) {
    *out = enz::in(choice->getCondition());
  } else if (auto *indirect = dyn_cast<IndirectBrInst>(inst)) {
    *out = enz::in(indirect->getAddress());
  } else if (isa<CleanupReturnInst, CatchReturnInst, CatchSwitchInst>(inst)) {
    *out = enz::in(inst->getOperand(0));
  } else {
    for (const Use &use : inst->operands())
      *out++ = enz::in(use.get());
  }
}

void enz_inst_targets(EnzValue raw, EnzBlock *out) {
  auto *inst = enz::as<Instruction>(raw);
  if (auto *phi = dyn_cast<PHINode>(inst)) {
    for (BasicBlock *block : phi->blocks())
      *out++ = enz::in(block);
  } else if (auto *choice = dyn_cast<SwitchInst>(inst)) {
    *out++ = enz::in(choice->getDefaultDest());
    for (auto &branch : choice->cases())
      *out++ = enz::in(branch.getCaseSuccessor());
  } else if (auto *catches = dyn_cast<CatchSwitchInst>(inst)) {
    for (BasicBlock *handler : catches->handlers())
      *out++ = enz::in(handler);
    if (catches->hasUnwindDest())
      *out++ = enz::in(catches->getUnwindDest());
  } else if (inst->isTerminator()) {
    for (unsigned i = 0; i < inst->getNumSuccessors(); ++i)
      *out++ = enz::in(inst->getSuccessor(i));
  }
}

void enz_inst_indices(EnzValue raw, int32_t *out) {
  auto *inst = enz::as<Instruction>(raw);
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(inst)) {
    for (int lane : shuffle->getShuffleMask())
      *out++ = lane;
  } else if (auto *extract = dyn_cast<ExtractValueInst>(inst)) {
    for (unsigned index : extract->indices())
      *out++ = static_cast<int32_t>(index);
  } else if (auto *insert = dyn_cast<InsertValueInst>(inst)) {
    for (unsigned index : insert->indices())
      *out++ = static_cast<int32_t>(index);
  } else if (auto *pad = dyn_cast<LandingPadInst>(inst)) {
    for (unsigned i = 0; i < pad->getNumClauses(); ++i)
      *out++ = pad->isFilter(i) ? 1 : 0;
  }
}

void enz_switch_values(EnzValue raw, EnzValue *out) {
  if (auto *choice = enz::as<SwitchInst>(raw))
    for (auto &branch : choice->cases())
      *out++ = enz::in(static_cast<Value *>(branch.getCaseValue()));
}

// LLVM's verifier lets blocks through whose file is none.
static EnzStr fileOf(const DIScope *scope) {
  const auto *file = scope ? dyn_cast_or_null<DIFile>(scope->getRawFile()) : nullptr;
  return enz::text(file ? file->getFilename() : StringRef());
}

void enz_loc_info(EnzLoc raw, EnzLocInfo *out) {
  const DILocation *loc = enz::un(raw);
  *out = EnzLocInfo{};
  out->file = fileOf(loc->getScope());
  out->line = loc->getLine();
  out->column = loc->getColumn();
  out->inlined_at = enz::in(loc->getInlinedAt());
  if (const DISubprogram *program = loc->getScope() ? loc->getScope()->getSubprogram() : nullptr)
    out->scope = enz::text(program->getName());
}

void enz_scope_info(EnzScope raw, EnzLocInfo *out) {
  const auto *program = reinterpret_cast<DISubprogram *>(raw);
  *out = EnzLocInfo{};
  out->file = fileOf(program);
  out->scope = enz::text(program->getName());
  out->line = program->getLine();
}
