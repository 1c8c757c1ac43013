# What the parts of validation/live share: four namespaces in a row, and processes in them.
#
# snd (s0) - (a0) emu (b0) - (c0) liv (d0) - (r0) rcv: a sender, an emulated path, a bump in the wire, a receiver.

here=$PWD/validation/live
inorder=$(realpath "${INORDER:-target/quick/inorder}" 2>/dev/null)
folder=$(mktemp -d)
tag=io$$
failures=0
# Other work of this machine must not decide about times.
precedence=$(command -v chrt >/dev/null && echo chrt -f 9)

skip() { echo "live: skipped: $*"; exit 0; }
say() { echo "$*"; }
# check NAME COMMAND...: one line that says whether the command succeeded.
check() {
    local name=$1; shift
    if "$@" >"$folder/check" 2>&1; then echo "ok: $name"; else
        echo "FAILED: $name"; sed 's/^/    /' "$folder/check" | tail -5
        failures=$((failures + 1))
    fi
}

needs() { for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done; }

clean() {
    for role in snd emu liv rcv; do
        ip netns pids $tag-$role 2>/dev/null | xargs -r kill 2>/dev/null
    done
    sleep 0.2
    for role in snd emu liv rcv; do
        ip netns pids $tag-$role 2>/dev/null | xargs -r kill -9 2>/dev/null
        ip netns del $tag-$role 2>/dev/null
    done
    rm -rf "$folder"
}

inside() { local role=$1; shift; ip netns exec $tag-$role "$@"; }
stop() { kill -INT "$@" 2>/dev/null; wait "$@" 2>/dev/null; }

build() {
    for role in snd emu liv rcv; do ip netns add $tag-$role 2>/dev/null || skip "network namespaces cannot be made here"; done
    ip link add s0 netns $tag-snd type veth peer name a0 netns $tag-emu || skip "pairs of virtual interfaces (veth) cannot be made here"
    ip link add b0 netns $tag-emu type veth peer name c0 netns $tag-liv || exit 1
    ip link add d0 netns $tag-liv type veth peer name r0 netns $tag-rcv || exit 1
    for address in 10.9.0 fd09::; do
        bits=$([ $address = 10.9.0 ] && echo 24 || echo 64)
        dot=$([ $address = 10.9.0 ] && echo .)
        ip -n $tag-snd addr add "$address${dot}1/$bits" dev s0 nodad
        ip -n $tag-rcv addr add "$address${dot}2/$bits" dev r0 nodad
    done 2>/dev/null
    for end in snd:s0 emu:a0 emu:b0 liv:c0 liv:d0 rcv:r0 snd:lo rcv:lo; do
        ip -n $tag-${end%:*} link set ${end#*:} up
    done
    inside snd sysctl -qw net.ipv4.tcp_no_metrics_save=1
    # The receiver sends each duplicate ACK at once.
    inside rcv sysctl -qw net.ipv4.tcp_comp_sack_nr=0
}

# sender KIND: how the sender finds losses. The sender of the SRPIC paper has three duplicate ACKs. Since Linux 6.17
# loss detection with SACK is RACK alone, whatever tcp_recovery says (commit 1c120191dcec); three duplicate ACKs remain without
# SACK (RFC 6582), and without timestamps no reduction is undone (RFC 4015).
sender() {
    case $1 in
        static) settings="tcp_sack=1 tcp_timestamps=1 tcp_recovery=3" ;;
        threshold) settings="tcp_sack=0 tcp_timestamps=0 tcp_recovery=0" ;;
        linux) settings="tcp_sack=1 tcp_timestamps=1 tcp_recovery=1" ;;
    esac
    reordering=$([ "$1" = linux ] && echo 300 || echo 3)
    for setting in $settings tcp_reordering=3 tcp_max_reordering=$reordering; do
        inside snd sysctl -qw net.ipv4.$setting
    done
}

# ready FILE: waits until the verb whose standard error is the file says that it works.
ready() {
    for _ in $(seq 100); do
        grep -q "Ctrl-C ends it" "$1" 2>/dev/null && return 0
        sleep 0.1
    done
    echo "live: not ready:" >&2; cat "$1" >&2
    return 1
}

# emulate OPTIONS...: the path; its process is $emulator.
emulate() {
    ip netns exec $tag-emu $precedence "$inorder" emulate a0 b0 --realtime "$@" --json >"$folder/emulate" 2>"$folder/emulate.err" & emulator=$!
    ready "$folder/emulate.err"
}

# bump OPTIONS...: the bump in the wire; its process is $bump.
bump() {
    ip netns exec $tag-liv $precedence "$inorder" live c0 d0 --realtime "$@" --json >"$folder/bump" 2>"$folder/bump.err" & bump=$!
    ready "$folder/bump.err"
}

# receive OPTIONS...: sorting of what the receiver's interface receives; its process is $receiving.
receive() {
    ip netns exec $tag-rcv $precedence "$inorder" live r0 --realtime "$@" --json >"$folder/receive" 2>"$folder/receive.err" & receiving=$!
    ready "$folder/receive.err"
}

# ticks PID: hundredths of a second of processor time so far.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null || echo 0; }
# softirqs: hundredths of a second that all processors spent on software interrupts.
softirqs() { awk '/^cpu / { print $8 }' /proc/stat; }
resident() { awk '/VmRSS/ { print $2 }' "/proc/$1/status" 2>/dev/null; }
