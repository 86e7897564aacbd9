//! Functions through which no derivative flows, and those that return an argument unchanged.

use super::*;

const fn inactive(title: &'static str, effects: Effects, names: &'static [Name]) -> KnownFn {
    KnownFn { title, names, what: Known::Inactive, effects, returns: None, floats: false }
}

const fn inactive_returning_first(title: &'static str, effects: Effects, names: &'static [Name]) -> KnownFn {
    KnownFn { title, names, what: Known::Inactive, effects, returns: Some(0), floats: false }
}

const fn identity(title: &'static str, names: &'static [Name]) -> KnownFn {
    KnownFn { title, names, what: Known::Identity { arg: 0 }, effects: NOTHING, returns: Some(0), floats: false }
}

/// Title of what works on objects of its own types, which have no floats.
pub(super) const LOCKS: &str = "locks and threads' own state";

/// Title of what writes text of values.
pub(super) const TEXTS: &str = "text into memory";

pub(super) static ROWS: &[KnownFn] = &[
    inactive(
        "intrinsics: notes to the compiler",
        HIDDEN,
        names![starting "llvm.lifetime." "llvm.dbg." "llvm.assume" "llvm.invariant.start." "llvm.invariant.end."
               "llvm.experimental.noalias.scope.decl" "llvm.donothing" "llvm.sideeffect" "llvm.prefetch."
               "llvm.var.annotation." "llvm.pseudoprobe" "llvm.fake.use" "llvm.instrprof." "llvm.codeview.annotation"],
    ),
    inactive(
        "notes of calls",
        HIDDEN,
        names!["__cyg_profile_func_enter" "__cyg_profile_func_exit" "mcount" "_mcount" "__fentry__"],
    ),
    inactive(
        "reports of sanitizers",
        PRINTS,
        names![starting "__ubsan_handle_" "__asan_report_" "__asan_handle_no_return" "__sanitizer_cov_"],
    ),
    inactive(
        "questions of the engine's own, about loops",
        HIDDEN,
        names![starting "enzyme.checkpoint.wanted." "enzyme.checkpoint.share" "enzyme.checkpoint.row."
               "enzyme.checkpoint.refused."],
    ),
    with_floats(inactive(
        "floats made of bits, by themselves",
        NOTHING,
        names!["enzyme.steady.f64" "enzyme.steady.f32"],
    )),
    inactive("intrinsics: stack pointer", HIDDEN, names![starting "llvm.stacksave" "llvm.stackrestore"]),
    inactive("intrinsics: stop", ENDS, names!["llvm.trap" "llvm.ubsantrap"]),
    inactive(
        "intrinsics: machine state",
        HIDDEN,
        names![starting "llvm.readcyclecounter" "llvm.readsteadycounter" "llvm.get.rounding" "llvm.set.rounding"
               "llvm.get.fpenv" "llvm.set.fpenv" "llvm.reset.fpenv" "llvm.get.fpmode" "llvm.set.fpmode"
               "llvm.reset.fpmode" "llvm.debugtrap" "llvm.frameaddress" "llvm.returnaddress" "llvm.addressofreturnaddress"],
    ),
    with_floats(inactive(
        "intrinsics: integers and predicates",
        NOTHING,
        names![starting "llvm.ctpop." "llvm.ctlz." "llvm.cttz." "llvm.bswap." "llvm.bitreverse." "llvm.fshl."
               "llvm.fshr." "llvm.abs." "llvm.smax." "llvm.smin." "llvm.umax." "llvm.umin." "llvm.scmp." "llvm.ucmp."
               "llvm.sadd." "llvm.uadd." "llvm.ssub." "llvm.usub." "llvm.smul." "llvm.umul." "llvm.sshl." "llvm.ushl."
               "llvm.sdiv.fix" "llvm.udiv.fix" "llvm.clmul." "llvm.is.constant." "llvm.is.fpclass." "llvm.objectsize."
               "llvm.vscale." "llvm.stepvector." "llvm.get.active.lane.mask."
               "llvm.allow.runtime.check" "llvm.allow.ubsan.check" "llvm.experimental.constrained.fcmp"
               "llvm.vector.reduce.add." "llvm.vector.reduce.mul." "llvm.vector.reduce.and." "llvm.vector.reduce.or."
               "llvm.vector.reduce.xor." "llvm.vector.reduce.smax." "llvm.vector.reduce.smin."
               "llvm.vector.reduce.umax." "llvm.vector.reduce.umin."],
    )),
    identity(
        "intrinsics that return an operand",
        names![starting "llvm.expect." "llvm.launder.invariant.group." "llvm.strip.invariant.group."
               "llvm.ptr.annotation." "llvm.annotation." "llvm.ssa.copy.i" "llvm.ssa.copy.p"],
    ),
    inactive(
        "output to streams",
        PRINTS,
        names!["printf" "vprintf" "fprintf" "vfprintf" "dprintf" "vdprintf" "__printf_chk" "__vprintf_chk"
               "__fprintf_chk" "__vfprintf_chk" "__dprintf_chk" "__vdprintf_chk" "wprintf" "fwprintf" "puts" "fputs"
               "puts_unlocked" "fputs_unlocked" "putchar" "putchar_unlocked" "putc" "putc_unlocked" "fputc"
               "fputc_unlocked" "fwrite" "fwrite_unlocked" "write" "perror" "psignal" "syslog" "iprintf"],
    ),
    inactive(
        "files and streams",
        PRINTS,
        names!["fopen" "fopen64" "fdopen" "freopen" "fclose" "fflush" "fseek" "fseeko" "ftell" "ftello" "rewind" "feof"
               "ferror" "clearerr" "fileno" "setbuf" "setvbuf" "remove" "rename" "unlink" "open" "open64" "close"
               "lseek" "isatty" "access" "mkdir" "flockfile" "funlockfile" "tmpfile" "popen" "pclose"],
    ),
    inactive(
        "reading of characters",
        PRINTS,
        names!["getchar" "getc" "fgetc" "ungetc" "getc_unlocked" "getchar_unlocked"],
    ),
    inactive("run-time type information", READS, names!["__dynamic_cast"]),
    inactive_returning_first("reading of lines", writes_hidden(&[0]), names!["fgets" "__fgets_chk"]),
    inactive(
        TEXTS,
        writes_hidden(&[0]),
        names!["sprintf" "vsprintf" "snprintf" "vsnprintf" "__sprintf_chk" "__vsprintf_chk" "__snprintf_chk"
               "__vsnprintf_chk" "siprintf" "strftime" "swprintf" "vswprintf" "__swprintf_chk" "__vswprintf_chk"],
    ),
    with_floats(inactive("text to numbers", READS, names!["atoi" "atol" "atoll" "atof"])),
    with_floats(inactive(
        "text to numbers, with end",
        writes_hidden(&[1]),
        names!["strtol" "strtoll" "strtoul" "strtoull" "strtod" "strtof" "strtold" "__isoc23_strtol"
               "__isoc23_strtoll" "__isoc23_strtoul" "__isoc23_strtoull"],
    )),
    inactive(
        "strings and bytes, read",
        READS,
        names!["strlen" "strnlen" "strcmp" "strncmp" "strcasecmp" "strncasecmp" "strcoll" "strchr" "strrchr" "strstr"
               "strpbrk" "strspn" "strcspn" "memcmp" "bcmp" "memchr" "memrchr" "rawmemchr" "strchrnul"],
    ),
    inactive_returning_first(
        "strings, copied",
        writes(&[0]),
        names!["strcpy" "strncpy" "strcat" "strncat" "__strcpy_chk" "__strncpy_chk" "__strcat_chk" "__strncat_chk"],
    ),
    inactive("strings, copied to their end", writes(&[0]), names!["stpcpy" "stpncpy" "__stpcpy_chk" "__stpncpy_chk"]),
    inactive(
        "characters",
        NOTHING,
        names!["isalnum" "isalpha" "isblank" "iscntrl" "isdigit" "isgraph" "islower" "isprint" "ispunct" "isspace"
               "isupper" "isxdigit" "tolower" "toupper" "toascii" "abs" "labs" "llabs" "ffs" "ffsl" "ffsll" "div"
               "ldiv" "lldiv"],
    ),
    inactive(
        "state of the C library",
        HIDDEN,
        names!["__ctype_b_loc" "__ctype_tolower_loc" "__ctype_toupper_loc" "__errno_location" "__error"
               "setlocale" "localeconv" "strerror"],
    ),
    with_floats(inactive(
        "classes of floats",
        NOTHING,
        names!["__fpclassify" "__fpclassifyf" "__fpclassifyl" "__isnan" "__isnanf" "__isnanl" "__isinf" "__isinff"
               "__isinfl" "__finite" "__finitef" "__finitel" "__signbit" "__signbitf" "__signbitl" "isnan" "isnanf"
               "isnanl" "isinf" "isinff" "isinfl" "finite" "finitef" "finitel"],
    )),
    inactive(
        "floating-point environment",
        writes_hidden(&[0]),
        names!["feclearexcept" "feraiseexcept" "fetestexcept" "fegetround" "fesetround" "fegetenv" "fesetenv"
               "feholdexcept" "feupdateenv" "fegetexceptflag" "fesetexceptflag" "feenableexcept" "fedisableexcept"
               "fegetexcept"],
    ),
    with_floats(inactive(
        "time",
        HIDDEN,
        names!["clock" "difftime" "sleep" "usleep" "omp_get_wtime" "omp_get_wtick"
               "_ZNSt6chrono3_V212steady_clock3nowEv" "_ZNSt6chrono3_V212system_clock3nowEv"
               "_ZNSt3__16chrono12steady_clock3nowEv" "_ZNSt3__16chrono12system_clock3nowEv"],
    )),
    inactive("time into memory", writes_hidden(&[0]), names!["time" "gettimeofday" "times" "mktime"]),
    inactive(
        "time into memory behind a clock",
        writes_hidden(&[1]),
        names!["clock_gettime" "clock_getres" "nanosleep" "getrusage"],
    ),
    inactive("calendar", PRINTS, names!["localtime" "gmtime" "ctime" "asctime" "tzset"]),
    inactive("calendar, into memory", writes_hidden(&[1]), names!["localtime_r" "gmtime_r" "ctime_r" "asctime_r"]),
    inactive("time by a base", writes_hidden(&[0]), names!["timespec_get" "timegm" "ftime"]),
    with_floats(inactive(
        "random numbers",
        writes_hidden(&[0]),
        names!["rand" "srand" "rand_r" "random" "srandom" "drand48" "erand48" "lrand48" "nrand48" "mrand48" "srand48"
               "arc4random" "arc4random_uniform" "arc4random_buf" "getentropy" "getrandom" "initstate" "setstate"],
    )),
    inactive(
        "random numbers of the C++ library",
        writes_hidden(&[0]),
        names![starting "_ZNSt13random_device" "_ZNKSt13random_device"],
    ),
    inactive(
        "process",
        PRINTS,
        names!["getenv" "secure_getenv" "setenv" "unsetenv" "system" "getpid" "getppid" "sysconf"
               "sched_yield" "getpagesize" "get_nprocs" "sched_getcpu" "gethostname" "raise" "malloc_usable_size"],
    ),
    inactive(
        "process, into memory",
        writes_hidden(&[0, 1]),
        names!["getcwd" "uname" "sigemptyset" "sigfillset" "sigaddset" "sigdelset" "getrlimit" "stat" "fstat" "lstat"
               "backtrace" "sem_init" "sem_post" "sem_wait" "sem_trywait" "sem_destroy"],
    ),
    inactive("signals sent", HIDDEN, names!["alarm" "kill"]),
    // What they are given runs at the end of the process, or between any two instructions.
    inactive(
        "functions for later",
        HIDDEN,
        names!["atexit" "at_quick_exit" "on_exit" "signal" "bsd_signal" "__cxa_atexit" "__cxa_thread_atexit"
               "__cxa_thread_atexit_impl"],
    ),
    inactive(
        "locales and messages",
        PRINTS,
        names!["nl_langinfo" "newlocale" "uselocale" "freelocale" "duplocale" "gettext" "dgettext" "ngettext"
               "strsignal" "bindtextdomain" "textdomain"],
    ),
    inactive(
        "end of the process",
        ENDS,
        names!["exit" "_exit" "_Exit" "quick_exit" "abort" "__assert_fail" "__assert_rtn" "__assert" "__assert_perror_fail"
               "__stack_chk_fail" "__chk_fail" "__cxa_pure_virtual" "__cxa_deleted_virtual" "_ZSt9terminatev"
               "__clang_call_terminate" "rust_begin_unwind"],
    ),
    inactive(
        "failures thrown by the C++ library",
        ENDS,
        names!["_ZSt17__throw_bad_allocv" "_ZSt20__throw_length_errorPKc" "_ZSt20__throw_out_of_rangePKc"
               "_ZSt24__throw_out_of_range_fmtPKcz" "_ZSt19__throw_logic_errorPKc"
               "_ZSt28__throw_bad_array_new_lengthv" "_ZSt16__throw_bad_castv" "_ZSt25__throw_bad_function_callv"
               "_ZSt24__throw_invalid_argumentPKc" "_ZSt20__throw_system_errori" "_ZSt21__throw_runtime_errorPKc"
               "_ZSt19__throw_range_errorPKc" "_ZSt20__throw_domain_errorPKc"],
    ),
    inactive("Rust panics", ENDS, names![starting "_ZN4core9panicking" "_ZN5alloc7raw_vec17capacity_overflow"]),
    inactive(
        LOCKS,
        writes_hidden(&[0, 1]),
        names![starting "pthread_mutex_" "pthread_mutexattr_" "pthread_spin_" "pthread_rwlock_" "pthread_cond_"
               "pthread_attr_" "pthread_self" "pthread_equal"],
    ),
    inactive(
        "OpenMP queries and settings",
        HIDDEN,
        names!["omp_get_thread_num" "omp_get_num_threads" "omp_get_max_threads" "omp_get_num_procs"
               "omp_get_thread_limit" "omp_get_level" "omp_get_active_level" "omp_get_ancestor_thread_num"
               "omp_get_team_size" "omp_get_dynamic" "omp_get_nested" "omp_get_max_active_levels" "omp_get_cancellation"
               "omp_get_num_teams" "omp_get_team_num" "omp_get_num_devices" "omp_get_default_device"
               "omp_get_initial_device" "omp_get_schedule" "omp_get_proc_bind" "omp_in_parallel" "omp_in_final"
               "omp_is_initial_device" "omp_set_num_threads" "omp_set_dynamic" "omp_set_nested"
               "omp_set_max_active_levels" "omp_set_schedule" "omp_set_default_device" "__kmpc_global_thread_num"],
    ),
    inactive(
        "OpenMP locks",
        writes_hidden(&[0]),
        names!["omp_init_lock" "omp_destroy_lock" "omp_set_lock" "omp_unset_lock" "omp_test_lock" "omp_init_nest_lock"
               "omp_destroy_nest_lock" "omp_set_nest_lock" "omp_unset_nest_lock" "omp_test_nest_lock"],
    ),
    inactive(
        "C++ initialisation",
        writes_hidden(&[0]),
        names!["__cxa_guard_acquire" "__cxa_guard_release" "__cxa_guard_abort"
               "_ZNSt8ios_base4InitC1Ev" "_ZNSt8ios_base4InitC2Ev" "_ZNSt8ios_base4InitD1Ev" "_ZNSt8ios_base4InitD2Ev"],
    ),
    with_floats(inactive_returning_first(
        "C++ output streams",
        writes_hidden(&[0]),
        names![starting "_ZNSolsE" "_ZNSo9_M_insertI" "_ZNSo3putEc" "_ZNSo5flushEv" "_ZNSo5writeEPKc"
               "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_" "_ZSt4endlIcSt11char_traitsIcEE"
               "_ZSt5flushIcSt11char_traitsIcEE" "_ZSt16__ostream_insertIcSt11char_traitsIcEE"
               "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEElsE" "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEE3putEc"
               "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEE5flushEv"
               "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEE5writeEPKc"
               "_ZNSt3__124__put_character_sequence"],
    )),
    with_floats(inactive("C++ strings of numbers", writes_hidden(&[0]), names![starting "_ZNSt3__19to_stringE"])),
    with_floats(inactive(
        "C++ strings to numbers, with end",
        writes_hidden(&[1]),
        names![starting "_ZNSt3__14stoiE" "_ZNSt3__14stolE" "_ZNSt3__15stollE" "_ZNSt3__15stoulE" "_ZNSt3__16stoullE"
               "_ZNSt3__14stodE" "_ZNSt3__14stofE" "_ZNSt3__15stoldE"],
    )),
    with_floats(inactive(
        "C++ output of strings and numbers",
        writes_hidden(&[0]),
        names![starting "_ZStlsIcSt11char_traitsIcE" "_ZNSo9_M_insertE" "_ZNSo5seekpE"
               "_ZNSo5tellpE" "_ZNSo6sentry" "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEE6sentry"
               "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEED" "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEEC"
               "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEE5seekp" "_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEE5tellp"],
    )),
    inactive(
        "C++ allocators of characters: they have no content",
        NOTHING,
        names![starting "_ZNSaIcEC" "_ZNSaIcED" "_ZNSaIwEC" "_ZNSaIwED"],
    ),
    inactive(
        "C++ strings",
        writes_hidden(&[0]),
        names![starting "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
               "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" "_ZNSt7__cxx119to_string"
               "_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE"
               "_ZNKSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE"],
    ),
    inactive(
        "C++ streams into strings and files",
        writes_hidden(&[0]),
        names![starting "_ZNSt7__cxx1118basic_stringstreamI" "_ZNSt7__cxx1119basic_ostringstreamI"
               "_ZNKSt7__cxx1118basic_stringstreamI" "_ZNKSt7__cxx1119basic_ostringstreamI"
               "_ZNSt7__cxx1115basic_stringbufI" "_ZNKSt7__cxx1115basic_stringbufI" "_ZNSt14basic_ofstreamI"
               "_ZNSt13basic_filebufI" "_ZNSt15basic_streambufI" "_ZNSt6localeC" "_ZNSt6localeD" "_ZNSt6localeaS"
               "_ZNKSt6locale" "_ZSt21ios_base_library_init"
               "_ZNSt3__118basic_stringstreamI" "_ZNSt3__119basic_ostringstreamI" "_ZNSt3__115basic_stringbufI"
               "_ZNKSt3__115basic_stringbufI" "_ZNSt3__114basic_ofstreamI" "_ZNSt3__113basic_filebufI"
               "_ZNSt3__115basic_streambufI" "_ZNSt3__16localeC" "_ZNSt3__16localeD" "_ZNSt3__16localeaS"
               "_ZNKSt3__16locale"],
    ),
    // What they change, the size at which a table grows next, no derivative reads.
    with_floats(inactive(
        "sizes of C++ hash tables",
        HIDDEN,
        names!["_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm"
               "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm" "_ZNSt3__112__next_primeEm"],
    )),
    inactive(
        "C++ hashes of bytes",
        READS,
        names!["_ZSt11_Hash_bytesPKvmm" "_ZSt15_Fnv_hash_bytesPKvmm" "_ZNSt3__113__hash_memoryEPKvm"],
    ),
    inactive(
        "C++ sorts of integers and characters",
        writes(&[0]),
        names!["_ZNSt3__16__sortIRNS_6__lessIccEEPcEEvT0_S5_T_" "_ZNSt3__16__sortIRNS_6__lessIwwEEPwEEvT0_S5_T_"
               "_ZNSt3__16__sortIRNS_6__lessIaaEEPaEEvT0_S5_T_" "_ZNSt3__16__sortIRNS_6__lessIhhEEPhEEvT0_S5_T_"
               "_ZNSt3__16__sortIRNS_6__lessIssEEPsEEvT0_S5_T_" "_ZNSt3__16__sortIRNS_6__lessIttEEPtEEvT0_S5_T_"
               "_ZNSt3__16__sortIRNS_6__lessIiiEEPiEEvT0_S5_T_" "_ZNSt3__16__sortIRNS_6__lessIjjEEPjEEvT0_S5_T_"
               "_ZNSt3__16__sortIRNS_6__lessIllEEPlEEvT0_S5_T_" "_ZNSt3__16__sortIRNS_6__lessImmEEPmEEvT0_S5_T_"
               "_ZNSt3__16__sortIRNS_6__lessIxxEEPxEEvT0_S5_T_" "_ZNSt3__16__sortIRNS_6__lessIyyEEPyEEvT0_S5_T_"],
    ),
    inactive(
        "ends of what C++ shared pointers have in common: nothing is left of it",
        NOTHING,
        names!["_ZNSt3__114__shared_countD2Ev" "_ZNSt3__119__shared_weak_countD2Ev"],
    ),
    inactive(
        "state of C++ streams",
        writes_hidden(&[0]),
        names![starting "_ZNSt9basic_iosIcSt11char_traitsIcEE5clear" "_ZNSt9basic_iosIcSt11char_traitsIcEE4init"
               "_ZNKSt5ctypeIcE13_M_widen_init" "_ZNSt8ios_baseC" "_ZNSt8ios_baseD"
               "_ZNSt3__18ios_base" "_ZNSt3__19basic_iosI" "_ZNSt3__114basic_iostreamI" "_ZNKSt3__18ios_base"],
    ),
    inactive("Rust output", PRINTS, names![starting "_ZN3std2io5stdio6_print" "_ZN3std2io5stdio7_eprint"]),
    inactive(
        "Rust output, mangled anew",
        PRINTS,
        names![ending "3std2io5stdio6__print" "3std2io5stdio7__eprint" "___rust_no_alloc_shim_is_unstable_v2"],
    ),
];
