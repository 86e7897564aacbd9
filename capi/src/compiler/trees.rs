//! Type trees: see `enzyme_core::trees` for what they are.
//!
//! Each handle is freed by whoever made it. Operations that two statements contradict leave the tree as it was and tell why.

use std::ffi::{CStr, CString, c_char};
use std::sync::{Arc, Mutex};

use enzyme_core::trees::{Concrete, Contradiction, Limits, TypeTree};
use enzyme_llvm::compiler::{BytesType, StatedBytes};

use super::hooks;
use super::llvm;
use super::report::{Complaint, settle};
use super::types::*;
use crate::handles::{Object, free, get, keep, lock};

/// `ET_IllegalTypeAnalysis`.
const ET_ILLEGAL: ErrorType = 2;

fn limits() -> Limits {
    let (offset, depth) = hooks::tree_limits();
    Limits { offset, depth }
}

fn contradiction(why: Contradiction) -> Complaint {
    Complaint::new(ET_ILLEGAL, format!("statements of types contradict each other: {why}"))
}

/// Puts a tree into the table.
pub fn keep_tree(tree: TypeTree) -> CTypeTreeRef {
    keep(Object::Tree(Arc::new(Mutex::new(tree))))
}

fn read(handle: CTypeTreeRef) -> Result<TypeTree, Complaint> {
    Ok(lock(&*get(handle)?).clone())
}

/// What trees say of the bytes behind the parameters of a function; nothing if there are none. What lies behind addresses
/// there is not asked.
///
/// # Safety
///
/// `trees` is null or points to `count` handles.
pub unsafe fn stated(trees: *const CTypeTreeRef, count: usize) -> Result<Vec<StatedBytes>, Complaint> {
    let mut out = Vec::new();
    for n in 0..if trees.is_null() { 0 } else { count } {
        // SAFETY: by this function's contract.
        let tree = read(unsafe { trees.add(n).read() })?;
        for (ty, offset, bytes) in tree.behind() {
            let ty = match ty {
                // Integers are known in words of four bytes.
                Concrete::Integer if offset == -1 || bytes >= 4 => BytesType::Integer,
                Concrete::Pointer => BytesType::Pointer,
                Concrete::Float => BytesType::Float,
                Concrete::Double => BytesType::Double,
                _ => continue,
            };
            out.push(StatedBytes { param: n as u32, ty, offset, bytes });
        }
    }
    Ok(out)
}

/// Puts what `change` makes of a tree in its place.
fn change(handle: CTypeTreeRef, change: impl FnOnce(&TypeTree) -> Result<TypeTree, Contradiction>) {
    settle((), || {
        let tree = get(handle)?;
        let changed = change(&lock(&tree)).map_err(contradiction)?;
        *lock(&tree) = changed;
        Ok(())
    });
}

/// # Safety
///
/// `layout` is null or ends with a zero.
unsafe fn layout_of(layout: *const c_char) -> String {
    if layout.is_null() {
        return String::new();
    }
    // SAFETY: by this function's contract.
    unsafe { CStr::from_ptr(layout) }.to_string_lossy().into_owned()
}

fn concrete(raw: CConcreteType) -> Result<Concrete, Complaint> {
    Concrete::from_number(raw).ok_or_else(|| Complaint::misuse(format!("{raw} is no type of bytes")))
}

/// An empty tree.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeNewTypeTree() -> CTypeTreeRef {
    settle(std::ptr::null_mut(), || Ok(keep_tree(TypeTree::default())))
}

/// A tree that says what a value as a whole is. The context is not used.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeNewTypeTreeCT(CT: CConcreteType, ctx: LLVMContextRef) -> CTypeTreeRef {
    let _ = ctx;
    settle(std::ptr::null_mut(), || Ok(keep_tree(TypeTree::of(concrete(CT)?))))
}

/// A copy of a tree.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeNewTypeTreeTR(CTR: CTypeTreeRef) -> CTypeTreeRef {
    settle(std::ptr::null_mut(), || Ok(keep_tree(read(CTR)?)))
}

/// Frees a tree. Null and freed handles are ignored.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeFreeTypeTree(CTT: CTypeTreeRef) {
    settle((), || {
        free(CTT);
        Ok(())
    });
}

/// Makes `dst` what `src` is; whether that changed it.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeSetTypeTree(dst: CTypeTreeRef, src: CTypeTreeRef) -> u8 {
    settle(0, || {
        let tree = read(src)?;
        let place = get(dst)?;
        let mut place = lock(&place);
        let changed = *place != tree;
        *place = tree;
        Ok(u8::from(changed))
    })
}

/// Adds what `src` says to `dst`; whether that changed it. A contradiction changes nothing and is told.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeMergeTypeTree(dst: CTypeTreeRef, src: CTypeTreeRef) -> u8 {
    settle(0, || {
        let tree = read(src)?;
        let changed = lock(&*get(dst)?).merge(&tree, limits()).map_err(contradiction)?;
        Ok(u8::from(changed))
    })
}

/// As `EnzymeMergeTypeTree`; whether there was no contradiction goes to `legalP`, and none is told.
///
/// # Safety
///
/// `legalP` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeCheckedMergeTypeTree(
    dst: CTypeTreeRef,
    src: CTypeTreeRef,
    legalP: *mut u8,
) -> u8 {
    settle(0, || {
        let tree = read(src)?;
        let merged = lock(&*get(dst)?).merge(&tree, limits());
        if !legalP.is_null() {
            // SAFETY: by this function's contract.
            unsafe { legalP.write(u8::from(merged.is_ok())) };
        }
        Ok(u8::from(merged.unwrap_or(false)))
    })
}

/// Makes a tree that of what holds its value at offset `x`, or at every offset if that is -1.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeTypeTreeOnlyEq(CTT: CTypeTreeRef, x: i64) {
    change(CTT, |tree| Ok(tree.only(x, limits())));
}

/// Makes a tree that of what its value holds at offset 0.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeTypeTreeData0Eq(CTT: CTypeTreeRef) {
    change(CTT, |tree| tree.data0(limits()));
}

/// Makes a tree that of the `size` bytes behind the address at offset 0.
///
/// # Safety
///
/// `dl`, a data layout, is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeTypeTreeLookupEq(CTT: CTypeTreeRef, size: i64, dl: *const c_char) {
    // SAFETY: by this function's contract.
    let layout = unsafe { layout_of(dl) };
    change(CTT, |tree| tree.lookup(size, &layout, limits()));
}

/// Writes -1 where all offsets below `size` are alike.
///
/// # Safety
///
/// `dl`, a data layout, is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeTypeTreeCanonicalizeInPlace(CTT: CTypeTreeRef, size: i64, dl: *const c_char) {
    // SAFETY: by this function's contract.
    let layout = unsafe { layout_of(dl) };
    change(CTT, |tree| {
        let mut out = tree.clone();
        out.canonicalise(size, &layout, limits())?;
        Ok(out)
    });
}

/// What the value at offset 0 is.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeTypeTreeInner0(CTT: CTypeTreeRef) -> CConcreteType {
    settle(Concrete::Unknown.number(), || Ok(read(CTT)?.inner0().number()))
}

/// Keeps what lies in the `maxSize` bytes from `offset` on, or in all of them if that is -1, and moves it to `addOffset`.
///
/// # Safety
///
/// `datalayout` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeTypeTreeShiftIndiciesEq(
    CTT: CTypeTreeRef,
    datalayout: *const c_char,
    offset: i64,
    maxSize: i64,
    addOffset: u64,
) {
    // SAFETY: by this function's contract.
    let layout = unsafe { layout_of(datalayout) };
    let to = i64::try_from(addOffset).unwrap_or(i64::MAX);
    change(CTT, |tree| tree.shift(&layout, offset, maxSize, to, limits()));
}

/// States a type of a path of offsets. The context is not used.
///
/// # Safety
///
/// `indices` is null or points to `len` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeTypeTreeInsertEq(
    CTT: CTypeTreeRef,
    indices: *const i64,
    len: usize,
    ct: CConcreteType,
    ctx: LLVMContextRef,
) {
    let _ = ctx;
    settle((), || {
        if indices.is_null() && len > 0 {
            return Err(Complaint::misuse("the offsets are null"));
        }
        // SAFETY: by this function's contract.
        let path = if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(indices, len) } };
        lock(&*get(CTT)?).insert(path, concrete(ct)?, limits()).map_err(contradiction)?;
        Ok(())
    });
}

/// A text for C, to be freed by `EnzymeStringFree`.
pub fn give_text(text: &str) -> *mut c_char {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default().into_raw()
}

/// The text of a tree, as `{[-1]:Pointer, [-1,0]:Float@double}`; free it with `EnzymeStringFree`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeTypeTreeToString(src: CTypeTreeRef) -> *const c_char {
    settle(std::ptr::null(), || Ok(give_text(&read(src)?.to_string()).cast_const()))
}

/// Frees a text that this interface gave. Null is ignored.
///
/// # Safety
///
/// `cstr` is null or a text that this interface gave, and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeStringFree(cstr: *const c_char) {
    if !cstr.is_null() {
        // SAFETY: by this function's contract.
        drop(unsafe { CString::from_raw(cstr.cast_mut()) });
    }
}

/// As `EnzymeStringFree`.
///
/// # Safety
///
/// As for `EnzymeStringFree`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeTypeTreeToStringFree(cstr: *const c_char) {
    // SAFETY: by this function's contract.
    unsafe { EnzymeStringFree(cstr) };
}

/// A node: the type of the path so far, then each next offset with the node behind it.
///
/// # Safety
///
/// `context` is a context of LLVM-C.
unsafe fn to_node(entries: &[(&[i64], Concrete)], context: LLVMContextRef) -> LLVMMetadataRef {
    let own = entries.iter().find(|e| e.0.is_empty()).map_or(Concrete::Unknown, |e| e.1);
    let mut offsets: Vec<i64> = entries.iter().filter_map(|e| e.0.first().copied()).collect();
    offsets.dedup();
    // SAFETY: by this function's contract.
    let mut parts = vec![unsafe { llvm::text(context, own.name()) }];
    for offset in offsets {
        let behind: Vec<(&[i64], Concrete)> =
            entries.iter().filter(|e| e.0.first() == Some(&offset)).map(|e| (&e.0[1..], e.1)).collect();
        // SAFETY: by this function's contract.
        parts.push(unsafe { llvm::number(context, offset) });
        // SAFETY: by this function's contract.
        parts.push(unsafe { to_node(&behind, context) });
    }
    // SAFETY: the parts were made in this context.
    unsafe { llvm::node(context, &mut parts) }
}

/// A tree as metadata.
///
/// # Safety
///
/// `ctx` is null or a context of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeTypeTreeToMD(CTR: CTypeTreeRef, ctx: LLVMContextRef) -> LLVMValueRef {
    settle(std::ptr::null_mut(), || {
        let tree = read(CTR)?;
        if ctx.is_null() {
            return Err(Complaint::misuse("the context is null"));
        }
        let entries: Vec<(&[i64], Concrete)> = tree.entries().collect();
        // SAFETY: it is not null, so it is a context.
        let node = unsafe { to_node(&entries, ctx) };
        // SAFETY: the node was made in this context.
        Ok(unsafe { llvm::as_value(ctx, node) })
    })
}

/// # Safety
///
/// `value` is null or a value of LLVM-C.
unsafe fn from_node(value: LLVMValueRef, path: &mut Vec<i64>, tree: &mut TypeTree) -> Result<(), Complaint> {
    let malformed = || Complaint::misuse("the metadata is that of no type tree");
    // SAFETY: by this function's contract.
    let parts = unsafe { llvm::operands(value) };
    let own = parts.first().ok_or_else(malformed)?;
    // SAFETY: operands of metadata are null or values.
    let name = unsafe { llvm::as_text(*own) }.ok_or_else(malformed)?;
    let ty = Concrete::from_name(&name).ok_or_else(malformed)?;
    tree.insert(path, ty, limits()).map_err(contradiction)?;
    for pair in parts[1..].chunks(2) {
        let [offset, behind] = pair else { return Err(malformed()) };
        // SAFETY: as above.
        path.push(unsafe { llvm::as_number(*offset) }.ok_or_else(malformed)?);
        if path.len() > 64 {
            return Err(malformed());
        }
        // SAFETY: as above.
        unsafe { from_node(*behind, path, tree) }?;
        path.pop();
    }
    Ok(())
}

/// The tree that metadata says.
///
/// # Safety
///
/// `Val` is null or a value of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeTypeTreeFromMD(Val: LLVMValueRef) -> CTypeTreeRef {
    settle(std::ptr::null_mut(), || {
        let mut tree = TypeTree::default();
        // SAFETY: by this function's contract.
        unsafe { from_node(Val, &mut Vec::new(), &mut tree) }?;
        Ok(keep_tree(tree))
    })
}
