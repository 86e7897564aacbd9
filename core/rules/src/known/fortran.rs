//! Functions of flang's run-time library through which no derivative flows. What moves data has a body instead
//! (`core/llvm/bridge/flang.c`); what reads numbers into memory, and random numbers, are left out.

use super::*;

/// A row of what no derivative flows through, whatever floats it is given.
pub(super) const fn inactive(title: &'static str, effects: Effects, names: &'static [Name]) -> KnownFn {
    KnownFn { title, names, what: Known::Inactive, effects, returns: None, floats: true }
}

/// Title of what moves or searches text.
pub(super) const TEXTS: &str = "Fortran: texts, and questions about them";

pub(super) static ROWS: &[KnownFn] = &[
    inactive(
        "Fortran: output",
        PRINTS,
        names![starting "_FortranAioOutput" "_FortranAioEnd" "_FortranAioEnable" "_FortranAioSet" "_FortranAFlush"],
    ),
    inactive(
        "Fortran: output, begun",
        PRINTS,
        names!["_FortranAioBeginExternalListOutput" "_FortranAioBeginExternalFormattedOutput"
               "_FortranAioBeginUnformattedOutput" "_FortranAioBeginOpenUnit" "_FortranAioBeginOpenNewUnit"
               "_FortranAioBeginClose" "_FortranAioBeginFlush" "_FortranAioBeginRewind" "_FortranAioBeginBackspace"
               "_FortranAioBeginEndfile" "_FortranAioBeginInquireUnit" "_FortranAioBeginInquireFile"],
    ),
    inactive(
        "Fortran: questions about files",
        writes_hidden(&[2]),
        names!["_FortranAioInquireCharacter" "_FortranAioInquireLogical" "_FortranAioInquireInteger64"],
    ),
    inactive(
        "Fortran: what output says of itself",
        writes_hidden(&[1]),
        names!["_FortranAioGetNewUnit" "_FortranAioGetIoMsg" "_FortranAioGetSize"],
    ),
    inactive(
        "Fortran: output to a string",
        writes_hidden(&[0]),
        names!["_FortranAioBeginInternalListOutput" "_FortranAioBeginInternalFormattedOutput"
               "_FortranAioBeginInternalArrayListOutput" "_FortranAioBeginInternalArrayFormattedOutput"],
    ),
    inactive(
        "Fortran: end of the program",
        ENDS,
        names!["_FortranAStopStatement" "_FortranAStopStatementText" "_FortranAFailImageStatement" "_FortranAExit"
               "_FortranAAbort" "_FortranAReportFatalUserError"],
    ),
    inactive(
        "Fortran: time and surroundings",
        PRINTS,
        names!["_FortranAProgramStart" "_FortranAProgramEndStatement" "_FortranACpuTime" "_FortranASystemClockCount" "_FortranASystemClockCountRate"
               "_FortranASystemClockCountMax" "_FortranAArgumentCount" "_FortranASleep" "_FortranASecnds"
               "_FortranADsecnds"],
    ),
    inactive(
        "Fortran: date, command line and environment",
        Effects { writes: Reach::AllArgs, ..PRINTS },
        names!["_FortranADateAndTime" "_FortranAEtime" "_FortranAGetCommand" "_FortranAGetCommandArgument"
               "_FortranAGetEnvVariable" "_FortranAGetCwd" "_FortranAHostnm" "_FortranAExecuteCommandLine"],
    ),
    inactive(
        "Fortran: random numbers",
        Effects { writes: Reach::AllArgs, ..PRINTS },
        names!["_FortranARandomNumber" "_FortranARandomInit" "_FortranARandomSeed" "_FortranARandomSeedSize"
               "_FortranARandomSeedPut" "_FortranARandomSeedGet" "_FortranARandomSeedDefaultPut"],
    ),
    inactive(
        "Fortran: floating-point environment",
        HIDDEN,
        names![starting "_FortranAfe" "_FortranAMapException" "_FortranASupportHalting" "_FortranAGetUnderflowMode"],
    ),
    inactive(
        "Fortran: questions about arrays",
        READS,
        names![starting "_FortranASize" "_FortranALbound" "_FortranAIsContiguous" "_FortranAIsAssumedSize"
               "_FortranAPointerIsAssociated" "_FortranASameTypeAs" "_FortranAExtendsTypeOf" "_FortranAClassIs"],
    ),
    inactive(
        "Fortran: questions about logical and integer data, and characters",
        READS,
        names!["_FortranAAll" "_FortranAAny" "_FortranACount" "_FortranAParity" "_FortranACharacterCompareScalar1"
               "_FortranACharacterCompareScalar" "_FortranALenTrim1" "_FortranAIndex1" "_FortranAScan1"
               "_FortranAVerify1"],
    ),
    inactive(
        "Fortran: sums and products of integers and logicals",
        READS,
        names![starting "_FortranASumInteger" "_FortranAProductInteger" "_FortranAMaxvalInteger"
               "_FortranAMinvalInteger" "_FortranADotProductInteger" "_FortranADotProductLogical" "_FortranAIAll"
               "_FortranAIAny" "_FortranAIParity"],
    ),
    inactive(
        "Fortran: places of extrema",
        writes_hidden(&[0]),
        names![starting "_FortranAMaxloc" "_FortranAMinloc" "_FortranAFindloc"],
    ),
    inactive(
        TEXTS,
        writes_hidden(&[0]),
        names!["_FortranAAdjustl" "_FortranAAdjustr" "_FortranATrim" "_FortranARepeat" "_FortranACharacterConcatenate"
               "_FortranACharacterMax" "_FortranACharacterMin" "_FortranALenTrim" "_FortranAIndex" "_FortranAScan"
               "_FortranAVerify"],
    ),
    inactive(
        "Fortran: questions about rows of logical data",
        writes_hidden(&[0]),
        names!["_FortranAAllDim" "_FortranAAnyDim" "_FortranACountDim" "_FortranAParityDim"],
    ),
    inactive(
        "Fortran: numbers to integers",
        NOTHING,
        names![starting "_FortranACeiling" "_FortranAFloor" "_FortranANint" "_FortranAExponent" "_FortranAIsNaN"
               "_FortranAIsFinite" "_FortranASelected"],
    ),
    inactive(
        "Fortran: distances of floating-point numbers",
        NOTHING,
        names![starting "_FortranASpacing" "_FortranARRSpacing"],
    ),
];
