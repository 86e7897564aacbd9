// What members of structures are. In which a program keeps its functions: tables of methods as C has them, where
// `v->ops->norm` is never what `v->ops->scale` is, though both have one type.
//
// A member is named by its structure and its offset in the innermost structure that has it, as the tags of type-based
// alias analysis say or, where there are none, the types of address computations: so a structure that is copied, or is
// a part of a larger one, has the members that it had. Where a function is put by a store or in the initial value of a
// variable it is kept; a member that is read to be put into another one gives what it has to that; one whose value goes
// anywhere else gives its functions to all calls; one to which comes what is unknown may have any function. (A
// flow-insensitive, field-based analysis: Heintze and Tardieu, *Ultra-fast aliasing analysis using CLA*, PLDI 2001.)
//
// What a call is not thought to reach is none of its targets here, but is still called if it is what the pointer holds;
// then a derivative ends with a message, so that nothing depends on the program keeping to its types.
//
// And which are declared as integers, in code that is not optimised, where nothing else says it: noted at each access,
// as clang does from -O1 on, but for members of unions.
//
// Not handled: members that are read without a tag (no names, no filter), tables that are arrays of pointers.

#include "members.h"
#include "support.h"

#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using enz::Field;

namespace {

// How deep structures are nested.
constexpr unsigned kDepth = 32;

// The name that C has for what clang calls `struct.name.7`, or for the tag `_ZTS4name` of C++; empty for what C has
// not.
StringRef plainName(StringRef name) {
  if (name.consume_front("_ZTS")) {
    size_t length = 0;
    return !name.consumeInteger(10, length) && length == name.size() ? name : StringRef();
  }
  if (!name.consume_front("struct.") && !name.consume_front("class."))
    return name;
  const size_t dot = name.find_last_of('.');
  unsigned number = 0;
  return dot != StringRef::npos && !name.drop_front(dot + 1).getAsInteger(10, number) ? name.take_front(dot) : name;
}

// The member that a tag of type-based alias analysis names, in the innermost structure.
std::optional<Field> taggedField(const MDNode *tag) {
  if (!tag || tag->getNumOperands() < 3)
    return std::nullopt;
  const auto *type = dyn_cast_or_null<MDNode>(tag->getOperand(0));
  const auto *access = dyn_cast_or_null<MDNode>(tag->getOperand(1));
  const auto *offset = mdconst::dyn_extract_or_null<ConstantInt>(tag->getOperand(2));
  if (!type || !access || !offset)
    return std::nullopt;
  uint64_t at = offset->getZExtValue();
  const MDNode *owner = nullptr;
  for (unsigned depth = 0; type != access; ++depth) {
    owner = type;
    const MDNode *inner = nullptr;
    uint64_t start = 0;
    for (unsigned i = 1; i + 1 < owner->getNumOperands(); i += 2) {
      const auto *begins = mdconst::dyn_extract_or_null<ConstantInt>(owner->getOperand(i + 1));
      if (begins && begins->getZExtValue() <= at) {
        inner = dyn_cast_or_null<MDNode>(owner->getOperand(i));
        start = begins->getZExtValue();
      }
    }
    if (!inner || depth > kDepth)
      return std::nullopt;
    if (inner != access)
      at -= start;
    type = inner;
  }
  const auto *name = owner ? dyn_cast_or_null<MDString>(owner->getOperand(0)) : nullptr;
  // What has a space in its name is a type of pointers: the tag is that of less than a member.
  if (!name || name->getString().contains(' '))
    return std::nullopt;
  return Field{plainName(name->getString()), static_cast<int64_t>(at)};
}

// The member that the last step to an address leads to.
std::optional<Field> typedField(const Value *address, const DataLayout &layout) {
  const auto *step = dyn_cast<GEPOperator>(address);
  if (!step)
    return std::nullopt;
  std::optional<Field> out;
  for (gep_type_iterator it = gep_type_begin(step), end = gep_type_end(step); it != end; ++it) {
    StructType *type = it.getStructTypeOrNull();
    const auto *index = dyn_cast<ConstantInt>(it.getOperand());
    out = std::nullopt;
    if (type && index && type->hasName()) {
      const TypeSize at = layout.getStructLayout(type)->getElementOffset(static_cast<unsigned>(index->getZExtValue()));
      if (!at.isScalable())
        out = Field{plainName(type->getName()), static_cast<int64_t>(at.getFixedValue())};
    }
  }
  return out;
}

// Whether an address is that of a member that is declared as an integer of this type, of no union.
bool isIntegerMember(const Value *address, const Type *type) {
  const auto *step = dyn_cast<GEPOperator>(address);
  if (!step || !type->isIntegerTy() || type->getIntegerBitWidth() < 16 || step->getResultElementType() != type)
    return false;
  bool in_structure = false;
  for (gep_type_iterator it = gep_type_begin(step), end = gep_type_end(step); it != end; ++it) {
    const StructType *owner = it.getStructTypeOrNull();
    in_structure = owner && owner->hasName() && !owner->getName().starts_with("union.");
    if (owner && !in_structure)
      return false;
  }
  return in_structure;
}

constexpr StringLiteral kMember = "enzyme.member";

std::optional<Field> notedField(const Instruction &access) {
  const MDNode *note = access.getMetadata(kMember);
  const auto *owner = note && note->getNumOperands() == 2 ? dyn_cast<MDString>(note->getOperand(0)) : nullptr;
  const auto *offset = owner ? mdconst::dyn_extract<ConstantInt>(note->getOperand(1)) : nullptr;
  return offset ? std::optional(Field{owner->getString(), offset->getSExtValue()}) : std::nullopt;
}

std::optional<Field> fieldOf(const Instruction &access, const DataLayout &layout) {
  if (auto tagged = taggedField(access.getMetadata(LLVMContext::MD_tbaa)))
    return tagged;
  if (auto noted = notedField(access))
    return noted;
  const Value *address = getLoadStorePointerOperand(&access);
  return address ? typedField(address, layout) : std::nullopt;
}

const Function *functionIn(const Value *value) { return dyn_cast<Function>(value->stripPointerCastsAndAliases()); }

} // namespace

MDNode *enz::accessTag(StringRef type, LLVMContext &context) {
  MDBuilder builder(context);
  MDNode *scalar = builder.createTBAAScalarTypeNode(type, builder.createTBAARoot(("enzyme." + type).str()));
  return builder.createTBAAStructTagNode(scalar, scalar, 0);
}

void enz::noteMembers(Function &function, bool integers) {
  LLVMContext &context = function.getContext();
  const DataLayout &layout = function.getDataLayout();
  Type *number = Type::getInt64Ty(context);
  for (Instruction &inst : instructions(function)) {
    if (!isa<LoadInst, StoreInst>(inst) || inst.hasMetadata(LLVMContext::MD_tbaa) || inst.hasMetadata(kMember))
      continue;
    const Value *address = getLoadStorePointerOperand(&inst);
    const Type *type = getLoadStoreType(&inst);
    if (isa<LoadInst>(inst) && type->isPointerTy()) {
      if (const auto at = typedField(address, layout))
        inst.setMetadata(kMember,
                         MDNode::get(context, {MDString::get(context, at->owner),
                                               ConstantAsMetadata::get(ConstantInt::getSigned(number, at->offset))}));
    } else if (integers && isIntegerMember(address, type)) {
      inst.setMetadata(LLVMContext::MD_tbaa, accessTag(type->getIntegerBitWidth() > 32 ? "long" : "int", context));
    }
  }
}

enz::FunctionFields::FunctionFields(Module &module) : layout_(module.getDataLayout()) {
  for (const GlobalVariable &global : module.globals())
    if (global.hasInitializer() && !global.getName().starts_with("llvm."))
      readInitialiser(*global.getInitializer(), nullptr);
  for (const Function &function : module)
    if (!isGenerated(function.getName()))
      for (const Instruction &inst : instructions(function))
        read(inst);
  settle();
}

bool enz::Fields::meet(const Field &field) const {
  const auto owners = owners_.find(field.offset);
  if (owners == owners_.end())
    return false;
  return field.owner.empty() || owners->second.count(StringRef()) || owners->second.count(field.owner);
}

// All functions in a constant that is not kept in a member.
void enz::FunctionFields::goesElsewhere(const Constant &constant) {
  if (const Function *function = functionIn(&constant))
    elsewhere_.insert(function);
  else if (!isa<GlobalValue>(constant) && !isa<ConstantData>(constant))
    for (const Use &part : constant.operands())
      if (const auto *inner = dyn_cast<Constant>(part))
        goesElsewhere(*inner);
}

// `at` is the member whose value this is.
void enz::FunctionFields::readInitialiser(const Constant &constant, const Field *at) {
  const Function *function = at ? functionIn(&constant) : nullptr;
  if (function) {
    kept_[function].insert(*at);
    return;
  }
  if (!isa<ConstantAggregate>(constant))
    return goesElsewhere(constant);
  const auto *fields = dyn_cast<ConstantStruct>(&constant);
  const bool named = fields && fields->getType()->hasName();
  for (unsigned i = 0; i < constant.getNumOperands(); ++i) {
    Field member;
    if (named)
      member = {plainName(fields->getType()->getName()),
                static_cast<int64_t>(layout_.getStructLayout(fields->getType())->getElementOffset(i).getFixedValue())};
    readInitialiser(*cast<Constant>(constant.getOperand(i)), named ? &member : nullptr);
  }
}

void enz::FunctionFields::read(const Instruction &inst) {
  const auto *store = dyn_cast<StoreInst>(&inst);
  const auto *call = dyn_cast<CallBase>(&inst);
  for (const Use &use : inst.operands()) {
    const auto *constant = dyn_cast<Constant>(use);
    if (!constant || (call && call->isCallee(&use)))
      continue;
    const Function *function = store ? functionIn(constant) : nullptr;
    const auto at = function ? fieldOf(inst, layout_) : std::nullopt;
    if (at)
      kept_[function].insert(*at);
    else
      goesElsewhere(*constant);
  }
  if (store && store->getValueOperand()->getType()->isPointerTy() && !isa<Constant>(store->getValueOperand())) {
    const auto to = fieldOf(inst, layout_);
    const auto *load = dyn_cast<LoadInst>(store->getValueOperand());
    const auto from = load ? fieldOf(*load, layout_) : std::nullopt;
    if (to && from)
      copied_.insert({*from, *to});
    else if (to)
      open_.insert(*to);
    else if (from)
      passed_.insert(*from);
  }
  if (const auto *load = dyn_cast<LoadInst>(&inst); load && load->getType()->isPointerTy()) {
    const auto stays = [](const Use &use) {
      const auto *called = dyn_cast<CallBase>(use.getUser());
      return isa<ICmpInst, StoreInst>(use.getUser()) || (called && called->isCallee(&use));
    };
    if (const auto from = fieldOf(inst, layout_); from && !all_of(load->uses(), stays))
      passed_.insert(*from);
  }
}

// What is read from one member to be put into another is there as well; what goes elsewhere is everywhere.
void enz::FunctionFields::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto &[from, to] : copied_) {
      for (auto &[function, places] : kept_)
        changed |= places.meet(from) && places.insert(to);
      changed |= open_.meet(from) && open_.insert(to);
    }
  }
  for (const auto &[function, places] : kept_)
    for (const Field &from : passed_)
      if (places.meet(from))
        elsewhere_.insert(function);
}

bool enz::FunctionFields::excludes(const CallBase &call, const Function &function) const {
  const auto *load = dyn_cast<LoadInst>(call.getCalledOperand());
  const auto from = load ? fieldOf(*load, layout_) : std::nullopt;
  const auto places = kept_.find(&function);
  return from && places != kept_.end() && !elsewhere_.contains(&function) && !open_.meet(*from) &&
         !places->second.meet(*from);
}
