# What a sorter or an emulator must leave alone passes through it unchanged: IPv6, ARP and neighbour discovery, UDP, ICMP,
# fragments; changes of the MTU, segmentation offload, thousands of connections, floods of what cannot be sorted.

port=7001

# all_traffic NAME: everything, between the ends as they are now.
all_traffic() {
    for host in 10.9.0.2 fd09::2; do
        check "$1: neighbours of $host are found anew" neighbours $host
        check "$1: ICMP to $host, with fragments" pings $host
        check "$1: UDP to $host, with fragments" inside snd python3 "$here/traffic.py" datagrams $host $port 60 4000
        check "$1: TCP to $host, every byte compared" inside snd python3 "$here/traffic.py" transfer $host $port 4 2000000
    done
}

neighbours() {
    inside snd ip neigh flush all && inside rcv ip neigh flush all && inside snd ping -c 2 -i 0.2 -W 2 "$1"
}

pings() {
    inside snd ping -c 3 -i 0.2 -W 2 "$1" && inside snd ping -c 3 -i 0.2 -W 2 -s 6000 "$1" && inside rcv ping -c 2 -i 0.2 -W 2 "${1%2}1"
}

# offloads ON_OR_OFF: of all interfaces that the frames pass.
offloads() {
    for end in snd:s0 rcv:r0 emu:a0 emu:b0 liv:c0 liv:d0; do
        inside ${end%:*} ethtool -K ${end#*:} tso "$1" gso "$1" gro "$1" tx "$1" >/dev/null 2>&1
    done
    return 0
}

mtu() {
    for end in snd:s0 rcv:r0 emu:a0 emu:b0 liv:c0 liv:d0; do
        inside ${end%:*} ip link set dev ${end#*:} mtu "$1" || return 1
    done
}

# variants NAME: the same with other settings.
variants() {
    all_traffic "$1"
    if command -v ethtool >/dev/null; then
        offloads off; check "$1: TCP without offloads" transfers; offloads on
        check "$1: TCP with offloads again" transfers
    else
        say "skipped: offloads: ethtool is not installed"
    fi
    mtu 1280; check "$1: with an MTU of 1,280 bytes, changed while it runs" transfers
    mtu 3000; check "$1: with an MTU of 3,000 bytes, changed while it runs" transfers
    mtu 1500
}

transfers() {
    for host in 10.9.0.2 fd09::2; do
        inside snd python3 "$here/traffic.py" transfer $host $port 2 1000000 || return 1
        inside snd python3 "$here/traffic.py" datagrams $host $port 10 3500 || return 1
    done
}

# floods NAME PID: a transfer beside each kind of packets that cannot be sorted, at 40,000 per second; memory of the process.
floods() {
    local before
    for kind in syn udp fragment arp noise pairs; do
        before=$(resident "$2")
        # The packets come from the left, so that they pass what is tested.
        ip netns exec $tag-emu "$folder/flood" b0 3 40000 $kind 50000 10 >"$folder/flood.out" & flooding=$!
        sleep 0.3
        check "$1: TCP beside 40,000 packets of $kind per second" inside snd timeout 20 python3 "$here/traffic.py" transfer 10.9.0.2 $port 2 500000
        wait $flooding
        check "$1: it lives" kill -0 "$2"
        say "    resident memory before and after: $before and $(resident "$2") kB"
    done
}

untouched() {
    local quick=$1
    ip netns exec $tag-rcv python3 "$here/traffic.py" serve $port >"$folder/serve" 2>&1 & serving=$!
    for _ in $(seq 100); do inside rcv ss -lntu | grep -q ":$port " && break; sleep 0.1; done
    emulate --delay '1 ms'
    bump --sorter resequence
    if [ "$quick" = quick ]; then
        all_traffic "emulate and live A B"
        receive --sorter resequence && all_traffic "live IFACE" && stop $receiving
        stop $bump; stop $emulator; kill $serving; wait $serving 2>/dev/null
        return
    fi
    variants "emulate and live A B"
    check "emulate and live A B: 2,000 connections at once" inside snd python3 "$here/traffic.py" transfer 10.9.0.2 $port 2000 20000
    cc -O2 -o "$folder/flood" "$here/flood.c" 2>/dev/null && floods "live A B" $bump
    stop $bump; bump --sorter none
    receive --sorter resequence
    variants "live IFACE"
    check "live IFACE: 2,000 connections at once" inside snd python3 "$here/traffic.py" transfer 10.9.0.2 $port 2000 20000
    [ -x "$folder/flood" ] && floods "live IFACE" $receiving
    stop $receiving
    check "after it: everything as before" transfers
    stop $bump; stop $emulator; kill $serving; wait $serving 2>/dev/null
}
