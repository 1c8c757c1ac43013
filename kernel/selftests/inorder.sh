#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tests of the modules, in the form of tools/testing/selftests/net: TAP on standard output, exit code 0 if all passed, 4 if
# none could run, 1 otherwise. As root, on a machine whose devices may come and go: a virtual one.
#
#   inorder.sh [TEST ...]      all of them, or those named
#
# Environment: MODULES is the folder of inorder.ko, tcp_ancr.ko and, where it is one, pktgen.ko (standard: the parent of this
# one); TRAFFIC the program made of traffic.c; SHORT=1 does a tenth of everything; PAUSE are the microseconds between 64 frames of
# a flood, for a machine whose clock stands still while it works. Needs ip, tc, ethtool, insmod, taskset.
here=$(cd "$(dirname "$0")" && pwd)
MODULES=${MODULES:-$here/..}
TRAFFIC=${TRAFFIC:-$here/traffic}
scratch=$(mktemp -d)
cpus=$(nproc)
times=10
many=10000
[ -z "$SHORT" ] || { times=1; many=1000; }
# The longest that a connection may hear nothing while the device is changed, beyond what it does when nothing changes.
MAX_WAIT_MS=3000
RATE_MBIT=256

say() { echo "# $*"; }
fail() { say "failed: $*"; exit 1; }
skip() { say "skipped: $*"; exit 4; }
a() { ip netns exec a "$@"; }
b() { ip netns exec b "$@"; }
setting() { b sh -c "echo '$2' >/sys/class/net/ino0/inorder/$1" 2>/dev/null; }
sorter() { setting sorter "$1"; }
shown() { b cat /sys/class/net/ino0/inorder/"$1"; }
counter() { b ethtool -S ino0 | sed -n "s/^ *$1: //p"; }
repeat() { # TIMES COMMAND...: with the number of the time in $i
	count=$1 i=0
	shift
	while [ $i -lt "$count" ]; do
		"$@" || fail "$* number $i"
		i=$((i + 1))
	done
}

add() { # QUEUES
	grep -q '^inorder ' /proc/modules || insmod "$MODULES/inorder.ko" || fail "insmod"
	ip -n b link add link vb name ino0 numrxqueues "${1:-1}" type inorder &&
		ip -n b link set ino0 up && ip -n b addr add 10.0.0.2/24 dev ino0 || fail "a device"
}

path_rate() { # MBIT/S
	tc -n a class replace dev va parent 1: classid 1:1 htb rate "$1mbit" burst 1600 cburst 1600 quantum 1514
}

# Two namespaces; frames go over as many queues and processors as there are, with jitter that reorders by some ten places.
begin() { # QUEUES
	ip netns add a
	ip netns add b
	ip link add va netns a numtxqueues "$cpus" numrxqueues "$cpus" type veth \
		peer name vb netns b numtxqueues "$cpus" numrxqueues "$cpus" || fail "veth"
	for queue in 0 1 2 3; do
		b sh -c "echo f >/sys/class/net/vb/queues/rx-$queue/rps_cpus" 2>/dev/null
	done
	for host in a b; do
		ip -n $host link set lo up
		ip netns exec $host sh -c 'cd /proc/sys/net
			echo 0 >ipv6/conf/default/accept_dad
			echo 12 >ipv4/tcp_syn_retries; echo 12 >ipv4/tcp_synack_retries; echo 1 >ipv4/tcp_no_metrics_save
			echo 20000 >ipv4/tcp_max_syn_backlog; echo 20000 >core/somaxconn' 2>/dev/null
	done
	ip -n a addr add 10.0.0.1/24 dev va
	ip -n a link set va up
	ip -n b link set vb up
	a ethtool -K va tso off gso off >/dev/null 2>&1
	tc -n a qdisc add dev va root handle 1: htb default 1 &&
		path_rate $RATE_MBIT &&
		tc -n a qdisc add dev va parent 1:1 netem limit 100000 delay 2ms 0.4ms loss 0.1% || say "no netem here: nothing is reordered"
	add "$1"
}

end() {
	for file in "$scratch"/*.pid; do
		[ ! -e "$file" ] || kill "$(cat "$file")" 2>/dev/null
	done
	rm -f "$scratch"/*.*
	ip netns del a 2>/dev/null
	ip netns del b 2>/dev/null
	ip netns del c 2>/dev/null || true
}

# One server for each processor, on ports 5000, 5001, ...
serve() {
	rm -f "$scratch"/served.* "$scratch"/sent.*
	cpu=0
	while [ $cpu -lt "$cpus" ]; do
		ip netns exec b taskset -c $cpu "$TRAFFIC" serve $((5000 + cpu)) >"$scratch/served.$cpu" 2>&1 &
		echo $! >"$scratch/server.$cpu.pid"
		cpu=$((cpu + 1))
	done
	while [ "$(cat "$scratch"/served.* 2>/dev/null | grep -c ready)" -lt "$cpus" ]; do sleep 0.05; done
}

send() { # CONNECTIONS BYTES: begins them, on other processors than their servers
	cpu=0
	while [ $cpu -lt "$cpus" ]; do
		ip netns exec a taskset -c $(((cpu + 1) % cpus)) "$TRAFFIC" send 10.0.0.2 $((5000 + cpu)) $(($1 / cpus)) "$2" \
			>"$scratch/sent.$cpu" 2>&1 &
		echo $! >"$scratch/sender.$cpu.pid"
		cpu=$((cpu + 1))
	done
}

# Why the kernel under the servers resets connections: what it counts of that, and the servers that still run.
resets() {
	b cat /proc/net/snmp /proc/net/netstat | awk '
		$1 != name { name = $1; split($0, heads); next }
		{ for (i = 2; i <= NF; i++) if ($i && name ~ /^Tcp/) printf " %s %s", heads[i], $i }'
	for file in "$scratch"/server.*.pid; do
		kill -0 "$(cat "$file")" && printf ' server %s runs' "$(cat "$file")"
	done
}

# Waits for what send began; then the servers say what came.
arrived() {
	for file in "$scratch"/sender.*.pid; do
		wait "$(cat "$file")" || fail "a sender ($?): $(cat "$scratch"/sent.*); the servers: $(cat "$scratch"/served.*);$(resets)"
		rm "$file"
	done
	for file in "$scratch"/server.*.pid; do
		kill "$(cat "$file")"
		wait "$(cat "$file")" || fail "a server ($?): $(cat "$scratch"/served.*)"
		rm "$file"
	done
	longest=$(sed -n 's/.*longest wait \([0-9]*\) ms/\1/p' "$scratch"/served.* | sort -n | tail -1)
	bytes=$(sed -n 's/.* open, \([0-9]*\) bytes.*/\1/p' "$scratch"/served.* | awk '{ sum += $1 } END { printf "%.0f", sum }')
}

stop_sending() {
	for file in "$scratch"/sender.*.pid; do kill "$(cat "$file")"; done
}

# Everything that came went up, and every gap has ended.
at_rest() {
	sleep 0.3
	for what in ring_now held_now; do
		[ "$(counter $what)" = 0 ] || fail "$what is $(counter $what) although nothing comes"
	done
	ended=0
	for what in filled passed timed_out overflowed flushed; do ended=$((ended + $(counter gaps_$what))); done
	[ "$(counter gaps_opened)" = $ended ] || fail "gaps: $(counter gaps_opened) opened, $ended ended"
}

test_parameters() {
	begin
	[ "$(shown sorter)" = srpic ] || fail "the standard sorter is $(shown sorter)"
	sorter resequence:bound=20ms,window=512 || fail "a sorter with settings"
	for text in none,x what resequence:what=1 resequence:bound=20 resequence:bound=11s resequence:window=0 srpic:literal=maybe; do
		sorter "$text" && fail "took sorter $text"
	done
	[ "$(shown sorter)" = resequence:bound=20ms,window=512 ] || fail "what was refused changed the sorter: $(shown sorter)"
	setting flows 0 && fail "took 0 flows"
	setting flows 1048577 && fail "took 2^20 + 1 flows"
	setting gap_usecs 1000001 && fail "took a gap above a second"
	b ethtool -G ino0 rx 0 2>/dev/null && fail "took a ring of 0"
	b ethtool -G ino0 rx 8193 2>/dev/null && fail "took a ring above the largest"
	b ethtool -C ino0 rx-usecs 1000001 2>/dev/null && fail "took rx-usecs above a second"
	ip -n b link set ino0 mtu 1501 2>/dev/null && fail "took an MTU above that of the lower device"
	ip -n b link add link lo name ino1 type inorder 2>/dev/null && fail "took a device that is not Ethernet"
	ip -n b link add link vb name ino1 type inorder 2>/dev/null && fail "took a device that has one"
	ip -n b link add link vb name ino1 numrxqueues 65 type inorder 2>/dev/null && fail "took 65 queues"
	b ethtool -k vb | grep -q '^generic-receive-offload: off' || fail "GRO is on below"
	ip -n b link set vb down
	ip -n b link set ino0 down
	ip -n b link set ino0 up 2>/dev/null && fail "up above a device that is down"
	ip -n b link del ino0
	b ethtool -k vb | grep -q '^generic-receive-offload: on' || say "GRO was not on before"
}

test_order() {
	for queues in 1 4; do
		begin $queues
		for sorter in none srpic resequence; do
			sorter $sorter || fail "sorter $sorter"
			before=$(counter suitable)
			serve
			send $many 20000
			arrived
			at_rest
			say "$many connections with $sorter, $queues queues: every byte arrived ($bytes);" \
				"$(($(counter suitable) - before)) segments with data, $(counter gaps_filled) gaps filled so far"
		done
		end
	done
	begin
	setting flows 64 && sorter resequence:window=32 || fail "a small table"
	serve
	send $many 20000
	arrived
	at_rest
	say "$many connections in a table of 64 with 32 places: every byte arrived ($bytes); $(counter gaps_overflowed) gaps gave way"
}

# What waits is no longer counted as on its way from a socket of this machine: its sender would stop for it.
test_owed() {
	begin
	tc -n a qdisc del dev va root 2>/dev/null
	sorter resequence:bound=10s,start=10s,blind=10s || fail "a long bound"
	owed=$(a "$TRAFFIC" owed va)
	[ "$(counter held_now)" = 1 ] || fail "held are $(counter held_now)"
	[ "$owed" = 0 ] || fail "the sender of a packet that waits counts $owed bytes"
}

# In one process: on a slow machine two of them would leave it down for long.
down_and_up() { # DEVICE
	printf 'link set %s down\nlink set %s up\n' "$1" "$1" | ip -n b -batch -
}

change() {
	case $((i % 9)) in
	0) sorter srpic:block_size=8 ;;
	1) sorter resequence:bound=2ms ;;
	2) b ethtool -G ino0 rx $((16 + i)) ;;
	3) b ethtool -C ino0 rx-usecs $((i * 7 % 300)) rx-frames $((i % 20)) ;;
	4) down_and_up ino0 ;;
	5) ip -n b link set vb mtu $((1300 + i % 100)) && ip -n b link set vb mtu 1500 && ip -n b link set ino0 mtu 1500 ;;
	6) down_and_up vb ;;
	7) b sh -c 'cd /sys/class/net/ino0 && [ ! -e threaded ] || { echo 1 >threaded && echo 0 >threaded; }' ;;
	8) b ethtool -K ino0 gro off && setting gap_usecs 20 && setting flows $((4096 + i)) && b ethtool -K ino0 gro on ;;
	esac && sleep 0.02
}

# Readers of everything that is shown, while it changes.
look_on() {
	while :; do
		b ethtool -S ino0
		ip -n b -s -d link show ino0
		b cat /proc/net/dev /sys/class/net/ino0/statistics/rx_packets /sys/class/net/ino0/inorder/*
		sleep 0.1
	done >/dev/null 2>&1 &
	echo $! >"$scratch/reader.pid"
}

# What takes as long as a change, and changes nothing.
change_nothing() {
	b ethtool -c ino0 >/dev/null && ip -n b link show ino0 >/dev/null && sleep 0.02
}

# How long a connection hears nothing while TIMES of this is done; 20 of them go on.
waited_during() { # TIMES COMMAND
	serve
	send 20 0
	sleep 0.5
	repeat "$1" "$2"
	sleep 1
	stop_sending
	arrived
}

# How long one hears nothing while nothing changes: the machine's own stalls. A machine that does not keep up with the path's rate
# gets a slower path, down to one at which it is calm.
baseline() { # TIMES
	rate=$RATE_MBIT
	while :; do
		waited_during "$1" change_nothing
		unchanged=$longest
		[ "$unchanged" -ge $((MAX_WAIT_MS / 10)) ] && [ $rate -gt 4 ] || return 0
		say "a connection heard nothing for $unchanged ms at $rate Mbit/s although nothing changed: a slower path"
		rate=$((rate / 4))
		path_rate $rate || fail "a slower path"
	done
}

# The same while something changes, which may add MAX_WAIT_MS to what the machine did by itself.
must_go_on() { # TIMES COMMAND WHAT
	baseline "$1"
	waited_during "$1" "$2"
	what="$1 $3: 20 connections went on at $rate Mbit/s ($bytes bytes), the longest wait of one was $longest ms, $unchanged ms when nothing changed"
	[ $((longest - unchanged)) -lt $MAX_WAIT_MS ] || fail "$what"
	say "$what"
}

test_change() {
	counts="1 4"
	# A short run has several queues, as the floods do.
	[ -z "$SHORT" ] || counts=4
	for queues in $counts; do
		begin $queues
		look_on
		must_go_on $((times * 20)) change "changes of parameters, MTU and links, $queues queues"
		at_rest
		end
	done
}

reload() {
	[ $((i % 2)) = 0 ] || sorter resequence
	rmmod inorder && add $((i % 4 + 1)) && sleep 0.05
}

test_reload() {
	begin
	must_go_on $((times * 10)) reload "unloads and loads"
}

# The lower device goes, or its namespace, while frames come from every processor.
remove() {
	ip netns add c
	ip link add vc type veth peer name vd netns c
	ip -n c link set vd up && ip link set vc up
	ip -n c link add link vd name ino1 numrxqueues 4 type inorder && ip -n c link set ino1 up || fail "a device"
	flood vc
	sleep 0.05
	[ $((i % 2)) = 0 ] || ip link del vc
	ip netns del c
	stop_flood
	ip link del vc 2>/dev/null
	while ip link show vc >/dev/null 2>&1; do sleep 0.01; done
}

test_removal() {
	repeat $((times * 2)) remove
	say "$((times * 2)) removals of the lower device, or of its namespace, under frames from $cpus processors"
}

# Frames of every pattern from every processor, in this namespace, or by what stands before.
flood() { # DEVICE [COMMAND...]
	device=$1
	shift
	cpu=0
	for pattern in down gaps flood colliding middle shuffled flows in-order; do
		"$@" taskset -c $((cpu % cpus)) "$TRAFFIC" frames "$device" $pattern 4000000000 "${PAUSE:-0}" >/dev/null 2>&1 &
		echo $! >"$scratch/flood.$cpu.pid"
		cpu=$((cpu + 1))
		[ $cpu -lt $((cpus * 2)) ] || break
	done
}

stop_flood() {
	for file in "$scratch"/flood.*.pid; do
		kill "$(cat "$file")" && wait "$(cat "$file")"
		rm "$file"
	done 2>/dev/null
}

pktgen() { # DEVICE: UDP from every processor, by the kernel's own generator
	[ -e /proc/net/pktgen ] || insmod "$MODULES/pktgen.ko" 2>/dev/null || return 1
	cpu=0
	while [ $cpu -lt "$cpus" ]; do
		a sh -c "cd /proc/net/pktgen && echo add_device $1@$cpu >kpktgend_$cpu &&
			for word in 'count 0' 'pkt_size 100' 'delay 0' 'dst_mac 02:00:00:00:00:01' 'dst 10.0.0.9' \
				'udp_dst_min 9' 'udp_dst_max 1009' 'flag UDPDST_RND'; do echo \"\$word\" >$1@$cpu || exit 1; done" || return 1
		cpu=$((cpu + 1))
	done
	a sh -c 'echo start >/proc/net/pktgen/pgctrl' &
	echo $! >"$scratch/pktgen.pid"
}

stop_pktgen() {
	[ -e "$scratch/pktgen.pid" ] || return 0
	a sh -c 'echo stop >/proc/net/pktgen/pgctrl'
	wait "$(cat "$scratch/pktgen.pid")"
	rm "$scratch/pktgen.pid"
	a sh -c 'echo reset >/proc/net/pktgen/pgctrl'
}

# Processors come and go.
hotplug() {
	switch=/sys/devices/system/cpu/cpu$((i % (cpus - 1) + 1))/online
	echo 0 >$switch && sleep 0.2 && echo 1 >$switch
}

test_flood() {
	begin 4
	tc -n a qdisc del dev va root 2>/dev/null
	if pktgen va; then
		repeat $((times * 5)) change
		stop_pktgen
		say "$((times * 5)) changes under UDP by pktgen from $cpus processors: $(counter flowless) packets taken," \
			"$(counter ring_full) found the ring full"
		at_rest
	else
		say "no pktgen here: floods by packet sockets only"
	fi
	look_on
	flood va ip netns exec a
	for sorter in none srpic resequence resequence:window=64; do
		sorter $sorter || fail "sorter $sorter"
		repeat $((times * 5)) change
		sorter $sorter || fail "sorter $sorter"
		sleep 0.5
	done
	if [ -e /sys/devices/system/cpu/cpu1/online ]; then
		repeat "$times" hotplug
		say "$times processors offline and online again"
	fi
	stop_flood
	at_rest
	say "$((times * 20)) changes under TCP of all patterns from $cpus processors: $(counter suitable) segments taken," \
		"$(counter gaps_opened) gaps, $(counter ring_full) found the ring full"
	serve
	send 20 200000
	arrived
	say "and 20 connections afterwards: every byte arrived"
	flood va ip netns exec a
	repeat $((times * 2)) reload
	stop_flood
	say "$((times * 2)) unloads and loads under them"
}

as_other() { b setpriv --bounding-set=-net_admin --inh-caps=-net_admin sh -c "echo '$1' >/sys/class/net/ino0/inorder/$2" 2>/dev/null; }

# Without CAP_NET_ADMIN over the machine, what a device takes is bounded; with it, the bound is larger.
test_limits() {
	begin
	command -v setpriv >/dev/null || skip "no setpriv"
	as_other resequence sorter || fail "a resequencer for who has no rights over the machine"
	as_other resequence:window=500000 sorter && fail "a window of 500,000 for who has no rights over the machine"
	as_other 1048576 flows && fail "2^20 flows for who has no rights over the machine"
	sorter resequence:window=500000 || fail "a window of 500,000"
	sorter resequence:window=16777216 && fail "a window of 2^24"
	sorter srpic || fail "srpic again"
	say "a large window and 2^20 flows are refused without CAP_NET_ADMIN over the machine, and 2^24 places to all"
	ip link add vq type veth peer name vr
	ip link add link vq name ino64 numrxqueues 64 type inorder || fail "64 queues for the root of the machine"
	ip link del vq
}

# Who is root in namespaces of his own only: what a device takes is bounded, and charged.
test_namespace() {
	grep -q '^inorder ' /proc/modules || insmod "$MODULES/inorder.ko" || fail "insmod"
	unshare -Urnm true 2>/dev/null || skip "no user namespaces (CONFIG_USER_NS)"
	groups=$scratch/cgroup
	mkdir -p "$groups" "$scratch/sys"
	mount -t cgroup2 cgroup "$groups" 2>/dev/null && echo +memory >"$groups/cgroup.subtree_control" 2>/dev/null
	mkdir "$groups/guest" 2>/dev/null
	limited=$(sh -c "echo \$\$ >$groups/guest/cgroup.procs; exec unshare -Urnm sh" 2>/dev/null <<-END
		mount -t sysfs sys $scratch/sys
		ip link add v0 type veth peer name v1
		ip link add link v0 name one numrxqueues 64 type inorder 2>/dev/null && echo 64 queues
		ip link add link v0 name one numrxqueues 4 type inorder || echo no device
		cat $groups/guest/memory.current >$scratch/before.is
		cd $scratch/sys/class/net/one/inorder || echo no settings
		echo resequence >sorter || echo no resequencer
		cat $groups/guest/memory.current >$scratch/after.is
		echo resequence:window=16777216 >sorter && echo 2^24 places
		echo 1048576 >flows && echo 2^20 flows
		# Little is left to the group: the module must not take more, whoever is asked or killed for it.
		cat $groups/guest/memory.current >$groups/guest/memory.max
		echo resequence:window=6000 >sorter && echo what its group may not take
	END
	)
	[ ! -s "$scratch/after.is" ] || charged=$(($(cat "$scratch/after.is") - $(cat "$scratch/before.is")))
	rmdir "$groups/guest" 2>/dev/null
	umount "$groups" 2>/dev/null
	if [ -z "$charged" ]; then
		limited=$(echo "$limited" | grep -v "its group")
		say "this kernel charges no memory (CONFIG_MEMCG)"
	fi
	[ -z "$limited" ] || fail "root of a namespace got: $limited"
	say "root of a namespace of its own: 64 queues, 2^24 places and 2^20 flows are refused"
	[ -n "$charged" ] || return 0
	[ "$charged" -gt 4000000 ] || fail "4 resequencers charged $charged bytes only"
	say "4 resequencers of 4096 flows: $charged bytes charged to their maker, who gets no more than its group may take"
}

test_ancr() {
	begin
	insmod "$MODULES/tcp_ancr.ko" || fail "insmod tcp_ancr"
	echo "reno ancr" >/proc/sys/net/ipv4/tcp_allowed_congestion_control
	a sh -c 'echo ancr >/proc/sys/net/ipv4/tcp_congestion_control && echo 0 >/proc/sys/net/ipv4/tcp_recovery' || fail "ancr"
	serve
	send 100 200000
	arrived
	say "100 connections with ancr: every byte arrived"
	end
	# Connections in their last states still use it.
	left=60
	while ! rmmod tcp_ancr 2>/dev/null; do
		sleep 5
		left=$((left - 1))
		[ $left -gt 0 ] || fail "rmmod tcp_ancr"
	done
}

# What a packet takes on one processor from the packet socket to the stack above, and what of it is the sorter.
test_cost() {
	[ -z "$SHORT" ] || skip "times are measured in whole runs only"
	begin
	tc -n a qdisc del dev va root 2>/dev/null
	for queue in 0 1 2 3; do
		b sh -c "echo 0 >/sys/class/net/vb/queues/rx-$queue/rps_cpus" 2>/dev/null
	done
	b ethtool -K ino0 gro off
	b ethtool -G ino0 rx 8192
	b ethtool -C ino0 rx-usecs 50 rx-frames 64
	for pattern in in-order flows colliding down middle shuffled flood gaps; do
		line=
		for sorter in none srpic resequence resequence:window=65536; do
			sorter $sorter || fail "sorter $sorter"
			best=
			for round in 1 2 3; do
				full=$(counter ring_full)
				took=$(a taskset -c 0 "$TRAFFIC" frames va $pattern 1000000 | sed -n 's/.*: \([0-9]*\) ns.*/\1/p')
				[ $(($(counter ring_full) - full)) -lt 1000 ] || fail "$pattern: $(($(counter ring_full) - full)) found the ring full"
				[ -n "$best" ] && [ "$best" -le "$took" ] || best=$took
				sleep 0.1
			done
			[ -n "$line" ] || base=$best
			line="$line, $sorter $((best - base))"
			[ $((best - base)) -lt 1000 ] || fail "$pattern with $sorter: $((best - base)) ns"
		done
		say "ns for a packet, $pattern: $base without a sorter; beyond that ${line#, none 0, }"
	done
}

test_leaks() {
	leaks=/sys/kernel/debug/kmemleak
	[ -e $leaks ] || skip "no kmemleak"
	grep -q '^inorder ' /proc/modules || insmod "$MODULES/inorder.ko" || fail "insmod"
	# Functions of a module that is gone have no name any more, only an address: in the 16 MiB in which it lay. Processes are named in
	# these reports, too, as this script is.
	ours=$(awk '$1 == "inorder" || $1 == "tcp_ancr" { sub(/^0x0*/, "", $6); print "] 0x" substr($6, 1, length($6) - 6) }' /proc/modules)
	[ -n "$ours" ] || fail "the addresses of the modules are not told"
	ours=$(echo "$ours" | sed 's/]/\\]/; s/$/[0-9a-f]{6}$/' | paste -sd '|' -)
	rmmod inorder
	sleep 10
	echo scan >$leaks
	sleep 10
	echo scan >$leaks
	count=$(grep -cE "$ours" $leaks)
	say "kmemleak: $(grep -c '^unreferenced' $leaks) leaks, $count lines that are of one of the modules"
	[ "$count" = 0 ] || fail "$(grep -B 12 -A 8 -E "$ours" $leaks | head -60)"
}

# What the kernel complained of since the last look. Of the races that KCSAN reports, those count in which one of the modules, or what
# it called, made one of the accesses: under a receive path of theirs are all the kernel's own, too.
complaints() {
	dmesg | sed 's/^\[ *[0-9.]*\] *//' >"$scratch.log"
	sed "1,$(cat "$scratch.seen" 2>/dev/null || echo 0)d" "$scratch.log" | awk '
		function end_report() {
			if (ours)
				printf "%s", report
			else if (inside)
				others++
			report = ""
			inside = ours = near = 0
		}
		/^=====/ { end_report(); next }
		/BUG: KCSAN/ { inside = 1 }
		inside && / bytes by / { near = 3 }
		inside { if (near-- > 0 && /\[(inorder|tcp_ancr)\]/) ours = 1; report = report $0 "\n"; next }
		/BUG|WARNING|KASAN:|INFO: |Oops|refcount|ODEBUG|suspicious|soft lockup|rcu_.*stall|unregister_netdevice: waiting/ && !/sanitizer/
		END { end_report(); print others + 0 >"'"$scratch.races"'" }'
	wc -l <"$scratch.log" >"$scratch.seen"
}

[ $# -gt 0 ] || set -- parameters owed order change reload removal flood limits namespace ancr cost leaks
echo "TAP version 13"
echo "1..$#"
number=0
worst=4
complaints >/dev/null
for name in "$@"; do
	number=$((number + 1))
	end
	(test_"$name")
	code=$?
	end
	said=$(complaints)
	[ "$(cat "$scratch.races")" = 0 ] || say "KCSAN reported $(cat "$scratch.races") races of the kernel's own"
	if [ -n "$said" ]; then
		echo "$said" | head -${COMPLAINTS:-60} | sed 's/^/# the kernel: /'
		code=1
	fi
	case $code in
	0) echo "ok $number - $name"; [ $worst != 4 ] || worst=0 ;;
	4) echo "ok $number - $name # SKIP" ;;
	*) echo "not ok $number - $name"; worst=1 ;;
	esac
done
rm -rf "$scratch" "$scratch.seen" "$scratch.log" "$scratch.races"
exit $worst
