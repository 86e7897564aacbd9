//! Whole programs with `main`: output, status, leaks, the order of start and end.

use super::super::*;
use crate::Module;
use crate::text::parse_module;

fn parse(text: &str) -> Module {
    parse_module(text).unwrap_or_else(|e| panic!("{e}"))
}

/// A program that prints one value by one format.
fn printed(format: &str, arg: &str) -> String {
    let text = format!(
        "@format = constant [{} x i8] c\"{format}\\00\"\n\
         @word = constant [6 x i8] c\"hello\\00\"\n\
         declare i32 @printf(ptr, ...)\n\
         define i32 @main() {{\n\
           %n = call i32 (ptr, ...) @printf(ptr @format, {arg})\n\
           ret i32 %n\n\
         }}\n",
        format.len() + 1
    );
    let module = parse(&text);
    let mut interp = Interp::new(&module, Config::default()).unwrap();
    let status = interp.run_main(&[]).unwrap_or_else(|trap| panic!("{format}: {trap}"));
    let output = interp.output();
    assert_eq!(status as usize, output.len(), "{format}");
    output
}

#[test]
fn formats_are_those_of_glibc() {
    // What glibc 2.36 prints.
    let rows = [
        ("%d", "i32 -42", "-42"),
        ("%5d|", "i32 42", "   42|"),
        ("%-5d|", "i32 42", "42   |"),
        ("%05d", "i32 -42", "-0042"),
        ("%+d", "i32 42", "+42"),
        ("%.4d", "i32 42", "0042"),
        ("%08.3d|", "i32 42", "     042|"),
        ("%u", "i32 -1", "4294967295"),
        ("%ld", "i64 -1", "-1"),
        ("%hhd", "i32 300", "44"),
        ("%#x", "i32 255", "0xff"),
        ("%#o", "i32 8", "010"),
        ("%X", "i64 48879", "BEEF"),
        ("%c", "i32 65", "A"),
        ("%s", "ptr @word", "hello"),
        ("%.2s|", "ptr @word", "he|"),
        ("%7s|", "ptr @word", "  hello|"),
        ("%p", "ptr null", "(nil)"),
        ("%*d|", "i32 4, i32 7", "   7|"),
        ("%-*d|", "i32 4, i32 7", "7   |"),
        ("%f", "double 1.5", "1.500000"),
        ("%.0f", "double 2.5", "2"),
        ("%#.0f", "double 2.5", "2."),
        ("%.3f", "double -0.0005", "-0.001"),
        ("%10.2f|", "double 3.14159", "      3.14|"),
        ("%+.1e", "double 12345.0", "+1.2e+04"),
        ("%e", "double 0.0", "0.000000e+00"),
        ("%g", "double 0.0001", "0.0001"),
        ("%g", "double 0.00001", "1e-05"),
        ("%g", "double 1000000.0", "1e+06"),
        ("%g", "double 123456.0", "123456"),
        ("%#g", "double 1.0", "1.00000"),
        ("%.17g", "double 0.1", "0.10000000000000001"),
        ("%G", "double 0x7FF0000000000000", "INF"),
        ("%05f|", "double 0xFFF0000000000000", " -inf|"),
        ("%a", "double 0.75", "0x1.8p-1"),
        ("%.1a", "double 1.96875", "0x2.0p+0"),
        ("%Lf", "x86_fp80 0xK3FFF8000000000000000", "1.000000"),
        ("%.20Lg", "x86_fp80 0xK3FFDAAAAAAAAAAAAAAAB", "0.33333333333333333334"),
        ("%d%%", "i32 7", "7%"),
    ];
    for (format, arg, expected) in rows {
        assert_eq!(printed(format, arg), expected, "{format} of {arg}");
    }
}

#[test]
fn start_and_end_in_order() {
    let module = parse(
        r#"
        @llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [
            { i32, ptr, ptr } { i32 65535, ptr @late, ptr null }, { i32, ptr, ptr } { i32 101, ptr @early, ptr null }]
        @a = constant [2 x i8] c"a\00"
        @b = constant [2 x i8] c"b\00"
        @c = constant [2 x i8] c"c\00"
        @stderr = external global ptr
        declare i32 @puts(ptr)
        declare i32 @fputs(ptr, ptr)
        declare i32 @atexit(ptr)
        declare void @exit(i32)
        define void @early() {
          %r = call i32 @puts(ptr @a)
          ret void
        }
        define void @late() {
          %r = call i32 @puts(ptr @b)
          ret void
        }
        define void @last() {
          %r = call i32 @puts(ptr @c)
          ret void
        }
        define i32 @main(i32 %n, ptr %args) {
          %r = call i32 @atexit(ptr @last)
          %second = getelementptr ptr, ptr %args, i64 1
          %text = load ptr, ptr %second
          %e = load ptr, ptr @stderr
          %s = call i32 @fputs(ptr %text, ptr %e)
          call void @exit(i32 %n)
          unreachable
        }
        "#,
    );
    let mut interp = Interp::new(&module, Config::default()).unwrap();
    assert_eq!(interp.run_main(&["program", "argument"]), Ok(2));
    assert_eq!((interp.output().as_str(), interp.error_output().as_str()), ("a\nb\nc\n", "argument"));
}

#[test]
fn leaks_are_counted() {
    let module = parse(
        "declare ptr @malloc(i64)\ndeclare void @free(ptr)\n\
         define void @f(i1 %leak) {\n  %p = call ptr @malloc(i64 8)\n  br i1 %leak, label %end, label %free\n\
         free:\n  call void @free(ptr %p)\n  br label %end\nend:\n  ret void\n}\n",
    );
    let f = module.find_func("f").unwrap();
    let mut interp = Interp::new(&module, Config::default()).unwrap();
    interp.run(f, &[false.into()]).unwrap();
    assert_eq!(interp.live_heap_allocations(), 0);
    interp.run(f, &[true.into()]).unwrap();
    assert_eq!(interp.live_heap_allocations(), 1);
}

#[test]
fn sorting_calls_back() {
    let module = parse(
        "declare void @qsort(ptr, i64, i64, ptr)\n\
         define i32 @order(ptr %a, ptr %b) {\n  %x = load double, ptr %a\n  %y = load double, ptr %b\n\
           %l = fcmp olt double %x, %y\n  %g = fcmp ogt double %x, %y\n  %i = zext i1 %g to i32\n\
           %j = sext i1 %l to i32\n  %r = add i32 %i, %j\n  ret i32 %r\n}\n\
         define void @f(ptr %p, i64 %n) {\n  call void @qsort(ptr %p, i64 %n, i64 8, ptr @order)\n  ret void\n}\n",
    );
    let f = module.find_func("f").unwrap();
    let mut interp = Interp::new(&module, Config::default()).unwrap();
    let values = [3.0, -1.0, 2.5, 2.5, 10.0, -7.0, 0.0];
    let address = interp.alloc_f64s(&values).unwrap();
    interp.run(f, &[Val::Ptr(address), Val::int(7)]).unwrap();
    assert_eq!(interp.read_f64s(address, 7).unwrap(), [-7.0, -1.0, 0.0, 2.5, 2.5, 3.0, 10.0]);
    let trap = interp.run(f, &[Val::Ptr(address), Val::int(8)]).unwrap_err();
    assert!(trap.to_string().contains("out of bounds"), "{trap}");
}

#[test]
fn variadic_functions_of_the_program() {
    // The list is read as clang's code for x86-64 does: integers from the save area, then from the overflow area.
    let module = parse(
        r#"
        %list = type { i32, i32, ptr, ptr }
        @format = constant [31 x i8] c"%d %g %d %d %d %d %d %d %s %Lg\00"
        @text = constant [4 x i8] c"end\00"
        declare void @llvm.va_start.p0(ptr)
        declare void @llvm.va_end.p0(ptr)
        declare i32 @vprintf(ptr, ptr)
        define i32 @print(ptr %format, ...) {
          %l = alloca [1 x %list]
          call void @llvm.va_start.p0(ptr %l)
          %r = call i32 @vprintf(ptr %format, ptr %l)
          call void @llvm.va_end.p0(ptr %l)
          ret i32 %r
        }
        define i32 @main() {
          %r = call i32 (ptr, ...) @print(ptr @format, i32 1, double 2.5, i32 2, i32 3, i32 4, i32 5, i32 6, i32 -7,
                                          ptr @text, x86_fp80 0xK3FFEC000000000000000)
          ret i32 0
        }
        "#,
    );
    let mut interp = Interp::new(&module, Config::default()).unwrap();
    assert_eq!(interp.run_main(&[]), Ok(0));
    assert_eq!(interp.output(), "1 2.5 2 3 4 5 6 -7 end 0.75");
}

#[test]
fn fresh_memory_may_be_filled() {
    let module = parse("define i8 @f() {\n  %p = alloca i8\n  %r = load i8, ptr %p\n  ret i8 %r\n}\n");
    let f = module.find_func("f").unwrap();
    let config = Config { uninit_byte: 0xaa, ..Config::default() };
    assert_eq!(Interp::new(&module, config).unwrap().run(f, &[]), Ok(Some(Val::Int(0xaa))));
}
