// Functions whose floating-point operations are done in another format: what narrower (truncate.cpp) and other formats
// (widen.cpp) have in common.
#ifndef ENZYME_PRECISION_H
#define ENZYME_PRECISION_H

#include "support.h"

#include "llvm/IR/InstrTypes.h"

#include <functional>
#include <optional>
#include <string>

namespace enz {

// Bits of a type behind the point, and of its exponent.
unsigned digitsOf(const llvm::Type *type);
unsigned exponentOf(const llvm::Type *type);

// The type of so many bits, or of so many of exponent and of digits; null if there is none.
llvm::Type *formatOf(llvm::LLVMContext &context, uint32_t bits, uint32_t exponent, uint32_t digits);

// An argument that is a constant number of up to 31 bits.
std::optional<uint32_t> numberAt(const llvm::CallBase &call, unsigned at);

// Whether a call is that of an intrinsic or of a function of the C library, without a body here.
bool isMathematical(EnzOpaqueHost &host, const llvm::CallBase &call);

// Clones of functions and of what they call, as long as that has a body.
class Clones {
public:
  // What is done with an instruction of a clone; false if nothing is, so that a call of a function calls its clone.
  using Visit = std::function<bool(llvm::Instruction &)>;

  // `prepare` is done with a clone before.
  using Prepare = std::function<void(llvm::Function &)>;

  Clones(
      llvm::StringRef prefix, Visit visit, Prepare prepare = [](llvm::Function &) {})
      : prefix_(prefix), visit_(std::move(visit)), prepare_(std::move(prepare)) {}
  llvm::Function *of(llvm::Function &function);
  const llvm::SmallVectorImpl<llvm::Function *> &all() const { return all_; }

private:
  std::string prefix_;
  Visit visit_;
  Prepare prepare_;
  llvm::DenseMap<llvm::Function *, llvm::Function *> clones_;
  llvm::SmallVector<llvm::Function *, 8> all_;
};

// Makes a call that has a value kept in a wider format, or that gives back what is kept; false if it names no such.
bool keepValue(llvm::CallBase &call, bool in);

// Does the operations of functions in a wider format; false if it is none, or if they can't be done.
bool widenAll(EnzOpaqueHost &host, uint32_t from, uint32_t to, uint32_t exponent, uint32_t digits,
              llvm::ArrayRef<llvm::Function *> functions);

} // namespace enz

#endif
