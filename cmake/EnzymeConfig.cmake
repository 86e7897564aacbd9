# Enzyme: derivatives of compiled programs. What find_package(Enzyme CONFIG) gives:
#
#   ClangEnzymeFlags, Enzyme::Clang   C and C++ compiled by clang are differentiated file by file
#   LLDEnzymeFlags, Enzyme::LLD       they are differentiated when the program is linked, as one
#   FlangEnzymeFlags, Enzyme::Flang   Fortran compiled by flang is differentiated; enzyme_use_fortran(TARGET) adds the module `enzyme`
#   Enzyme::capi        libEnzyme-22, the C interface, for programs that ask for derivatives by name
#   LLDEnzymePrintFlags, ...          flags for the linker beside LLDEnzymeFlags, under the names that projects link with
#   LLVMEnzyme-22, ClangEnzyme-22, LLDEnzyme-22, FlangEnzyme-22   the plugins themselves
#   enzyme_add_gradient(TARGET FILE FUNCTION ...)   the derivative of a function without markers, by `enzyme grad`
#   Enzyme_LIBRARIES, Enzyme_LLVM_VERSION_MAJOR, Enzyme_CLANG_EXE, Enzyme_INCLUDE_DIR
#
# Everything is found relative to this file, so the installation may be moved.

get_filename_component(Enzyme_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Enzyme_LLVM_VERSION_MAJOR 22)
set(Enzyme_LLVM_VERSION_MINOR 1)
set(Enzyme_INCLUDE_DIR "${Enzyme_PREFIX}/include")
set(Enzyme_FORTRAN_MODULE "${Enzyme_PREFIX}/share/enzyme/fortran/enzyme.f90")
if(APPLE)
  set(_enzyme_suffix ".dylib")
else()
  set(_enzyme_suffix ".so")
endif()
find_program(Enzyme_CLANG_EXE NAMES clang-22 clang HINTS "${Enzyme_PREFIX}/bin")

set(Enzyme_LIBRARIES "")
foreach(_enzyme_name IN ITEMS LLVMEnzyme-22 ClangEnzyme-22 LLDEnzyme-22 FlangEnzyme-22)
  set(_enzyme_file "${Enzyme_PREFIX}/lib/${_enzyme_name}${_enzyme_suffix}")
  if(NOT EXISTS "${_enzyme_file}")
    set(Enzyme_FOUND FALSE)
    set(Enzyme_NOT_FOUND_MESSAGE "${_enzyme_file} is missing: the installation is not whole")
    return()
  endif()
  if(NOT TARGET ${_enzyme_name})
    add_library(${_enzyme_name} MODULE IMPORTED)
    set_target_properties(${_enzyme_name} PROPERTIES IMPORTED_LOCATION "${_enzyme_file}")
  endif()
  list(APPEND Enzyme_LIBRARIES ${_enzyme_name})
endforeach()
set(_enzyme_plugin "${Enzyme_PREFIX}/lib/LLVMEnzyme-22${_enzyme_suffix}")
set(_enzyme_c "$<$<COMPILE_LANGUAGE:C,CXX>:")

if(NOT TARGET Enzyme::capi)
  add_library(Enzyme::capi SHARED IMPORTED)
  set_target_properties(Enzyme::capi PROPERTIES
    IMPORTED_LOCATION "${Enzyme_PREFIX}/lib/libEnzyme-22${_enzyme_suffix}"
    INTERFACE_INCLUDE_DIRECTORIES "${Enzyme_INCLUDE_DIR}")
  if(NOT APPLE)
    set_target_properties(Enzyme::capi PROPERTIES IMPORTED_SONAME libEnzyme-22.so)
  endif()
endif()

if(NOT TARGET ClangEnzymeFlags)
  add_library(ClangEnzymeFlags INTERFACE IMPORTED)
  target_compile_options(ClangEnzymeFlags INTERFACE
    "${_enzyme_c}-fplugin=${Enzyme_PREFIX}/lib/ClangEnzyme-22${_enzyme_suffix}>")
  target_include_directories(ClangEnzymeFlags INTERFACE "${Enzyme_INCLUDE_DIR}")
  add_library(Enzyme::Clang ALIAS ClangEnzymeFlags)

  add_library(LLDEnzymeFlags INTERFACE IMPORTED)
  target_compile_options(LLDEnzymeFlags INTERFACE -flto)
  # What the program says of its functions by variables, as its own derivatives, would be dropped as unused before the plugin sees it.
  target_link_options(LLDEnzymeFlags INTERFACE -flto -fuse-ld=lld "-Wl,--load-pass-plugin=${_enzyme_plugin}"
    "-Wl,--export-dynamic-symbol=__enzyme_*")
  target_include_directories(LLDEnzymeFlags INTERFACE "${Enzyme_INCLUDE_DIR}")
  add_library(Enzyme::LLD ALIAS LLDEnzymeFlags)

  # The linker must have loaded the plugin before it reads the plugin's options.
  set(_enzyme_names LLDEnzymePrintFlags LLDEnzymePrintTypeFlags LLDEnzymeLooseTypeFlags
    LLDEnzymeAssumeUnknownNoFree LLDEnzymeNoStrictAliasingFlags)
  set(_enzyme_flags -enzyme-print -enzyme-print-type -enzyme-loose-types
    -enzyme-assume-unknown-nofree=1 -enzyme-strict-aliasing=0)
  foreach(_enzyme_name _enzyme_flag IN ZIP_LISTS _enzyme_names _enzyme_flags)
    add_library(${_enzyme_name} INTERFACE IMPORTED)
    target_link_options(${_enzyme_name} INTERFACE
      "-Wl,-mllvm,-load=${_enzyme_plugin}" "-Wl,-mllvm,${_enzyme_flag}")
  endforeach()

  add_library(FlangEnzymeFlags INTERFACE IMPORTED)
  target_compile_options(FlangEnzymeFlags INTERFACE "$<$<COMPILE_LANGUAGE:Fortran>:-fpass-plugin=${_enzyme_plugin}>")
  add_library(Enzyme::Flang ALIAS FlangEnzymeFlags)
endif()

# Fortran sources of TARGET are differentiated, and may `use enzyme`.
function(enzyme_use_fortran target)
  target_sources(${target} PRIVATE "${Enzyme_FORTRAN_MODULE}")
  target_link_libraries(${target} PRIVATE FlangEnzymeFlags)
endfunction()

set(Enzyme_FOUND TRUE)

# enzyme_add_gradient(TARGET FILE FUNCTION [NAME symbol] [WRT names...] [WIDTH n] [VALUE] [FORWARD] [OPTIONS compiler options...])
# makes the derivative of a function of a source file and links it into the target, under the symbol FUNCTION_gradient or
# FUNCTION_tangent, or NAME. The file itself is a source of the target or of something that it links, as before.
set(Enzyme_COMMAND "${Enzyme_PREFIX}/bin/enzyme")
function(enzyme_add_gradient target file function)
  cmake_parse_arguments(PARSE_ARGV 3 arg "VALUE;FORWARD" "NAME;WIDTH" "WRT;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "enzyme_add_gradient: not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(source "${file}" ABSOLUTE)
  if(NOT arg_NAME)
    set(arg_NAME "${function}_gradient")
    if(arg_FORWARD)
      set(arg_NAME "${function}_tangent")
    endif()
  endif()
  set(words grad "${source}" --fn "${function}" --name "${arg_NAME}")
  if(arg_WRT)
    string(REPLACE ";" "," names "${arg_WRT}")
    list(APPEND words --wrt "${names}")
  endif()
  if(arg_WIDTH)
    list(APPEND words --width ${arg_WIDTH})
  endif()
  if(arg_VALUE)
    list(APPEND words --value)
  endif()
  if(arg_FORWARD)
    list(APPEND words --forward)
  endif()
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.${arg_NAME}.o")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  add_custom_command(OUTPUT "${object}"
    COMMAND "${Enzyme_COMMAND}" ${words} -o "${object}" -- ${arg_OPTIONS}
      "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
    DEPENDS "${source}" "${Enzyme_COMMAND}"
    COMMENT "Differentiating ${function} of ${file}"
    COMMAND_EXPAND_LISTS VERBATIM)
  target_sources(${target} PRIVATE "${object}")
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
endfunction()
