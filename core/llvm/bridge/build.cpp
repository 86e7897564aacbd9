// Instructions written from flat descriptions.
//
// Every instruction is checked before it is made, since LLVM's constructors trust their callers; what remains
// (dominance, uses across blocks) the verifier sees afterwards. An instruction with an origin is copied from it if it
// is still the same operation, and keeps its metadata, attributes and bundles, except: debug locations, for generated
// functions have no debug information; access groups, which hold for the loops of the primal alone; alias scopes, of
// which what holds in a derivative is written last (scopes.cpp).

#include "scopes.h"
#include "support.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

// One domain per generated function; memory of one class does not overlap memory of another.
struct EnzBuilder {
  Module *module;
  Function *function;
  MDNode *alias_scope[ENZ_MEM_END] = {};
  MDNode *noalias[ENZ_MEM_END] = {};
  enz::Scopes promised;

  void scopes() {
    if (alias_scope[ENZ_MEM_PRIMAL])
      return;
    MDBuilder metadata(module->getContext());
    MDNode *domain = metadata.createAnonymousAliasScopeDomain(function->getName());
    MDNode *scope[ENZ_MEM_END] = {};
    const char *names[] = {"", "primal", "shadow", "tape"};
    for (unsigned i = ENZ_MEM_PRIMAL; i < ENZ_MEM_END; ++i)
      scope[i] = metadata.createAnonymousAliasScope(domain, i < ENZ_MEM_LANES ? names[i] : "lane");
    for (unsigned i = ENZ_MEM_PRIMAL; i < ENZ_MEM_END; ++i) {
      alias_scope[i] = MDNode::get(module->getContext(), {scope[i]});
      SmallVector<Metadata *, 16> others;
      for (unsigned j = ENZ_MEM_PRIMAL; j < ENZ_MEM_END; ++j)
        if (j != i)
          others.push_back(scope[j]);
      noalias[i] = MDNode::get(module->getContext(), others);
    }
  }

  void classify(Instruction &inst, uint8_t mem) {
    if (mem == ENZ_MEM_UNKNOWN || mem >= ENZ_MEM_END || !inst.mayReadOrWriteMemory())
      return;
    scopes();
    inst.setMetadata(LLVMContext::MD_alias_scope, alias_scope[mem]);
    inst.setMetadata(LLVMContext::MD_noalias, noalias[mem]);
  }
};

EnzBuilder *enz_builder_new(EnzHost host, EnzValue function) {
  auto *builder = new EnzBuilder;
  builder->module = host->module;
  builder->function = enz::as<Function>(function);
  return builder;
}

void enz_builder_drop(EnzBuilder *builder) { delete builder; }

void enz_builder_access(EnzBuilder *builder, EnzValue raw, EnzValue raw_like, uint8_t mem) {
  auto *made = enz::as<Instruction>(raw);
  const auto *like = enz::as<Instruction>(raw_like);
  if (made && like && (isa<LoadInst, StoreInst>(made)) && isa<LoadInst, StoreInst>(like) && mem != ENZ_MEM_UNKNOWN &&
      mem != ENZ_MEM_TAPE)
    builder->promised.access(*made, *like, mem != ENZ_MEM_PRIMAL);
}

void enz_builder_block(EnzBuilder *builder, EnzBlock block, EnzValue raw_end, uint8_t turned) {
  if (const auto *end = enz::as<Instruction>(raw_end); end && end->getParent())
    builder->promised.block(*enz::un(block), *end, turned != 0);
}

void enz_builder_finish(EnzBuilder *builder) { builder->promised.finish(*builder->function); }

namespace {

AtomicOrdering ordering(uint8_t number) {
  switch (number) {
  case 0:
    return AtomicOrdering::NotAtomic;
  case 1:
    return AtomicOrdering::Unordered;
  case 2:
    return AtomicOrdering::Monotonic;
  case 3:
    return AtomicOrdering::Acquire;
  case 4:
    return AtomicOrdering::Release;
  case 5:
    return AtomicOrdering::AcquireRelease;
  default:
    return AtomicOrdering::SequentiallyConsistent;
  }
}

constexpr AtomicRMWInst::BinOp kRmw[] = {
    AtomicRMWInst::Xchg,     AtomicRMWInst::Add,      AtomicRMWInst::Sub,      AtomicRMWInst::And,
    AtomicRMWInst::Nand,     AtomicRMWInst::Or,       AtomicRMWInst::Xor,      AtomicRMWInst::Max,
    AtomicRMWInst::Min,      AtomicRMWInst::UMax,     AtomicRMWInst::UMin,     AtomicRMWInst::FAdd,
    AtomicRMWInst::FSub,     AtomicRMWInst::FMax,     AtomicRMWInst::FMin,     AtomicRMWInst::FMaximum,
    AtomicRMWInst::FMinimum, AtomicRMWInst::UIncWrap, AtomicRMWInst::UDecWrap, AtomicRMWInst::USubCond,
    AtomicRMWInst::USubSat,
};

// Attributes of a direct call hold for its callee; those of an indirect one for whatever is called there.
bool sameCallee(const CallBase &origin, const Value *callee) {
  return origin.getCalledOperand() == callee || !isa<Constant, InlineAsm>(origin.getCalledOperand());
}

// Makes one instruction at the end of a block, or says why it cannot be.
class Maker {
public:
  Maker(EnzBuilder &builder, BasicBlock *block, const EnzInstInfo &info, const EnzValue *operands,
        const EnzBlock *targets, const int32_t *indices, const EnzValue *cases)
      : layout_(builder.module->getDataLayout()), block_(block), info_(info), type_(enz::un(info.type)) {
    for (uint32_t i = 0; i < info.num_operands; ++i)
      ops_.push_back(enz::un(operands[i]));
    for (uint32_t i = 0; i < info.num_targets; ++i)
      targets_.push_back(enz::un(targets[i]));
    indices_.append(indices, indices + info.num_indices);
    cases_ = cases;
  }

  const char *problem = nullptr;

  // `origin` may be null.
  Instruction *copy(Instruction &origin);
  Instruction *make(Instruction *origin);
  void setFlags(Instruction &inst);

private:
  Instruction *fail(const char *why) {
    problem = why;
    return nullptr;
  }
  bool has(size_t operands, size_t targets = 0) const { return ops_.size() == operands && targets_.size() == targets; }
  bool isPointer(size_t i) const { return ops_[i]->getType()->isPointerTy(); }
  Align align(Type *type) const {
    return info_.align ? Align(PowerOf2Ceil(info_.align)) : layout_.getABITypeAlign(type);
  }
  Instruction *makeValue();
  Instruction *makeMemory();
  Instruction *makeVector();
  Instruction *makeTerminator();
  Instruction *makePad();
  Instruction *makeCall(const CallBase *origin);
  const char *takeBundles(const CallBase *origin, SmallVectorImpl<OperandBundleDef> &bundles) const;
  void passArguments(CallBase &call, const CallBase *origin) const;

  const DataLayout &layout_;
  BasicBlock *block_;
  const EnzInstInfo &info_;
  Type *type_;
  SmallVector<Value *, 8> ops_;
  SmallVector<BasicBlock *, 4> targets_;
  SmallVector<int, 8> indices_;
  const EnzValue *cases_;
};

Instruction *Maker::makeValue() {
  switch (info_.op) {
  case ENZ_OP_FNEG:
    if (!has(1) || !ops_[0]->getType()->isFPOrFPVectorTy())
      return fail("fneg needs a float");
    return UnaryOperator::CreateFNeg(ops_[0], "", block_);
  case ENZ_OP_BINARY: {
    const unsigned opcode = enz::binaryOpcode(info_.sub);
    if (!opcode || !has(2) || ops_[0]->getType() != ops_[1]->getType())
      return fail("the operands of arithmetic differ in type");
    const bool real = opcode == Instruction::FAdd || opcode == Instruction::FSub || opcode == Instruction::FMul ||
                      opcode == Instruction::FDiv || opcode == Instruction::FRem;
    Type *type = ops_[0]->getType();
    if (real ? !type->isFPOrFPVectorTy() : !type->isIntOrIntVectorTy())
      return fail("arithmetic on operands of the wrong kind");
    return BinaryOperator::Create(static_cast<Instruction::BinaryOps>(opcode), ops_[0], ops_[1], "", block_);
  }
  case ENZ_OP_CAST: {
    const auto opcode = static_cast<Instruction::CastOps>(enz::castOpcode(info_.sub));
    if (!opcode || !has(1) || !CastInst::castIsValid(opcode, ops_[0]->getType(), type_))
      return fail("a conversion between types that do not fit");
    return CastInst::Create(opcode, ops_[0], type_, "", block_);
  }
  case ENZ_OP_ICMP:
    if (!has(2) || info_.sub > 9 || ops_[0]->getType() != ops_[1]->getType() ||
        !(ops_[0]->getType()->isIntOrIntVectorTy() || ops_[0]->getType()->isPtrOrPtrVectorTy()))
      return fail("an integer comparison of operands that do not fit");
    return new ICmpInst(block_, static_cast<CmpInst::Predicate>(CmpInst::FIRST_ICMP_PREDICATE + info_.sub), ops_[0],
                        ops_[1]);
  case ENZ_OP_FCMP:
    if (!has(2) || info_.sub > 15 || ops_[0]->getType() != ops_[1]->getType() ||
        !ops_[0]->getType()->isFPOrFPVectorTy())
      return fail("a comparison of operands that are not floats of one type");
    return new FCmpInst(block_, static_cast<CmpInst::Predicate>(CmpInst::FIRST_FCMP_PREDICATE + info_.sub), ops_[0],
                        ops_[1]);
  case ENZ_OP_PHI:
    if (!type_->isFirstClassType())
      return fail("a phi of a type that has no values");
    return PHINode::Create(type_, 2, "", block_);
  case ENZ_OP_SELECT:
    if (!has(3) || SelectInst::areInvalidOperands(ops_[0], ops_[1], ops_[2]))
      return fail("a select whose operands do not fit");
    return SelectInst::Create(ops_[0], ops_[1], ops_[2], "", block_);
  case ENZ_OP_FREEZE:
    if (!has(1))
      return fail("freeze needs one operand");
    return new FreezeInst(ops_[0], "", block_);
  case ENZ_OP_GEP: {
    Type *elem = enz::un(info_.elem);
    if (ops_.empty() || !elem || !elem->isSized() || !ops_[0]->getType()->isPtrOrPtrVectorTy())
      return fail("address arithmetic without an address or with elements of no size");
    const ArrayRef<Value *> path = ArrayRef<Value *>(ops_).drop_front();
    for (Value *index : path)
      if (!index->getType()->isIntOrIntVectorTy())
        return fail("an index that is not an integer");
    if (!GetElementPtrInst::getIndexedType(elem, path))
      return fail("indices that leave the type");
    return GetElementPtrInst::Create(elem, ops_[0], path, "", block_);
  }
  default:
    return fail("not an operation on values");
  }
}

Instruction *Maker::makeMemory() {
  switch (info_.op) {
  case ENZ_OP_ALLOCA: {
    Type *elem = enz::un(info_.elem);
    if (!has(1) || !elem || !elem->isSized() || !ops_[0]->getType()->isIntegerTy())
      return fail("a stack slot of no size");
    return new AllocaInst(elem, layout_.getAllocaAddrSpace(), ops_[0], align(elem), "", block_);
  }
  case ENZ_OP_LOAD: {
    if (!has(1) || !isPointer(0) || !type_->isFirstClassType() || !type_->isSized())
      return fail("a load that is not from an address, or of no size");
    auto *load = new LoadInst(type_, ops_[0], "", info_.volatile_, align(type_), block_);
    load->setOrdering(ordering(info_.ordering));
    return load;
  }
  case ENZ_OP_STORE: {
    if (!has(2) || !isPointer(1) || !ops_[0]->getType()->isSized())
      return fail("a store that is not to an address, or of no size");
    auto *store = new StoreInst(ops_[0], ops_[1], info_.volatile_, align(ops_[0]->getType()), block_);
    store->setOrdering(ordering(info_.ordering));
    return store;
  }
  case ENZ_OP_FENCE:
    if (info_.ordering < 3)
      return fail("a fence of too weak an ordering");
    return new FenceInst(block_->getContext(), ordering(info_.ordering), SyncScope::System, block_);
  case ENZ_OP_CMPXCHG: {
    if (!has(3) || !isPointer(0) || ops_[1]->getType() != ops_[2]->getType() || info_.ordering < 2 ||
        info_.failure < 2 || info_.failure == 4 || info_.failure == 5)
      return fail("an atomic exchange whose operands or orderings do not fit");
    auto *made = new AtomicCmpXchgInst(ops_[0], ops_[1], ops_[2], align(ops_[1]->getType()), ordering(info_.ordering),
                                       ordering(info_.failure), SyncScope::System, block_);
    made->setWeak(info_.weak);
    made->setVolatile(info_.volatile_);
    return made;
  }
  case ENZ_OP_RMW: {
    if (!has(2) || !isPointer(0) || info_.sub >= std::size(kRmw) || info_.ordering < 2)
      return fail("an atomic update whose operands or ordering do not fit");
    auto *made = new AtomicRMWInst(kRmw[info_.sub], ops_[0], ops_[1], align(ops_[1]->getType()),
                                   ordering(info_.ordering), SyncScope::System, block_);
    made->setVolatile(info_.volatile_);
    return made;
  }
  case ENZ_OP_VAARG:
    if (!has(1) || !isPointer(0))
      return fail("va_arg needs an address");
    return new VAArgInst(ops_[0], type_, "", block_);
  default:
    return fail("not an operation on memory");
  }
}

Instruction *Maker::makeVector() {
  SmallVector<unsigned, 4> path(indices_.begin(), indices_.end());
  switch (info_.op) {
  case ENZ_OP_EXTRACT_ELEMENT:
    if (!has(2) || !ExtractElementInst::isValidOperands(ops_[0], ops_[1]))
      return fail("extractelement of operands that do not fit");
    return ExtractElementInst::Create(ops_[0], ops_[1], "", block_);
  case ENZ_OP_INSERT_ELEMENT:
    if (!has(3) || !InsertElementInst::isValidOperands(ops_[0], ops_[1], ops_[2]))
      return fail("insertelement of operands that do not fit");
    return InsertElementInst::Create(ops_[0], ops_[1], ops_[2], "", block_);
  case ENZ_OP_SHUFFLE:
    if (!has(2) || !ShuffleVectorInst::isValidOperands(ops_[0], ops_[1], indices_))
      return fail("shufflevector of operands that do not fit");
    return new ShuffleVectorInst(ops_[0], ops_[1], indices_, "", block_);
  case ENZ_OP_EXTRACT_VALUE:
    if (!has(1) || path.empty() || !ExtractValueInst::getIndexedType(ops_[0]->getType(), path))
      return fail("extractvalue of a field that does not exist");
    return ExtractValueInst::Create(ops_[0], path, "", block_);
  case ENZ_OP_INSERT_VALUE:
    if (!has(2) || path.empty() || ExtractValueInst::getIndexedType(ops_[0]->getType(), path) != ops_[1]->getType())
      return fail("insertvalue into a field that does not exist or has another type");
    return InsertValueInst::Create(ops_[0], ops_[1], path, "", block_);
  default:
    return fail("not an operation on vectors or aggregates");
  }
}

Instruction *Maker::makeTerminator() {
  LLVMContext &context = block_->getContext();
  switch (info_.op) {
  case ENZ_OP_RET:
    if (ops_.size() > 1)
      return fail("a return of several values");
    return ReturnInst::Create(context, ops_.empty() ? nullptr : ops_[0], block_);
  case ENZ_OP_BR:
    if (!has(0, 1))
      return fail("a branch without target");
    return BranchInst::Create(targets_[0], block_);
  case ENZ_OP_COND_BR:
    if (!has(1, 2) || !ops_[0]->getType()->isIntegerTy(1))
      return fail("a conditional branch without condition");
    return BranchInst::Create(targets_[0], targets_[1], ops_[0], block_);
  case ENZ_OP_SWITCH: {
    if (!has(1, info_.sub + 1) || !ops_[0]->getType()->isIntegerTy())
      return fail("a switch on something that is not an integer");
    auto *choice = SwitchInst::Create(ops_[0], targets_[0], info_.sub, block_);
    for (uint32_t i = 0; i < info_.sub; ++i) {
      auto *value = enz::as<ConstantInt>(cases_[i]);
      if (!value || value->getType() != ops_[0]->getType()) {
        choice->eraseFromParent();
        return fail("a case of another type than the switch");
      }
      choice->addCase(value, targets_[i + 1]);
    }
    return choice;
  }
  case ENZ_OP_INDIRECT_BR: {
    if (ops_.size() != 1 || !isPointer(0))
      return fail("an indirect branch without address");
    auto *branch = IndirectBrInst::Create(ops_[0], static_cast<unsigned>(targets_.size()), block_);
    for (BasicBlock *target : targets_)
      branch->addDestination(target);
    return branch;
  }
  case ENZ_OP_RESUME:
    if (!has(1))
      return fail("resume needs one operand");
    return ResumeInst::Create(ops_[0], block_);
  case ENZ_OP_UNREACHABLE:
    return new UnreachableInst(context, block_);
  default:
    return fail("not a terminator");
  }
}

Instruction *Maker::makePad() {
  const size_t handlers = targets_.size() - (info_.cleanup && !targets_.empty() ? 1 : 0);
  switch (info_.op) {
  case ENZ_OP_LANDING_PAD: {
    if (ops_.size() != indices_.size())
      return fail("a landing pad with clauses of no kind");
    auto *pad = LandingPadInst::Create(type_, static_cast<unsigned>(ops_.size()), "", block_);
    pad->setCleanup(info_.cleanup);
    for (size_t i = 0; i < ops_.size(); ++i) {
      auto *clause = dyn_cast<Constant>(ops_[i]);
      if (!clause || clause->getType()->isArrayTy() != (indices_[i] == 1)) {
        pad->eraseFromParent();
        return fail("a landing pad with a clause of the wrong kind");
      }
      pad->addClause(clause);
    }
    return pad;
  }
  case ENZ_OP_CLEANUP_PAD:
    if (ops_.empty() || !ops_[0]->getType()->isTokenTy())
      return fail("a pad without parent");
    return CleanupPadInst::Create(ops_[0], ArrayRef<Value *>(ops_).drop_front(), "", block_);
  case ENZ_OP_CATCH_PAD:
    if (ops_.empty() || !isa<CatchSwitchInst>(ops_[0]))
      return fail("a catch pad without catch switch");
    return CatchPadInst::Create(ops_[0], ArrayRef<Value *>(ops_).drop_front(), "", block_);
  case ENZ_OP_CLEANUP_RET:
    if (ops_.size() != 1 || !isa<CleanupPadInst>(ops_[0]))
      return fail("a cleanup return without pad");
    return CleanupReturnInst::Create(ops_[0], targets_.empty() ? nullptr : targets_[0], block_);
  case ENZ_OP_CATCH_RET:
    if (!has(1, 1) || !isa<CatchPadInst>(ops_[0]))
      return fail("a catch return without pad");
    return CatchReturnInst::Create(ops_[0], targets_[0], block_);
  case ENZ_OP_CATCH_SWITCH: {
    if (ops_.size() != 1 || !ops_[0]->getType()->isTokenTy() || handlers == 0)
      return fail("a catch switch without handlers");
    auto *choice = CatchSwitchInst::Create(ops_[0], info_.cleanup ? targets_.back() : nullptr,
                                           static_cast<unsigned>(handlers), "", block_);
    for (size_t i = 0; i < handlers; ++i)
      choice->addHandler(targets_[i]);
    return choice;
  }
  default:
    return fail("not a pad");
  }
}

// Operands after the arguments belong to bundles, whose tags only the original knows.
const char *Maker::takeBundles(const CallBase *origin, SmallVectorImpl<OperandBundleDef> &bundles) const {
  size_t next = info_.num_args + 1;
  for (unsigned i = 0; origin && i < origin->getNumOperandBundles(); ++i) {
    const OperandBundleUse bundle = origin->getOperandBundleAt(i);
    if (next + bundle.Inputs.size() > ops_.size())
      break;
    bundles.emplace_back(bundle.getTagName().str(),
                         ArrayRef<Value *>(ops_.begin() + next, ops_.begin() + next + bundle.Inputs.size()));
    next += bundle.Inputs.size();
  }
  return next == ops_.size() ? nullptr : "a call with operand bundles, which only a copy of the original can have";
}

// By-value and result memory are part of how a call passes its arguments: the original's attributes where the callee is
// the same, else what the callee's declaration says.
void Maker::passArguments(CallBase &call, const CallBase *origin) const {
  call.setCallingConv(info_.conv);
  if (origin && sameCallee(*origin, call.getCalledOperand()) && origin->getFunctionType() == call.getFunctionType()) {
    call.setAttributes(origin->getAttributes());
    return;
  }
  auto *callee = dyn_cast<Function>(call.getCalledOperand());
  if (!callee || callee->getFunctionType() != call.getFunctionType())
    return;
  LLVMContext &context = block_->getContext();
  for (unsigned i = 0; i < callee->arg_size(); ++i) {
    const AttributeSet of = callee->getAttributes().getParamAttrs(i);
    AttrBuilder kept(context);
    for (Attribute::AttrKind kind : {Attribute::ByVal, Attribute::StructRet, Attribute::InReg, Attribute::ZExt,
                                     Attribute::SExt, Attribute::Alignment, Attribute::Nest, Attribute::InAlloca})
      if (of.hasAttribute(kind) && !(kind == Attribute::Alignment && !of.hasAttribute(Attribute::ByVal)))
        kept.addAttribute(of.getAttribute(kind));
    call.setAttributes(call.getAttributes().addParamAttributes(context, i, kept));
  }
}

Instruction *Maker::makeCall(const CallBase *origin) {
  auto *type = dyn_cast_or_null<FunctionType>(enz::un(info_.elem));
  const size_t n = info_.num_args;
  if (!type || ops_.empty() || !isPointer(0) || ops_.size() < n + 1)
    return fail("a call without callee");
  SmallVector<OperandBundleDef, 1> bundles;
  if (const char *why = takeBundles(origin, bundles))
    return fail(why);
  if (n < type->getNumParams() || (n > type->getNumParams() && !type->isVarArg()))
    return fail("a call with the wrong number of arguments");
  for (size_t i = 0; i < type->getNumParams(); ++i)
    if (ops_[i + 1]->getType() != type->getParamType(static_cast<unsigned>(i)))
      return fail("a call with an argument of the wrong type");
  const ArrayRef<Value *> args(ops_.begin() + 1, ops_.begin() + 1 + n);
  CallBase *call = nullptr;
  if (info_.op == ENZ_OP_INVOKE) {
    if (targets_.size() != 2)
      return fail("an invoke without its two targets");
    call = InvokeInst::Create(type, ops_[0], targets_[0], targets_[1], args, bundles, "", block_);
  } else if (info_.op == ENZ_OP_CALL_BR) {
    if (targets_.empty())
      return fail("an asm goto without targets");
    call = CallBrInst::Create(type, ops_[0], targets_[0], ArrayRef<BasicBlock *>(targets_).drop_front(), args, bundles,
                              "", block_);
  } else {
    call = CallInst::Create(type, ops_[0], args, bundles, "", block_);
  }
  passArguments(*call, origin);
  // What is not `free` in the list of deferred frees: a derivative of a derivative can't follow it.
  if (!origin && !isa<Constant>(ops_[0]) && block_->getParent()->getName().starts_with("enzyme.rt.release"))
    call->addFnAttr(Attribute::get(block_->getContext(), enz::kFallback));
  return call;
}

Instruction *Maker::make(Instruction *origin) {
  switch (info_.op) {
  case ENZ_OP_FNEG:
  case ENZ_OP_BINARY:
  case ENZ_OP_CAST:
  case ENZ_OP_ICMP:
  case ENZ_OP_FCMP:
  case ENZ_OP_PHI:
  case ENZ_OP_SELECT:
  case ENZ_OP_FREEZE:
  case ENZ_OP_GEP:
    return makeValue();
  case ENZ_OP_ALLOCA:
  case ENZ_OP_LOAD:
  case ENZ_OP_STORE:
  case ENZ_OP_FENCE:
  case ENZ_OP_CMPXCHG:
  case ENZ_OP_RMW:
  case ENZ_OP_VAARG:
    return makeMemory();
  case ENZ_OP_EXTRACT_ELEMENT:
  case ENZ_OP_INSERT_ELEMENT:
  case ENZ_OP_SHUFFLE:
  case ENZ_OP_EXTRACT_VALUE:
  case ENZ_OP_INSERT_VALUE:
    return makeVector();
  case ENZ_OP_LANDING_PAD:
  case ENZ_OP_CLEANUP_PAD:
  case ENZ_OP_CATCH_PAD:
  case ENZ_OP_CLEANUP_RET:
  case ENZ_OP_CATCH_RET:
  case ENZ_OP_CATCH_SWITCH:
    return makePad();
  case ENZ_OP_CALL:
  case ENZ_OP_INVOKE:
  case ENZ_OP_CALL_BR:
    return makeCall(dyn_cast_or_null<CallBase>(origin));
  default:
    return makeTerminator();
  }
}

// A copy with other operands, or null if the origin is another operation by now.
Instruction *Maker::copy(Instruction &origin) {
  EnzInstInfo was;
  enz_inst_info(enz::in(static_cast<Value *>(&origin)), &was);
  if (was.op != info_.op || was.sub != info_.sub || was.type != info_.type || was.elem != info_.elem ||
      was.num_operands != ops_.size() || was.num_args != info_.num_args || was.num_indices != indices_.size())
    return nullptr;
  if (isa<PHINode>(origin) || origin.isTerminator() || origin.isEHPad())
    return nullptr;
  SmallVector<EnzValue, 8> old(was.num_operands);
  enz_inst_operands(enz::in(static_cast<Value *>(&origin)), old.data());
  for (size_t i = 0; i < ops_.size(); ++i)
    if (enz::un(old[i])->getType() != ops_[i]->getType())
      return nullptr;
  SmallVector<int32_t, 8> path(was.num_indices);
  enz_inst_indices(enz::in(static_cast<Value *>(&origin)), path.data());
  if (!std::equal(path.begin(), path.end(), indices_.begin()))
    return nullptr;
  auto *was_call = dyn_cast<CallBase>(&origin);
  if (was_call && !sameCallee(*was_call, ops_[0]))
    return nullptr;
  Instruction *made = origin.clone();
  if (auto *call = dyn_cast<CallBase>(made)) {
    call->setCalledOperand(ops_[0]);
    for (unsigned i = 0; i < call->arg_size(); ++i)
      call->setArgOperand(i, ops_[i + 1]);
    size_t next = 1 + call->arg_size();
    for (unsigned i = 0; i < call->getNumOperandBundles(); ++i) {
      const OperandBundleUse bundle = call->getOperandBundleAt(i);
      for (const Use &use : bundle.Inputs)
        const_cast<Use &>(use).set(ops_[next++]);
    }
  } else {
    for (unsigned i = 0; i < ops_.size(); ++i)
      made->setOperand(i, ops_[i]);
  }
  made->insertInto(block_, block_->end());
  made->setDebugLoc(DebugLoc());
  made->dropDbgRecords();
  for (unsigned kind : {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias, LLVMContext::MD_access_group,
                        LLVMContext::MD_DIAssignID, LLVMContext::MD_mem_parallel_loop_access})
    made->setMetadata(kind, nullptr);
  return made;
}

void Maker::setFlags(Instruction &inst) {
  if (isa<FPMathOperator>(inst)) {
    FastMathFlags flags;
    flags.setAllowReassoc(info_.fast & 1);
    flags.setNoNaNs(info_.fast & 2);
    flags.setNoInfs(info_.fast & 4);
    flags.setNoSignedZeros(info_.fast & 8);
    flags.setAllowReciprocal(info_.fast & 16);
    flags.setAllowContract(info_.fast & 32);
    flags.setApproxFunc(info_.fast & 64);
    inst.copyFastMathFlags(flags);
  }
  if (isa<OverflowingBinaryOperator>(inst) || isa<TruncInst>(inst)) {
    inst.setHasNoUnsignedWrap(info_.ints & 1);
    inst.setHasNoSignedWrap(info_.ints & 2);
  }
  if (isa<PossiblyExactOperator>(inst))
    inst.setIsExact(info_.ints & 4);
  if (auto *disjoint = dyn_cast<PossiblyDisjointInst>(&inst))
    disjoint->setIsDisjoint(info_.ints & 8);
  if (isa<PossiblyNonNegInst>(inst))
    inst.setNonNeg(info_.ints & 16);
  if (auto *compare = dyn_cast<ICmpInst>(&inst))
    compare->setSameSign(info_.ints & 32);
  if (auto *gep = dyn_cast<GetElementPtrInst>(&inst)) {
    GEPNoWrapFlags flags = GEPNoWrapFlags::none();
    if (info_.gep & 1)
      flags |= GEPNoWrapFlags::inBounds();
    if (info_.gep & 2)
      flags |= GEPNoWrapFlags::noUnsignedSignedWrap();
    if (info_.gep & 4)
      flags |= GEPNoWrapFlags::noUnsignedWrap();
    gep->setNoWrapFlags(flags);
  }
  if (auto *load = dyn_cast<LoadInst>(&inst))
    load->setAlignment(align(load->getType()));
  if (auto *store = dyn_cast<StoreInst>(&inst))
    store->setAlignment(align(store->getValueOperand()->getType()));
  // A generated caller owns stack memory that the original did not: it promises nothing about tails.
  if (auto *call = dyn_cast<CallInst>(&inst))
    call->setTailCallKind(info_.tail == 3 ? CallInst::TCK_NoTail : CallInst::TCK_None);
}

} // namespace

EnzValue enz_build(EnzBuilder *builder, EnzBlock raw, const EnzInstInfo *info, const EnzValue *operands,
                   const EnzBlock *targets, const int32_t *indices, const EnzValue *cases, EnzValue origin,
                   EnzTextSink error, void *context) {
  BasicBlock *block = enz::un(raw);
  Maker maker(*builder, block, *info, operands, targets, indices, cases);
  auto *original = enz::as<Instruction>(origin);
  Instruction *made = original ? maker.copy(*original) : nullptr;
  if (!made)
    made = maker.make(original);
  if (made && made->getType() != enz::un(info->type)) {
    made->eraseFromParent();
    made = nullptr;
    maker.problem = "the result has another type than the operation gives";
  }
  if (!made) {
    enz::SinkStream out(error, context);
    *out << (maker.problem ? maker.problem : "a malformed instruction");
    return nullptr;
  }
  maker.setFlags(*made);
  if (!made->getType()->isVoidTy() && info->name.len)
    made->setName(enz::text(info->name));
  builder->classify(*made, info->mem);
  return enz::in(static_cast<Value *>(made));
}

uint8_t enz_phi_add(EnzValue raw, EnzValue value, EnzBlock block) {
  auto *phi = enz::as<PHINode>(raw);
  if (!phi || phi->getType() != enz::un(value)->getType())
    return 0;
  phi->addIncoming(enz::un(value), enz::un(block));
  return 1;
}
