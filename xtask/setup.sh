#!/bin/sh
# Sees to it that what a build ("build") or all checks ("test") need is there; on Debian and its kin it installs what is missing.
#
# usage: setup.sh [build|test]
#
# With LLVM_CONFIG or LLVM_SYS_221_PREFIX set nothing is ever installed: that LLVM is used. Nothing is installed either when
# everything is found. Where there is no apt-get, the packages to install are named and the exit status is 1.
set -eu

what=${1:-build}
case $what in
    build | test) ;;
    *)
        echo "usage: setup.sh [build|test]" >&2
        exit 2
        ;;
esac

# Where an LLVM other than Debian's packages lives is looked up by the xtask crate in the same order.
llvm_major=22

# Debian's packages: a build needs LLVM's headers and library, clang to try the result, and libc++'s headers for the bodies of what
# std::string does there; the checks load the plugin into each
# host (clang, flang, lld) compile with sanitizers and OpenMP, look at the format of C++, differentiate C++ libraries and BLAS, compare with
# ADOL-C, and count instructions.
build_packages="llvm-22-dev libclang-22-dev clang-22 libc++-22-dev"
test_packages="flang-22 libflang-22-dev lld-22 libomp-22-dev libclang-rt-22-dev clang-format-22 libc++abi-22-dev
libarmadillo-dev libeigen3-dev libboost-dev libglm-dev libnanoflann-dev libopenblas-dev liblapacke-dev libcolpack-dev libmpfr-dev libadolc-dev valgrind cmake
pkg-config libllvm19"

say() {
    if [ -t 1 ]; then printf '\033[1m%s\033[0m\n' "$*"; else printf '%s\n' "$*"; fi
}

fail() {
    if [ -t 2 ]; then printf '\033[1;31merror:\033[0m %s\n' "$1" >&2; else printf 'error: %s\n' "$1" >&2; fi
    shift
    for line; do printf '  %s\n' "$line" >&2; done
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints the path of a llvm-config of the right major version, if the PATH or a usual folder has one.
find_llvm_config() {
    for candidate in llvm-config-$llvm_major llvm-config${llvm_major} llvm-config \
        /usr/lib/llvm-$llvm_major/bin/llvm-config /usr/lib/llvm$llvm_major/bin/llvm-config /usr/lib64/llvm$llvm_major/bin/llvm-config \
        /opt/homebrew/opt/llvm@$llvm_major/bin/llvm-config /opt/homebrew/opt/llvm/bin/llvm-config \
        /usr/local/opt/llvm@$llvm_major/bin/llvm-config /usr/local/opt/llvm/bin/llvm-config; do
        if has "$candidate"; then
            case $("$candidate" --version 2>/dev/null) in
                "$llvm_major".*)
                    command -v "$candidate"
                    return 0
                    ;;
            esac
        fi
    done
    return 1
}

# An LLVM named by the user: it must be one, of our version, with clang; then nothing is installed.
check_named_llvm() {
    config=$1
    origin=$2
    has "$config" || fail "$origin names $config, which is not a program."
    version=$("$config" --version) || fail "$origin: $config --version failed."
    case $version in
        "$llvm_major".*) ;;
        *) fail "$origin names LLVM $version; LLVM $llvm_major is needed." ;;
    esac
    bindir=$("$config" --bindir)
    [ -x "$bindir/clang" ] || has clang-$llvm_major ||
        fail "$origin: there is no clang in $bindir, nor clang-$llvm_major on the PATH." "Install clang $llvm_major beside that LLVM."
    includedir=$("$config" --includedir)
    [ -e "$includedir/llvm-c/Core.h" ] || fail "$origin: $includedir/llvm-c/Core.h is missing: LLVM's headers are not installed."
}

check_rust() {
    has cargo || fail "Rust is missing (cargo is not on the PATH)." \
        "Install it from https://rustup.rs, or: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
    if [ "$what" = test ]; then
        missing=
        cargo fmt --version >/dev/null 2>&1 || missing="$missing rustfmt"
        cargo clippy --version >/dev/null 2>&1 || missing="$missing clippy"
        if [ -n "$missing" ]; then
            has rustup || fail "Missing Rust components:$missing." "Install them with the package manager that Rust came from."
            say "Installing Rust components:$missing"
            # shellcheck disable=SC2086 # a list of words
            rustup component add $missing || fail "rustup could not install:$missing."
        fi
    fi
}

install_debian() {
    wanted=$build_packages
    if [ "$what" = test ]; then wanted="$wanted $test_packages"; fi
    missing=
    for package in $wanted; do
        case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true) in
            installed) ;;
            *) missing="$missing $package" ;;
        esac
    done
    # The linker that Rust calls, and the C++ library that clang compiles the bridge with.
    has cc || missing="$missing gcc libc6-dev"
    cxx=${CXX:-c++} # perhaps with a wrapper before it
    has "${cxx%% *}" || missing="$missing g++"
    [ -n "$missing" ] || return 0

    install="apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=500$missing"
    as_root=
    if [ "$(id -u)" != 0 ]; then
        has sudo || fail "Packages are missing and this user may not install them. As root:" "apt-get update" "$install"
        as_root="sudo"
    fi
    say "Installing$missing (once; a few hundred megabytes)"
    log=$(mktemp)
    # shellcheck disable=SC2086 # lists of words
    if ! { $as_root apt-get update -q -o DPkg::Lock::Timeout=500 && $as_root env DEBIAN_FRONTEND=noninteractive $install -q; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "the packages could not be installed." "The command was: apt-get update && $install" \
            "Where the system's package source has no LLVM $llvm_major, https://apt.llvm.org has it."
    fi
    rm -f "$log"
}

name_packages() {
    fail "LLVM $llvm_major was not found on this system. Install it, then try again:" \
        "Homebrew:      brew install llvm@$llvm_major lld@$llvm_major        (or llvm, where that is version $llvm_major)" \
        "Fedora:        dnf install llvm$llvm_major-devel clang$llvm_major lld$llvm_major flang gcc-c++   (or llvm-devel clang lld, where they are version $llvm_major)" \
        "Arch:          pacman -S llvm clang lld flang" \
        "Nix:           nix-shell -p llvmPackages_$llvm_major.llvm llvmPackages_$llvm_major.clang llvmPackages_$llvm_major.lld libffi libxml2" \
        "Elsewhere: build or unpack LLVM $llvm_major and set LLVM_CONFIG=/path/to/llvm-config or LLVM_SYS_221_PREFIX=/path/to/llvm."
}

check_rust
if [ -n "${LLVM_CONFIG:-}" ]; then
    check_named_llvm "$LLVM_CONFIG" LLVM_CONFIG
elif [ -n "${LLVM_SYS_221_PREFIX:-}" ]; then
    check_named_llvm "$LLVM_SYS_221_PREFIX/bin/llvm-config" LLVM_SYS_221_PREFIX
elif has apt-get && has dpkg-query; then
    install_debian
elif config=$(find_llvm_config); then
    check_named_llvm "$config" "the PATH"
else
    name_packages
fi

# Whether the user names an LLVM of his own: nothing is installed then.
is_named() { [ -n "${LLVM_CONFIG:-}${LLVM_SYS_221_PREFIX:-}" ]; }

# The browser that opens the page of `enzyme explain`, where Debian's own is to be had.
install_browser() {
    if has chromium || has google-chrome || ! has apt-get || is_named; then return 0; fi
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    install="apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=500 chromium"
    say "Installing chromium (once; about 100 megabytes)"
    # shellcheck disable=SC2086 # lists of words
    $as_root env DEBIAN_FRONTEND=noninteractive $install -q >/dev/null 2>&1 || echo "Chromium could not be installed; its test is skipped." >&2
}

# What more there is to test with, where it can be had; without it its tests are skipped.
if [ "$what" = test ]; then
    install_browser
    if is_named; then
        has julia || echo "Julia: nothing is installed beside an LLVM that you name (sh xtask/julia.sh does); its tests are skipped." >&2
    else
        sh "$(dirname "$0")/julia.sh" || true
    fi
fi

if [ ! -x "${CARGO_TARGET_DIR:-target}/debug/xtask" ]; then say "Building the build program (once)"; fi
