// In which members of structures the program keeps its functions (members.cpp).
#ifndef ENZYME_MEMBERS_H
#define ENZYME_MEMBERS_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <map>
#include <set>

namespace enz {

// A member of the innermost structure that has it.
struct Field {
  // The name of the structure as C spells it; empty if it has none or none is known.
  llvm::StringRef owner;
  int64_t offset = 0;

  bool operator<(const Field &other) const { return std::tie(offset, owner) < std::tie(other.offset, other.owner); }
};

// Some members.
class Fields {
public:
  bool insert(const Field &field) { return owners_[field.offset].insert(field.owner).second; }
  // Whether one of them may be `field`.
  bool meet(const Field &field) const;

private:
  std::map<int64_t, std::set<llvm::StringRef>> owners_;
};

// Notes from which members a function reads pointers, and with `integers` which members are some, before address
// computations lose the types that tell it.
void noteMembers(llvm::Function &function, bool integers);

// A tag of type-based alias analysis that says what is accessed, in C's words, and tells of no alias: it has a root of
// its own.
llvm::MDNode *accessTag(llvm::StringRef type, llvm::LLVMContext &context);

// What a module says of the members in which functions are kept.
class FunctionFields {
public:
  explicit FunctionFields(llvm::Module &module);

  // Whether nothing puts `function` into the member from which the pointer of `call` is read, though functions are put
  // there.
  bool excludes(const llvm::CallBase &call, const llvm::Function &function) const;

private:
  void read(const llvm::Instruction &inst);
  void readInitialiser(const llvm::Constant &constant, const Field *at);
  void goesElsewhere(const llvm::Constant &constant);
  void settle();

  const llvm::DataLayout &layout_;
  // Where each function is kept, of those that are kept in members alone.
  llvm::MapVector<const llvm::Function *, Fields> kept_;
  // Functions whose address goes elsewhere as well.
  llvm::DenseSet<const llvm::Function *> elsewhere_;
  // Members into which something goes of which nothing is known.
  Fields open_;
  // Members that are read for more than a call, and those to which what is read there goes.
  std::set<Field> passed_;
  std::set<std::pair<Field, Field>> copied_;
};

} // namespace enz

#endif
