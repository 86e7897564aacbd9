// What tools tell people of a function: the names and types of its parameters as the source has them, from debug
// information, else the names of LLVM's values. And what makes a module fit to be linked beside the one it was made of.

#include "support.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"

using namespace llvm;

namespace {

// `float64`, `int32`, `*float64`, `struct`, or nothing if not known; of arrays the type of their elements behind a
// star.
std::string nameOf(const DIType *type, unsigned depth = 0) {
  if (!type || depth > 16)
    return "";
  if (const auto *basic = dyn_cast<DIBasicType>(type)) {
    const std::string bits = std::to_string(basic->getSizeInBits());
    switch (basic->getEncoding()) {
    case dwarf::DW_ATE_float:
      return "float" + bits;
    case dwarf::DW_ATE_boolean:
    case dwarf::DW_ATE_signed:
    case dwarf::DW_ATE_signed_char:
      return "int" + bits;
    case dwarf::DW_ATE_unsigned:
    case dwarf::DW_ATE_unsigned_char:
      return "uint" + bits;
    default:
      return "";
    }
  }
  if (const auto *derived = dyn_cast<DIDerivedType>(type)) {
    const std::string inner = nameOf(derived->getBaseType(), depth + 1);
    switch (derived->getTag()) {
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
      return "*" + inner;
    default:
      return inner;
    }
  }
  if (const auto *composite = dyn_cast<DICompositeType>(type)) {
    if (composite->getTag() == dwarf::DW_TAG_array_type)
      return "*" + nameOf(composite->getBaseType(), depth + 1);
    if (composite->getTag() == dwarf::DW_TAG_enumeration_type)
      return "int" + std::to_string(composite->getSizeInBits());
    return "struct";
  }
  return "";
}

void note(const DILocalVariable *variable, SmallVectorImpl<const DILocalVariable *> &out, const DISubprogram *program) {
  const unsigned number = variable ? variable->getArg() : 0;
  if (number >= 1 && number <= out.size() && !out[number - 1] && variable->getScope()->getSubprogram() == program)
    out[number - 1] = variable;
}

} // namespace

void enz_describe_params(EnzValue raw, EnzTextSink sink, void *context) {
  const auto *function = enz::as<Function>(raw);
  if (!function)
    return;
  enz::SinkStream out(sink, context);
  SmallVector<const DILocalVariable *, 8> variables(function->arg_size(), nullptr);
  if (const DISubprogram *program = function->getSubprogram()) {
    for (const DINode *node : program->getRetainedNodes())
      note(dyn_cast<DILocalVariable>(node), variables, program);
    for (const BasicBlock &block : *function)
      for (const Instruction &inst : block)
        for (const DbgVariableRecord &record : filterDbgVars(inst.getDbgRecordRange()))
          note(record.getVariable(), variables, program);
  }
  for (const Argument &argument : function->args()) {
    const DILocalVariable *variable = variables[argument.getArgNo()];
    std::string type = variable ? nameOf(variable->getType()) : "";
    // What is passed by reference is an address, whatever its type in the source.
    if (argument.getType()->isPointerTy() && !type.empty() && type[0] != '*')
      type = "*" + type;
    *out << (variable ? variable->getName() : argument.getName()) << "\t" << type << "\n";
  }
}

void enz_yield_to_others(EnzHost host, EnzStr except) {
  for (GlobalValue &value : host->module->global_values())
    if (value.hasExternalLinkage() && !value.isDeclaration() && value.getName() != enz::text(except))
      value.setLinkage(GlobalValue::WeakODRLinkage);
}

uint8_t enz_set_visible(EnzHost host, EnzStr name, uint8_t visible) {
  Function *function = host->module->getFunction(enz::text(name));
  if (!function || function->isDeclaration())
    return 0;
  function->setLinkage(visible ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage);
  return 1;
}
