// What bytes are, where metadata says so: TBAA on accesses and copies, and debug information of pointer parameters.
//
// Names of TBAA types are those that clang and flang write; a name that is not known states nothing, and `char`, which
// may alias everything, states nothing either.

#include "support.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace {

// Fields beyond this many are not looked at.
constexpr size_t kRunLimit = 256;

struct Bytes {
  uint32_t kind;
  uint32_t float_kind;
};

std::optional<Bytes> named(StringRef name, const Triple &target) {
  if (name == "double")
    return Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_DOUBLE};
  if (name == "float")
    return Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_FLOAT};
  if (name == "_Float16" || name == "half")
    return Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_HALF};
  if (name == "__bf16")
    return Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_BFLOAT};
  if (name == "__float128" || name == "_Float128")
    return Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_FP128};
  if (name == "long double" && target.isX86() && !target.isWindowsMSVCEnvironment() && !target.isAndroid())
    return Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_X86};
  if (name == "any pointer" || name == "vtable pointer" || name.starts_with("p1 ") || name.starts_with("p2 ") ||
      name.starts_with("p3 ") || name.starts_with("p4 "))
    return Bytes{ENZ_BYTE_POINTER, 0};
  for (StringRef integer :
       {"int", "long", "short", "long long", "bool", "_Bool", "__int128", "wchar_t", "char16_t", "char32_t"})
    if (name == integer)
      return Bytes{ENZ_BYTE_INTEGER, 0};
  return std::nullopt;
}

// The scalar type of an access, from a tag in path form or in the older scalar form.
std::optional<Bytes> accessed(const MDNode *tag, const Triple &target) {
  if (!tag || tag->getNumOperands() < 2)
    return std::nullopt;
  const MDNode *type =
      isa_and_nonnull<MDNode>(tag->getOperand(0).get()) ? dyn_cast_or_null<MDNode>(tag->getOperand(1).get()) : tag;
  if (!type || type->getNumOperands() == 0)
    return std::nullopt;
  const auto *name = dyn_cast_or_null<MDString>(type->getOperand(0).get());
  return name ? named(name->getString(), target) : std::nullopt;
}

class Reporter {
public:
  Reporter(EnzOpaqueHost &host, const EnzFactSink *sink)
      : layout_(host.module->getDataLayout()), target_(host.module->getTargetTriple()), sink_(sink) {}

  void access(Instruction &inst, Type *type) {
    const auto bytes = accessed(inst.getMetadata(LLVMContext::MD_tbaa), target_);
    const TypeSize size = layout_.getTypeStoreSize(type);
    if (bytes && !size.isScalable())
      run(&inst, 0, *bytes, 0, size.getFixedValue());
  }

  void copy(AnyMemTransferInst &inst) {
    const auto *length = dyn_cast<ConstantInt>(inst.getLength());
    if (const MDNode *tag = inst.getMetadata(LLVMContext::MD_tbaa); tag && length) {
      if (const auto bytes = accessed(tag, target_))
        run(&inst, 0, *bytes, 0, length->getZExtValue());
      return;
    }
    const MDNode *fields = inst.getMetadata(LLVMContext::MD_tbaa_struct);
    for (unsigned i = 0; fields && i + 2 < fields->getNumOperands() && i < 3 * kRunLimit; i += 3) {
      const auto *offset = mdconst::dyn_extract_or_null<ConstantInt>(fields->getOperand(i));
      const auto *size = mdconst::dyn_extract_or_null<ConstantInt>(fields->getOperand(i + 1));
      const auto bytes = accessed(dyn_cast_or_null<MDNode>(fields->getOperand(i + 2).get()), target_);
      if (offset && size && bytes)
        run(&inst, 0, *bytes, offset->getZExtValue(), size->getZExtValue());
    }
  }

  void params(Function &function) {
    const DISubprogram *program = function.getSubprogram();
    const DISubroutineType *signature = program ? program->getType() : nullptr;
    if (!signature)
      return;
    const DITypeRefArray types = signature->getTypeArray();
    const unsigned skipped = function.hasStructRetAttr() ? 1 : 0;
    if (types.size() != function.arg_size() + 1 - skipped)
      return;
    // Where the calling convention took parameters apart, the source's do not match the function's.
    for (unsigned i = 1; i < types.size(); ++i) {
      const Argument *arg = function.getArg(i - 1 + skipped);
      if (isPointer(strip(types[i])) != (arg->getType()->isPointerTy() && !arg->hasByValAttr()))
        return;
    }
    for (unsigned i = 1; i < types.size(); ++i) {
      const auto *pointer = dyn_cast_or_null<DIDerivedType>(strip(types[i]));
      const DIType *pointee = pointer ? strip(pointer->getBaseType()) : nullptr;
      if (!pointee)
        continue;
      runs_.clear();
      const uint64_t size = pointee->getSizeInBits() / 8;
      if (size == 0 || !collect(pointee, 0) || runs_.empty() || runs_.size() > kRunLimit)
        continue;
      const uint64_t end = runs_.back().offset + runs_.back().size;
      if (end < size)
        runs_.push_back({Bytes{ENZ_BYTE_INTEGER, 0}, end, size - end});
      const bool isAlone = isObject(*pointer);
      for (const Run &r : runs_)
        run(nullptr, i - 1 + skipped, r.bytes, r.offset, r.size, isAlone);
    }
  }

private:
  struct Run {
    Bytes bytes;
    uint64_t offset;
    uint64_t size;
  };

  static const DIType *strip(const DIType *type) {
    while (const auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
      switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
        type = derived->getBaseType();
        continue;
      default:
        return type;
      }
    }
    return type;
  }

  static bool isPointer(const DIType *type) {
    if (!type)
      return false;
    return type->getTag() == dwarf::DW_TAG_pointer_type || type->getTag() == dwarf::DW_TAG_reference_type ||
           type->getTag() == dwarf::DW_TAG_rvalue_reference_type;
  }

  // Whether no array is meant: a reference, or the object of a member function.
  static bool isObject(const DIDerivedType &pointer) {
    return pointer.getTag() != dwarf::DW_TAG_pointer_type || pointer.isArtificial() || pointer.isObjectPointer();
  }

  // Appends the runs of a type; false if some bytes of it are not known.
  bool collect(const DIType *type, uint64_t offset) {
    type = strip(type);
    if (!type || runs_.size() > kRunLimit)
      return false;
    const uint64_t size = type->getSizeInBits() / 8;
    if (isPointer(type)) {
      runs_.push_back({Bytes{ENZ_BYTE_POINTER, 0}, offset, size});
      return true;
    }
    if (const auto *basic = dyn_cast<DIBasicType>(type))
      return collectBasic(*basic, offset, size);
    const auto *composite = dyn_cast<DICompositeType>(type);
    if (!composite)
      return false;
    switch (composite->getTag()) {
    case dwarf::DW_TAG_enumeration_type:
      runs_.push_back({Bytes{ENZ_BYTE_INTEGER, 0}, offset, size});
      return true;
    case dwarf::DW_TAG_structure_type:
    case dwarf::DW_TAG_class_type:
      return collectFields(*composite, offset);
    case dwarf::DW_TAG_array_type: {
      const DIType *elem = strip(composite->getBaseType());
      const uint64_t step = elem ? elem->getSizeInBits() / 8 : 0;
      if (composite->isVector() || step == 0 || size / step > kRunLimit)
        return false;
      for (uint64_t at = 0; at + step <= size; at += step)
        if (!collect(elem, offset + at))
          return false;
      return true;
    }
    default:
      return false;
    }
  }

  bool collectFields(const DICompositeType &structure, uint64_t offset) {
    for (const DINode *element : structure.getElements()) {
      const auto *member = dyn_cast_or_null<DIDerivedType>(element);
      if (!member || member->isStaticMember())
        continue;
      if (member->isBitField() ||
          (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance))
        return false;
      if (!collect(member->getBaseType(), offset + member->getOffsetInBits() / 8))
        return false;
    }
    return true;
  }

  bool collectBasic(const DIBasicType &basic, uint64_t offset, uint64_t size) {
    switch (basic.getEncoding()) {
    case dwarf::DW_ATE_float: {
      std::optional<Bytes> bytes = named(basic.getName(), target_);
      if (!bytes && size == 8)
        bytes = Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_DOUBLE};
      if (!bytes && size == 4)
        bytes = Bytes{ENZ_BYTE_FLOAT, ENZ_FLOAT_FLOAT};
      if (!bytes || bytes->kind != ENZ_BYTE_FLOAT)
        return false;
      runs_.push_back({*bytes, offset, size});
      return true;
    }
    case dwarf::DW_ATE_signed:
    case dwarf::DW_ATE_unsigned:
    case dwarf::DW_ATE_boolean:
      runs_.push_back({Bytes{ENZ_BYTE_INTEGER, 0}, offset, size});
      return true;
    default:
      return false;
    }
  }

  void run(Instruction *inst, unsigned param, Bytes bytes, uint64_t offset, uint64_t size, bool isAlone = false) {
    sink_->byte_run(sink_->context, EnzByteRun{enz::in(static_cast<Value *>(inst)), param, bytes.kind, bytes.float_kind,
                                               static_cast<uint8_t>(isAlone), offset, size});
  }

  const DataLayout &layout_;
  const Triple &target_;
  const EnzFactSink *sink_;
  SmallVector<Run, 16> runs_;
};

} // namespace

void enz_type_facts(EnzHost host, EnzValue raw, const EnzFactSink *sink) {
  auto *function = enz::as<Function>(raw);
  Reporter reporter(*host, sink);
  reporter.params(*function);
  for (BasicBlock &block : *function)
    for (Instruction &inst : block) {
      if (auto *load = dyn_cast<LoadInst>(&inst))
        reporter.access(inst, load->getType());
      else if (auto *store = dyn_cast<StoreInst>(&inst))
        reporter.access(inst, store->getValueOperand()->getType());
      else if (auto *copy = dyn_cast<AnyMemTransferInst>(&inst))
        reporter.copy(*copy);
    }
}
