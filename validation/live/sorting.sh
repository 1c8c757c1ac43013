# What sorting gains and costs: goodput, order, latency and processor time on several paths, at a bump in the wire and at
# the receiver's own interface.

# transfer SECONDS: sends from the sender to the receiver; its JSON is in $folder/iperf, the processor time of everything
# in $folder/cpu: hundredths of a second of the sorter ($1 of measured), the receiving program, and all software interrupts.
transfer() {
    ip netns exec $tag-rcv $precedence iperf3 -s -1 >/dev/null 2>&1 & server=$!
    sleep 0.5
    local before after
    before="$(ticks "$sorting") $(ticks $server) $(softirqs)"
    inside snd $precedence iperf3 -c 10.9.0.2 -t "$1" -C cubic -J >"$folder/iperf" & client=$!
    # The server's numbers are read shortly before it ends.
    sleep "$(awk "BEGIN { print $1 - 0.3 }")"
    after="$(ticks "$sorting") $(ticks $server) $(softirqs)"
    wait $client
    echo "$before $after" >"$folder/cpu"
    # The server ends with its client; one that was never reached is ended.
    sleep 0.2; kill $server 2>/dev/null; wait $server 2>/dev/null
}

table() {
    echo "| path | sorter | Mbit/s | retransmissions | overtook | late before | late after | latency median, us | p99, us | emulator p99 too late, us | missed | sorter, s/Gbit | receiving program, s/Gbit | software interrupts of the machine, s/Gbit |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
}

# row PATH SORTER FILE: of the last transfer; FILE has the JSON of what sorted.
row() {
    python3 - "$folder" "$1" "$2" "$3" "$seconds" <<'PY'
import json, sys
folder, path, sorter, file, seconds = sys.argv[1:]
try:
    iperf = json.load(open(folder + "/iperf"))
    if "error" in iperf:
        raise RuntimeError(iperf["error"])
    end = iperf["end"]
    goodput = end["sum_received"]["bits_per_second"] / 1e6
    retransmits = end["sum_sent"]["retransmits"]
    e = json.load(open(folder + "/emulate"))["directions"][0]
    l = json.load(open(folder + "/" + file))["directions"][0]
    ticks = [int(word) for word in open(folder + "/cpu").read().split()]
except Exception as error:
    print(f"| {path} | {sorter} | failed: {error} |")
    sys.exit()
gigabits = goodput / 1e3 * (float(seconds) - 0.3)
cpu = " | ".join(f"{(b - a) / 100 / gigabits:.2f}" for a, b in zip(ticks[:3], ticks[3:]))
us = lambda value: "-" if value is None else f"{1000 * value:,.0f}"
print(f"| {path} | {sorter} | {goodput:,.1f} | {retransmits:,} | {e['overtook']:,} of {e['packets']:,} | "
      f"{l['late_before']:,} | {l['late_after']:,} | {us(l['median_latency_ms'])} | {us(l['p99_latency_ms'])} | "
      f"{us(e['p99_error_ms'])} | {l['missed'] + e['missed']:,} | {cpu} |", flush=True)
PY
}

# at_bump NAME COALESCE_US OPTIONS...: a bump in the wire with each sorter on one path.
at_bump() {
    local name=$1 coalesce=$2; shift 2
    for sorter in $sorters; do
        emulate "$@"
        bump --sorter $sorter --coalesce-us $coalesce
        sorting=$bump
        transfer "$seconds"
        stop $bump; stop $emulator
        row "$name" $sorter bump
    done
}

# at_receiver NAME OPTIONS...: the receiver's own interface (AF_XDP and TAP); the bump before it sorts nothing, and stands
# for it where there is none (off).
at_receiver() {
    local name=$1; shift
    for sorter in off none srpic resequence; do
        emulate "$@"
        bump --sorter none
        sorting=$bump; file=bump
        if [ $sorter != off ]; then
            receive --sorter $sorter; sorting=$receiving; file=receive
        fi
        transfer "$seconds"
        [ $sorter = off ] || stop $receiving
        stop $bump; stop $emulator
        row "$name" "$sorter" $file
    done
}

sorting() {
    local clean="--rate 200Mbit/s --queue 400packets --delay 4ms"
    sorters="none srpic resequence"
    say "Sender: RACK with a window that stays a quarter of the round-trip time (tcp_recovery=3); a bump in the wire"
    sender static; table
    at_bump "nothing late" 75 $clean
    at_bump "jitter of 0.5 ms" 75 $clean --jitter 500us
    at_bump "jitter of 0.5 ms, batches of 0.5 ms" 500 $clean --jitter 500us
    at_bump "0.5 % late by 1 ms" 75 $clean --late 0.5% --late-by 1ms
    at_bump "0.5 % late by 2 ms" 75 $clean --late 0.5% --late-by 2ms
    say; say "The same sender; the receiver's own interface"; table
    at_receiver "nothing late" $clean
    at_receiver "jitter of 0.5 ms" $clean --jitter 500us
}

# S-Sender: the sender of the SRPIC paper, as far as this kernel has it.
strict() {
    local clean="--rate 200Mbit/s --queue 400packets --delay 4ms"
    sorters="none srpic resequence"
    say "S-Sender: three duplicate ACKs, no SACK, no timestamps; a bump in the wire"
    sender threshold; table
    at_bump "nothing late, batches of 0.5 ms" 500 $clean
    at_bump "jitter of 0.1 ms, batches of 0.5 ms" 500 $clean --jitter 100us
    at_bump "jitter of 0.2 ms, batches of 0.5 ms" 500 $clean --jitter 200us
    at_bump "jitter of 0.2 ms" 75 $clean --jitter 200us
}
