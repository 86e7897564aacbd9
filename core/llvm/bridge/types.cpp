// Types, described and made.

#include "support.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace enz {

const fltSemantics *semantics(uint32_t kind) {
  switch (kind) {
  case ENZ_FLOAT_HALF:
    return &APFloat::IEEEhalf();
  case ENZ_FLOAT_BFLOAT:
    return &APFloat::BFloat();
  case ENZ_FLOAT_FLOAT:
    return &APFloat::IEEEsingle();
  case ENZ_FLOAT_DOUBLE:
    return &APFloat::IEEEdouble();
  case ENZ_FLOAT_X86:
    return &APFloat::x87DoubleExtended();
  case ENZ_FLOAT_FP128:
    return &APFloat::IEEEquad();
  case ENZ_FLOAT_PPC:
    return &APFloat::PPCDoubleDouble();
  default:
    return nullptr;
  }
}

uint32_t floatNumber(const Type *type) {
  switch (type->getTypeID()) {
  case Type::HalfTyID:
    return ENZ_FLOAT_HALF;
  case Type::BFloatTyID:
    return ENZ_FLOAT_BFLOAT;
  case Type::FloatTyID:
    return ENZ_FLOAT_FLOAT;
  case Type::DoubleTyID:
    return ENZ_FLOAT_DOUBLE;
  case Type::X86_FP80TyID:
    return ENZ_FLOAT_X86;
  case Type::FP128TyID:
    return ENZ_FLOAT_FP128;
  case Type::PPC_FP128TyID:
    return ENZ_FLOAT_PPC;
  default:
    return kUnknown;
  }
}

} // namespace enz

void enz_type_info(EnzType raw, EnzTypeInfo *out) {
  Type *type = enz::un(raw);
  *out = EnzTypeInfo{};
  switch (type->getTypeID()) {
  case Type::VoidTyID:
    out->kind = ENZ_TYPE_VOID;
    return;
  case Type::IntegerTyID:
    out->kind = ENZ_TYPE_INT;
    out->bits = type->getIntegerBitWidth();
    return;
  case Type::HalfTyID:
  case Type::BFloatTyID:
  case Type::FloatTyID:
  case Type::DoubleTyID:
  case Type::X86_FP80TyID:
  case Type::FP128TyID:
  case Type::PPC_FP128TyID:
    out->kind = ENZ_TYPE_FLOAT;
    out->bits = enz::floatNumber(type);
    return;
  case Type::PointerTyID:
    out->kind = ENZ_TYPE_PTR;
    out->bits = type->getPointerAddressSpace();
    return;
  case Type::FixedVectorTyID:
  case Type::ScalableVectorTyID: {
    auto *vector = cast<VectorType>(type);
    out->kind = ENZ_TYPE_VECTOR;
    out->count = vector->getElementCount().getKnownMinValue();
    out->scalable = vector->getElementCount().isScalable();
    out->elem = enz::in(vector->getElementType());
    return;
  }
  case Type::ArrayTyID:
    out->kind = ENZ_TYPE_ARRAY;
    out->count = type->getArrayNumElements();
    out->elem = enz::in(type->getArrayElementType());
    return;
  case Type::StructTyID: {
    auto *structure = cast<StructType>(type);
    out->kind = ENZ_TYPE_STRUCT;
    out->opaque = structure->isOpaque();
    out->count = structure->isOpaque() ? 0 : structure->getNumElements();
    out->packed = !structure->isOpaque() && structure->isPacked();
    if (structure->hasName())
      out->name = enz::text(structure->getName());
    return;
  }
  case Type::FunctionTyID: {
    auto *function = cast<FunctionType>(type);
    out->kind = ENZ_TYPE_FUNC;
    out->count = function->getNumParams();
    out->variadic = function->isVarArg();
    out->elem = enz::in(function->getReturnType());
    return;
  }
  case Type::LabelTyID:
    out->kind = ENZ_TYPE_LABEL;
    return;
  case Type::MetadataTyID:
    out->kind = ENZ_TYPE_METADATA;
    return;
  case Type::TokenTyID:
    out->kind = ENZ_TYPE_TOKEN;
    return;
  case Type::X86_AMXTyID:
    out->kind = ENZ_TYPE_AMX;
    return;
  case Type::TargetExtTyID: {
    auto *target = cast<TargetExtType>(type);
    out->kind = ENZ_TYPE_TARGET;
    out->name = enz::text(target->getName());
    out->count = target->getNumTypeParameters();
    out->ints = target->getNumIntParameters();
    return;
  }
  default:
    out->kind = ENZ_TYPE_OTHER;
    return;
  }
}

EnzType enz_type_part(EnzType raw, uint32_t index) {
  Type *type = enz::un(raw);
  if (auto *structure = dyn_cast<StructType>(type))
    return enz::in(structure->getElementType(index));
  if (auto *function = dyn_cast<FunctionType>(type))
    return enz::in(function->getParamType(index));
  if (auto *target = dyn_cast<TargetExtType>(type))
    return enz::in(target->getTypeParameter(index));
  return nullptr;
}

uint32_t enz_type_int(EnzType raw, uint32_t index) {
  auto *target = dyn_cast<TargetExtType>(enz::un(raw));
  return target && index < target->getNumIntParameters() ? target->getIntParameter(index) : 0;
}

static Type *floatType(LLVMContext &context, uint32_t kind) {
  const fltSemantics *semantics = enz::semantics(kind);
  return semantics ? Type::getFloatingPointTy(context, *semantics) : nullptr;
}

static Type *structType(LLVMContext &context, const EnzTypeInfo &info, ArrayRef<Type *> parts) {
  for (Type *part : parts)
    if (!StructType::isValidElementType(part))
      return nullptr;
  if (info.name.len == 0)
    return info.opaque ? nullptr : StructType::get(context, parts, info.packed);
  StructType *named = StructType::getTypeByName(context, enz::text(info.name));
  if (!named)
    named = StructType::create(context, enz::text(info.name));
  if (named->isOpaque() && !info.opaque) {
    Error error = named->setBodyOrError(parts, info.packed);
    if (error) {
      consumeError(std::move(error));
      return nullptr;
    }
  }
  return named;
}

EnzType enz_type_make(EnzHost host, const EnzTypeInfo *info, const EnzType *raw, const uint32_t *ints) {
  LLVMContext &context = host->module->getContext();
  ArrayRef<Type *> parts(
      reinterpret_cast<Type *const *>(raw),
      info->kind == ENZ_TYPE_STRUCT || info->kind == ENZ_TYPE_FUNC || info->kind == ENZ_TYPE_TARGET ? info->count : 0);
  Type *elem = enz::un(info->elem);
  Type *made = nullptr;
  switch (info->kind) {
  case ENZ_TYPE_VOID:
    made = Type::getVoidTy(context);
    break;
  case ENZ_TYPE_INT:
    if (info->bits >= IntegerType::MIN_INT_BITS && info->bits <= IntegerType::MAX_INT_BITS)
      made = IntegerType::get(context, info->bits);
    break;
  case ENZ_TYPE_FLOAT:
    made = floatType(context, info->bits);
    break;
  case ENZ_TYPE_PTR:
    made = PointerType::get(context, info->bits);
    break;
  case ENZ_TYPE_VECTOR:
    if (elem && VectorType::isValidElementType(elem) && info->count > 0)
      made = VectorType::get(elem, ElementCount::get(static_cast<unsigned>(info->count), info->scalable));
    break;
  case ENZ_TYPE_ARRAY:
    if (elem && ArrayType::isValidElementType(elem))
      made = ArrayType::get(elem, info->count);
    break;
  case ENZ_TYPE_STRUCT:
    made = structType(context, *info, parts);
    break;
  case ENZ_TYPE_FUNC: {
    bool valid = elem && FunctionType::isValidReturnType(elem);
    for (Type *part : parts)
      valid = valid && FunctionType::isValidArgumentType(part);
    if (valid)
      made = FunctionType::get(elem, parts, info->variadic);
    break;
  }
  case ENZ_TYPE_LABEL:
    made = Type::getLabelTy(context);
    break;
  case ENZ_TYPE_METADATA:
    made = Type::getMetadataTy(context);
    break;
  case ENZ_TYPE_TOKEN:
    made = Type::getTokenTy(context);
    break;
  case ENZ_TYPE_AMX:
    made = Type::getX86_AMXTy(context);
    break;
  case ENZ_TYPE_TARGET: {
    auto target =
        TargetExtType::getOrError(context, enz::text(info->name), parts, ArrayRef<unsigned>(ints, info->ints));
    if (target)
      made = *target;
    else
      consumeError(target.takeError());
    break;
  }
  default:
    break;
  }
  return enz::in(made);
}

EnzType enz_value_type(EnzValue value) { return enz::in(enz::un(value)->getType()); }
