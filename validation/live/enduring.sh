# That nothing is lost when a process dies, and that memory does not grow.

# state: addresses and routes of the receiver.
state() { inside rcv ip addr show r0; inside rcv ip route; inside rcv ip -6 route; }

# kills COUNT: the process at the receiver's interface dies under load, again and again; two connections must survive.
kills() {
    local count=$1 seconds_all=$((3 * $1 + 20))
    emulate --rate '200 Mbit/s' --delay '2 ms'
    bump --sorter none
    # Addresses of IPv6 are tentative for some seconds.
    for _ in $(seq 50); do inside rcv ip addr show r0 | grep -q tentative && sleep 0.2; done
    state >"$folder/before"
    inside rcv iperf3 -s -1 -D >/dev/null
    ip netns exec $tag-rcv python3 "$here/traffic.py" sink 7002 "$folder/came" & sink=$!
    for _ in $(seq 100); do [ -e "$folder/came" ] && break; sleep 0.1; done
    ip netns exec $tag-snd iperf3 -c 10.9.0.2 -t $seconds_all -i 1 -J >"$folder/iperf" & client=$!
    ip netns exec $tag-snd python3 "$here/traffic.py" pour 10.9.0.2 7002 $seconds_all 2000000 & pouring=$!
    for _ in $(seq 200); do [ -s "$folder/came" ] && break; sleep 0.1; done
    : >"$folder/killed"
    for _ in $(seq "$count"); do
        receive --sorter resequence || break
        sleep 0.8
        date +%s.%N >>"$folder/killed"
        kill -9 $receiving
        wait $receiving 2>/dev/null
        sleep 0.7
    done
    sleep 1.5
    state >"$folder/after"
    kill $pouring 2>/dev/null; wait $pouring 2>/dev/null
    # Both ends are told of the end as usual; a lost connection would have ended with an error.
    kill -INT $client 2>/dev/null; wait $client; wait $sink
    stop $bump; stop $emulator
    check "addresses and routes as before" diff "$folder/before" "$folder/after"
    python3 - "$folder" <<'PY' || failures=$((failures + 1))
import bisect, json, sys
folder = sys.argv[1]
killed = [float(line) for line in open(folder + "/killed")]
came = [line.strip() for line in open(folder + "/came")]
ended, came = "end" in came, [float(line) for line in came if line != "end"]
run = json.load(open(folder + "/iperf"))
lost = [why for why in [run.get("error"), None if ended else "the paced connection"] if why and "interrupt" not in why]
gaps = []
for at in killed:
    # The longest time without data between the moment before the kill and one second after it.
    n = bisect.bisect_left(came, at)
    span = came[max(n - 1, 0):bisect.bisect_left(came, at + 1.0) + 1]
    gaps.append(max(b - a for a, b in zip(span, span[1:])) if len(span) > 1 else 1.0)
gaps.sort()
quantile = lambda q: f"{1000 * gaps[min(int(q * len(gaps)), len(gaps) - 1)]:.0f}"
slow = [i["sum"]["bits_per_second"] / 1e6 for i in run["intervals"]]
good = not lost and gaps and gaps[-1] < 1.0
print(f"{'ok' if good else 'FAILED'}: {len(killed)} times kill -9 under load: connections lost: {', '.join(lost) or 'none'}; "
      f"longest time without data around each: median {quantile(0.5)} ms, 90 % {quantile(0.9)}, 99 % {quantile(0.99)}, most {quantile(1)}; "
      f"slowest second of the bulk connection {min(slow):.1f} Mbit/s")
sys.exit(not good)
PY
}

# steady SECONDS RATE: memory of all three processes while one connection sends at the rate through jitter and loss.
steady() {
    emulate --delay '4 ms' --jitter '300 us' --loss 0.1%
    bump --sorter none
    receive --sorter resequence
    inside rcv iperf3 -s -1 -D >/dev/null
    sleep 0.5
    ip netns exec $tag-snd iperf3 -c 10.9.0.2 -t "$1" -b "$2" -i 10 -J >"$folder/iperf" & client=$!
    sleep 10
    : >"$folder/memory"
    while kill -0 $client 2>/dev/null; do
        echo "$(resident $emulator) $(resident $bump) $(resident $receiving)" >>"$folder/memory"
        sleep 10
    done
    wait $client
    stop $receiving; stop $bump; stop $emulator
    python3 - "$folder" "$1" <<'PY'
import json, sys
folder = sys.argv[1]
rows = [[int(word) for word in line.split()] for line in open(folder + "/memory")]
rows = [row for row in rows if len(row) == 3]
run = json.load(open(folder + "/iperf"))
rate = run["end"]["sum_received"]["bits_per_second"] / 1e6 if "end" in run and run["end"] else 0
print(f"{sys.argv[2]} s at {rate:.1f} Mbit/s; resident memory in kB at the start, in the middle, at the end, most:")
for name, column in zip(["emulate", "live A B", "live IFACE"], zip(*rows)):
    print(f"    {name}: {column[0]:,}, {column[len(column) // 2]:,}, {column[-1]:,}, {max(column):,}")
PY
}

# watching: what `inorder watch` takes on one thread without drops, 64 connections of small segments over veth.
watching() {
    cc -O2 -o "$folder/flood" "$here/flood.c" 2>/dev/null || { say "skipped: watch: no C compiler"; return; }
    for rate in 200000 500000 1000000; do
        ip netns exec $tag-rcv $precedence "$inorder" watch r0 --interval 2 --duration 7 --threads 1 --json \
            >"$folder/watch" 2>/dev/null & watch=$!
        sleep 0.7
        sent=$(inside liv $precedence "$folder/flood" d0 5 $rate)
        used=$(awk '{ print ($14 + $15) / 100 }' /proc/$watch/stat)
        wait $watch
        python3 - "$folder/watch" "$sent" "$used" <<'PY'
import json, sys
w = json.load(open(sys.argv[1]))
print(f"watch: {sys.argv[2]} sent, {w['frames']:,} analysed, {w['missed']:,} dropped by the kernel, "
      f"{sys.argv[3]} s of processor time")
PY
    done
}
