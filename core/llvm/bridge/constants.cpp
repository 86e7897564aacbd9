// Constants, described and made. Numbers cross as bit patterns.

#include "support.h"

#include "llvm/IR/ConstantFold.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace {

struct Numbered {
  unsigned opcode;
  uint32_t number;
};

constexpr Numbered kBinary[] = {
    {Instruction::Add, 0},  {Instruction::FAdd, 1},  {Instruction::Sub, 2},   {Instruction::FSub, 3},
    {Instruction::Mul, 4},  {Instruction::FMul, 5},  {Instruction::UDiv, 6},  {Instruction::SDiv, 7},
    {Instruction::FDiv, 8}, {Instruction::URem, 9},  {Instruction::SRem, 10}, {Instruction::FRem, 11},
    {Instruction::Shl, 12}, {Instruction::LShr, 13}, {Instruction::AShr, 14}, {Instruction::And, 15},
    {Instruction::Or, 16},  {Instruction::Xor, 17},
};

constexpr Numbered kCast[] = {
    {Instruction::Trunc, 0},    {Instruction::ZExt, 1},           {Instruction::SExt, 2},
    {Instruction::FPToUI, 3},   {Instruction::FPToSI, 4},         {Instruction::UIToFP, 5},
    {Instruction::SIToFP, 6},   {Instruction::FPTrunc, 7},        {Instruction::FPExt, 8},
    {Instruction::PtrToInt, 9}, {Instruction::PtrToAddr, 10},     {Instruction::IntToPtr, 11},
    {Instruction::BitCast, 12}, {Instruction::AddrSpaceCast, 13},
};

template <size_t N> uint32_t numberOf(const Numbered (&table)[N], unsigned opcode) {
  for (const Numbered &row : table)
    if (row.opcode == opcode)
      return row.number;
  return enz::kUnknown;
}

template <size_t N> unsigned opcodeOf(const Numbered (&table)[N], uint32_t number) {
  for (const Numbered &row : table)
    if (row.number == number)
      return row.opcode;
  return 0;
}

} // namespace

namespace enz {

uint32_t binaryNumber(unsigned opcode) { return numberOf(kBinary, opcode); }
unsigned binaryOpcode(uint32_t number) { return opcodeOf(kBinary, number); }
uint32_t castNumber(unsigned opcode) { return numberOf(kCast, opcode); }
unsigned castOpcode(uint32_t number) { return opcodeOf(kCast, number); }

Value *resolve(Value *value) {
  for (int depth = 0; value && depth < 32; ++depth) {
    if (auto *alias = dyn_cast<GlobalAlias>(value)) {
      if (alias->isInterposable())
        return value;
      value = alias->getAliasee();
    } else if (auto *expr = dyn_cast<ConstantExpr>(value); expr && expr->isCast()) {
      value = expr->getOperand(0);
    } else {
      return value;
    }
  }
  return value;
}

} // namespace enz

static uint32_t gepFlags(GEPNoWrapFlags flags) {
  return (flags.isInBounds() ? 1u : 0u) | (flags.hasNoUnsignedSignedWrap() ? 2u : 0u) |
         (flags.hasNoUnsignedWrap() ? 4u : 0u);
}

static GEPNoWrapFlags gepFlags(uint32_t flags) {
  GEPNoWrapFlags out = GEPNoWrapFlags::none();
  if (flags & 1)
    out |= GEPNoWrapFlags::inBounds();
  if (flags & 2)
    out |= GEPNoWrapFlags::noUnsignedSignedWrap();
  if (flags & 4)
    out |= GEPNoWrapFlags::noUnsignedWrap();
  return out;
}

static void describeExpr(ConstantExpr *expr, EnzConstInfo *out) {
  const unsigned opcode = expr->getOpcode();
  out->kind = ENZ_CONST_EXPR;
  out->count = expr->getNumOperands();
  if (expr->isCast()) {
    out->expr = ENZ_EXPR_CAST;
    out->sub = enz::castNumber(opcode);
  } else if (Instruction::isBinaryOp(opcode)) {
    out->expr = ENZ_EXPR_BINARY;
    out->sub = enz::binaryNumber(opcode);
  } else if (auto *gep = dyn_cast<GEPOperator>(expr)) {
    out->expr = ENZ_EXPR_GEP;
    out->elem = enz::in(gep->getSourceElementType());
    out->flags = gepFlags(gep->getNoWrapFlags());
  } else if (opcode == Instruction::ExtractElement) {
    out->expr = ENZ_EXPR_EXTRACT;
  } else if (opcode == Instruction::InsertElement) {
    out->expr = ENZ_EXPR_INSERT;
  } else if (opcode == Instruction::ShuffleVector) {
    out->expr = ENZ_EXPR_SHUFFLE;
  } else {
    out->kind = ENZ_CONST_OPAQUE;
    out->count = 0;
  }
}

static void describeFloat(const APFloat &value, EnzConstInfo *out) {
  const APInt bits = value.bitcastToAPInt();
  out->bits[0] = bits.getRawData()[0];
  out->bits[1] = bits.getNumWords() > 1 ? bits.getRawData()[1] : 0;
}

void enz_const_info(EnzValue raw, EnzConstInfo *out) {
  Value *value = enz::un(raw);
  *out = EnzConstInfo{};
  out->type = enz::in(value->getType());
  out->kind = ENZ_CONST_OPAQUE;
  const bool vector = value->getType()->isVectorTy();
  if (auto *number = dyn_cast<ConstantInt>(value)) {
    out->kind = vector ? ENZ_CONST_SPLAT_INT : ENZ_CONST_INT;
    out->words = number->getValue().getRawData();
    out->count = number->getValue().getNumWords();
  } else if (auto *real = dyn_cast<ConstantFP>(value)) {
    out->kind = vector ? ENZ_CONST_SPLAT_FLOAT : ENZ_CONST_FLOAT;
    describeFloat(real->getValueAPF(), out);
  } else if (isa<PoisonValue>(value)) {
    out->kind = ENZ_CONST_POISON;
  } else if (isa<UndefValue>(value)) {
    out->kind = ENZ_CONST_UNDEF;
  } else if (isa<ConstantTokenNone>(value)) {
    out->kind = ENZ_CONST_TOKEN_NONE;
  } else if (isa<ConstantPointerNull, ConstantAggregateZero, ConstantTargetNone>(value)) {
    out->kind = ENZ_CONST_ZERO;
  } else if (auto *data = dyn_cast<ConstantDataSequential>(value)) {
    out->kind = ENZ_CONST_DATA;
    out->bytes = enz::text(data->getRawDataValues());
  } else if (isa<ConstantAggregate>(value)) {
    out->kind = isa<ConstantPtrAuth>(value) ? ENZ_CONST_OPAQUE : ENZ_CONST_AGGREGATE;
    out->count = cast<Constant>(value)->getNumOperands();
  } else if (auto *expr = dyn_cast<ConstantExpr>(value)) {
    describeExpr(expr, out);
  } else if (auto *address = dyn_cast<BlockAddress>(value)) {
    out->kind = ENZ_CONST_BLOCK_ADDRESS;
    out->target = enz::in(static_cast<Value *>(address->getFunction()));
    for (BasicBlock &block : *address->getFunction()) {
      if (&block == address->getBasicBlock())
        break;
      ++out->index;
    }
  } else if (isa<GlobalValue>(value)) {
    Value *target = enz::resolve(value);
    out->target = enz::in(target);
    if (isa<Function>(target) && target->getType() == value->getType())
      out->kind = ENZ_CONST_FUNC;
    else if (isa<GlobalVariable>(target) && target->getType() == value->getType())
      out->kind = ENZ_CONST_GLOBAL;
  } else if (isa<MetadataAsValue>(value)) {
    out->kind = ENZ_CONST_METADATA;
  } else if (!isa<Constant>(value) && !isa<InlineAsm>(value)) {
    out->kind = ENZ_CONST_NOT;
  }
}

EnzValue enz_const_part(EnzValue raw, uint32_t index) {
  auto *constant = enz::as<Constant>(raw);
  return constant && index < constant->getNumOperands() ? enz::in(constant->getOperand(index)) : nullptr;
}

size_t enz_const_mask(EnzValue raw, int32_t *out, size_t capacity) {
  auto *expr = enz::as<ConstantExpr>(raw);
  if (!expr || expr->getOpcode() != Instruction::ShuffleVector)
    return 0;
  ArrayRef<int> mask = expr->getShuffleMask();
  for (size_t i = 0; i < mask.size() && i < capacity; ++i)
    out[i] = mask[i];
  return mask.size();
}

static Constant *makeExpr(const EnzConstInfo &info, ArrayRef<Constant *> parts, const int32_t *mask) {
  Type *type = enz::un(info.type);
  switch (info.expr) {
  case ENZ_EXPR_CAST: {
    const unsigned opcode = enz::castOpcode(info.sub);
    if (parts.size() != 1 ||
        !CastInst::castIsValid(static_cast<Instruction::CastOps>(opcode), parts[0]->getType(), type))
      return nullptr;
    if (ConstantExpr::isDesirableCastOp(opcode))
      return ConstantExpr::getCast(opcode, parts[0], type);
    return ConstantFoldCastInstruction(opcode, parts[0], type);
  }
  case ENZ_EXPR_BINARY: {
    const unsigned opcode = enz::binaryOpcode(info.sub);
    if (parts.size() != 2 || !opcode || parts[0]->getType() != parts[1]->getType())
      return nullptr;
    if (ConstantExpr::isDesirableBinOp(opcode))
      return ConstantExpr::get(opcode, parts[0], parts[1]);
    return ConstantFoldBinaryInstruction(opcode, parts[0], parts[1]);
  }
  case ENZ_EXPR_GEP: {
    Type *elem = enz::un(info.elem);
    if (parts.empty() || !elem || !elem->isSized() || !parts[0]->getType()->isPtrOrPtrVectorTy())
      return nullptr;
    if (!GetElementPtrInst::getIndexedType(elem, parts.drop_front()))
      return nullptr;
    return ConstantExpr::getGetElementPtr(elem, parts[0], parts.drop_front(), gepFlags(info.flags));
  }
  case ENZ_EXPR_EXTRACT:
    if (parts.size() != 2 || !ExtractElementInst::isValidOperands(parts[0], parts[1]))
      return nullptr;
    return ConstantExpr::getExtractElement(parts[0], parts[1]);
  case ENZ_EXPR_INSERT:
    if (parts.size() != 3 || !InsertElementInst::isValidOperands(parts[0], parts[1], parts[2]))
      return nullptr;
    return ConstantExpr::getInsertElement(parts[0], parts[1], parts[2]);
  case ENZ_EXPR_SHUFFLE: {
    ArrayRef<int> lanes(mask, info.flags);
    if (parts.size() != 2 || !ShuffleVectorInst::isValidOperands(parts[0], parts[1], lanes))
      return nullptr;
    return ConstantExpr::getShuffleVector(parts[0], parts[1], lanes);
  }
  default:
    return nullptr;
  }
}

static Constant *makeAggregate(Type *type, ArrayRef<Constant *> parts) {
  auto all = [&](Type *elem, uint64_t count) {
    if (parts.size() != count)
      return false;
    for (Constant *part : parts)
      if (part->getType() != elem)
        return false;
    return true;
  };
  if (auto *array = dyn_cast<ArrayType>(type))
    return all(array->getElementType(), array->getNumElements()) ? ConstantArray::get(array, parts) : nullptr;
  if (auto *vector = dyn_cast<FixedVectorType>(type)) {
    if (parts.empty() || !all(vector->getElementType(), vector->getNumElements()))
      return nullptr;
    return ConstantVector::get(parts);
  }
  auto *structure = dyn_cast<StructType>(type);
  if (!structure || structure->isOpaque() || structure->getNumElements() != parts.size())
    return nullptr;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i]->getType() != structure->getElementType(i))
      return nullptr;
  return ConstantStruct::get(structure, parts);
}

static Constant *makeData(Type *type, StringRef bytes) {
  auto check = [&](Type *elem, uint64_t count) {
    return ConstantDataSequential::isElementTypeCompatible(elem) &&
           bytes.size() == count * (elem->getPrimitiveSizeInBits() / 8);
  };
  if (auto *array = dyn_cast<ArrayType>(type))
    return check(array->getElementType(), array->getNumElements())
               ? ConstantDataArray::getRaw(bytes, array->getNumElements(), array->getElementType())
               : nullptr;
  if (auto *vector = dyn_cast<FixedVectorType>(type))
    return check(vector->getElementType(), vector->getNumElements())
               ? ConstantDataVector::getRaw(bytes, vector->getNumElements(), vector->getElementType())
               : nullptr;
  return nullptr;
}

EnzValue enz_const_make(EnzHost host, const EnzConstInfo *info, const EnzValue *raw, const int32_t *mask) {
  SmallVector<Constant *, 8> parts;
  if (info->kind == ENZ_CONST_AGGREGATE || info->kind == ENZ_CONST_EXPR) {
    for (uint32_t i = 0; i < info->count; ++i) {
      auto *part = enz::as<Constant>(raw[i]);
      if (!part)
        return nullptr;
      parts.push_back(part);
    }
  }
  Type *type = enz::un(info->type);
  Constant *made = nullptr;
  switch (info->kind) {
  case ENZ_CONST_INT:
    if (auto *integer = dyn_cast<IntegerType>(type)) {
      const APInt value(integer->getBitWidth(), ArrayRef<uint64_t>(info->words, info->count));
      made = ConstantInt::get(host->module->getContext(), value);
    }
    break;
  case ENZ_CONST_FLOAT:
    if (type->isFloatingPointTy()) {
      const APInt bits(type->getPrimitiveSizeInBits(), ArrayRef<uint64_t>(info->bits, 2));
      made = ConstantFP::get(host->module->getContext(), APFloat(type->getFltSemantics(), bits));
    }
    break;
  case ENZ_CONST_ZERO:
    if (type->isTokenTy() || type->isVoidTy() || type->isFunctionTy() || type->isLabelTy() || type->isMetadataTy())
      break;
    made = Constant::getNullValue(type);
    break;
  case ENZ_CONST_UNDEF:
    made = UndefValue::get(type);
    break;
  case ENZ_CONST_POISON:
    made = PoisonValue::get(type);
    break;
  case ENZ_CONST_AGGREGATE:
    made = makeAggregate(type, parts);
    break;
  case ENZ_CONST_DATA:
    made = makeData(type, enz::text(info->bytes));
    break;
  case ENZ_CONST_BLOCK_ADDRESS:
    if (auto *function = enz::as<Function>(info->target); function && info->index < function->size())
      made = BlockAddress::get(function, &*std::next(function->begin(), info->index));
    break;
  case ENZ_CONST_EXPR:
    made = makeExpr(*info, parts, mask);
    break;
  case ENZ_CONST_TOKEN_NONE:
    made = ConstantTokenNone::get(host->module->getContext());
    break;
  default:
    break;
  }
  return enz::in(static_cast<Value *>(made));
}
