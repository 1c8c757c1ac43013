//! Scenarios and the commands they become, or why they are refused.

use inorder_scenario::Scenario;
use inorder_sim::registries;

use super::{Plan, Ways, plan};

/// Half a scenario: one flow and a way back.
const BACK: &str = "[[flow]]\n[[reverse]]\nkind = \"delay\"\ndelay = \"5 ms\"\n";

pub(crate) fn planned(text: &str) -> Result<Plan, String> {
    planned_with(text, Ways::Disciplines)
}

fn planned_with(text: &str, ways: Ways) -> Result<Plan, String> {
    let scenario = Scenario::load(text, "s.toml", &registries()).map_err(|e| e.to_string())?;
    let cells = scenario.cells().map_err(|e| e.to_string())?;
    plan(&scenario, 0, &cells[0], 1, ways).map_err(|e| e.to_string())
}

/// The commands of a scenario with these stages.
fn commands(stages: &str) -> Vec<String> {
    planned(&format!("{BACK}{stages}")).unwrap().commands()
}

/// The queueing disciplines among the commands, without those of the way back.
fn disciplines(stages: &str) -> Vec<String> {
    let all = commands(stages).into_iter();
    all.filter(|line| line.starts_with("tc -n") && !line.starts_with("tc -n y"))
        .collect()
}

#[test]
fn a_link_is_a_netem_with_a_queue_and_its_delay_another_one_behind_it() {
    let stages = "[[forward]]\nkind = \"link\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"50 packets\"\n";
    assert_eq!(
        disciplines(stages),
        [
            "tc -n x qdisc add dev fout root handle 10: netem limit 51 rate 10000000bit 24",
            "tc -n f1 qdisc add dev fout root handle 10: netem limit 1000000 delay 5000us",
        ]
    );
}

/// The disciplines of a link of 10 Mbit/s with these keys, or why there is none.
fn queue(keys: &str) -> Result<String, String> {
    let link = "[[forward]]\nkind = \"link\"\nrate = \"10 Mbit/s\"\n";
    let commands = planned(&format!("{BACK}{link}{keys}"))?.commands();
    let found = commands
        .iter()
        .find(|line| line.contains("fout parent 1:1"));
    let words = found.and_then(|line| line.split_once("handle 10: "));
    Ok(words.map_or("", |(_, words)| words).to_owned())
}

#[test]
fn queues_that_drop_early_have_the_words_of_tc() {
    assert_eq!(
        queue("queue = \"1000 packets\"\nqueue_discipline = \"pie\"\nmark = true\nestimate = \"departure-rate\"").unwrap(),
        "pie limit 1000 target 15000us tupdate 15000us alpha 2 beta 20 ecn dq_rate_estimator"
    );
    let red = "queue_discipline = \"red\"\nmin = \"30 kB\"\nmax = \"90 kB\"\nadaptive = true\n";
    assert_eq!(
        queue(&format!("{red}queue = \"400 kB\"\n")).unwrap(),
        "red limit 400000 min 30000 max 90000 avpkt 1000 burst 50 probability 0.02 bandwidth 10000000bit adaptive"
    );
    assert_eq!(
        queue(&format!("{red}queue = \"400 kB\"\nweight = 0.0625\n")).unwrap(),
        "red limit 400000 min 30000 max 90000 avpkt 1000 burst 37 probability 0.02 bandwidth 10000000bit adaptive"
    );
    let refused = |keys: &str, expected: &str| assert_eq!(queue(keys).unwrap_err(), expected);
    refused(
        &format!("{red}queue = \"100 packets\"\n"),
        "s.toml:12:9: forward.0.queue: RED counts its queue in bytes, expected bytes, as \"180 kB\"",
    );
    refused(
        &format!("{red}weight = 0.002\n"),
        "s.toml:12:10: forward.0.weight: tc has no burst for this weight, expected a power of 1/2 above that of the mean \
         of one packet",
    );
    refused(
        &format!("{red}gentle = true\n"),
        "s.toml:12:10: forward.0.gentle: Linux's red is not gentle, expected false",
    );
    refused(
        "queue_discipline = \"pie\"\nalpha = 0.3\n",
        "s.toml:9:9: forward.0.alpha: Linux has it in sixteenths up to 2, expected as 0.125 or 1.25",
    );
    refused(
        "queue_discipline = \"dualpi2\"\n",
        "s.toml:8:20: forward.0.queue_discipline: dualpi2 is in Linux since 6.17, and the lab's kernels are older, \
         expected \"pie\", \"codel\" or \"fq-codel\"",
    );
}

#[test]
fn an_emulated_path_is_two_links_without_disciplines() {
    let stages = "[[forward]]\nkind = \"radio\"\n";
    let plan = planned_with(&format!("{BACK}{stages}"), Ways::Emulated).unwrap();
    assert!(plan.emulated);
    let commands = plan.commands();
    assert!(
        !commands.iter().any(|line| line.starts_with("tc")),
        "{commands:?}"
    );
    let has = |line: &str| {
        assert!(
            commands.iter().any(|known| known == line),
            "{line}: {commands:?}"
        );
    };
    has("ip -n x route add 10.2.0.0/16 via 10.3.0.2");
    has("ip -n y route add 10.1.0.0/16 via 10.3.0.1");
    has("ip -n y neigh add 10.3.0.1 dev rout lladdr 02:00:00:ff:00:00 nud permanent");
    has("ip -n w link set wa up");
    let late = "[[flow]]\naccess_delay = \"1 ms\"\n";
    let refused = planned_with(late, Ways::Emulated).unwrap_err();
    assert!(
        refused.contains("an emulated path has no delay of one flow alone"),
        "{refused}"
    );
}

#[test]
fn stages_in_netems_order_share_one_netem() {
    let loss = "[[forward]]\nkind = \"loss\"\nprobability = \"1 %\"\n";
    let delay = "[[forward]]\nkind = \"delay\"\ndelay = \"5 ms\"\n";
    assert_eq!(
        disciplines(&format!("{loss}{delay}")),
        [
            "tc -n x qdisc add dev fout root handle 10: netem limit 1000000 delay 5000us loss random 1%"
        ]
    );
    assert_eq!(
        disciplines(&format!("{delay}{loss}")),
        [
            "tc -n x qdisc add dev fout root handle 10: netem limit 1000000 delay 5000us",
            "tc -n f1 qdisc add dev fout root handle 10: netem limit 1000000 loss random 1%",
        ]
    );
}

#[test]
fn lanes_are_devices_over_which_filters_distribute_packets() {
    let lanes = "[[forward]]\nkind = \"spray\"\npolicy = \"round-robin\"\n\
                 lane = [{ rate = \"10 Mbit/s\", queue = \"50 packets\", framing = \"ethernet-header\" },\n\
                 { rate = \"20 Mbit/s\", delay = \"5 ms\", jitter = \"1 ms\", loss = \"1 %\", framing = \"ethernet-header\" }]\n";
    let all = commands(lanes);
    let has = |line: &str| {
        assert!(
            all.iter().any(|command| command == line),
            "{line}: {all:#?}"
        );
    };
    has("ip -n x neigh add 10.3.0.2 dev fout lladdr 02:00:00:fe:03:00 nud permanent");
    has("ip -n f0lane1 link set fin address 02:00:00:fe:03:00");
    has("ip -n f0lane1 route add 10.2.0.0/16 via 10.5.3.2");
    has("tc -n x qdisc add dev flane0 root handle 10: netem limit 51 rate 10000000bit");
    has(
        "tc -n f0lane1 qdisc add dev fout root handle 10: netem limit 1000000 delay 5000us 1000us 0% distribution normal loss random 1%",
    );
    has(
        "tc -n x filter add dev fout egress pref 1 matchall action gact continue random determ pipe 2 action mirred egress redirect dev flane1",
    );
    has(
        "tc -n x filter add dev fout egress pref 2 matchall action mirred egress redirect dev flane0",
    );
    let refused = planned(&format!("{BACK}{}", lanes.replace("round-robin", "flow"))).unwrap_err();
    assert_eq!(
        refused,
        "s.toml:7:10: forward.0.policy: the lab's filters choose a lane for each packet, expected \"random\" or \"round-robin\""
    );
}

#[test]
fn late_packets_are_a_table_of_two_values() {
    let stages =
        "[[forward]]\nkind = \"late\"\nprobability = \"25 %\"\ndelay = \"3 ms\"\nfrom = \"1 s\"\n";
    let plan = planned(&format!("{BACK}{stages}")).unwrap();
    let [table] = plan.tables.as_slice() else {
        panic!("one table");
    };
    assert_eq!(table.numbers.len(), 16_000);
    assert_eq!(table.numbers.iter().filter(|n| **n == 8192).count(), 4000);
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(plan.changes[0].at_ns, 1_000_000_000);
    assert!(
        plan.changes[0]
            .line
            .ends_with("netem limit 1000000 delay 1us 3000us 0% distribution late-4000")
    );
}

#[test]
fn a_rate_that_changes_is_a_class_that_changes() {
    let stages = "[[forward]]\nkind = \"link\"\nrate = \"10 Mbit/s\"\nrate_changes = [[\"2 s\", \"20 Mbit/s\"]]\n\
                  rate_period = \"4 s\"\n";
    let plan = planned(&format!("{BACK}{stages}")).unwrap();
    let times: Vec<(i64, bool)> = plan
        .changes
        .iter()
        .map(|change| {
            (
                change.at_ns / 1_000_000_000,
                change.line.contains("20000000bit"),
            )
        })
        .collect();
    assert_eq!(times, [(2, true), (4, false), (6, true), (8, false)]);
}

#[test]
fn senders_become_settings_of_their_hosts() {
    let text = "[[flow]]\nsender = { loss_detection = \"static\", sack = false, congestion = \"bbr\", initial_window = 4 }\n\
                [[flow]]\ndirection = \"reverse\"\n";
    let commands = planned(text).unwrap().commands();
    let has = |line: &str| assert!(commands.iter().any(|command| command == line), "{line}");
    has("ip netns exec a0 sysctl -w net.ipv4.tcp_max_reordering='3'");
    has("ip netns exec a0 sysctl -w net.ipv4.tcp_recovery='0'");
    has("ip netns exec a0 sysctl -w net.ipv4.tcp_sack='0'");
    has("ip -n a0 route add default via 10.1.0.1 initcwnd 4");
    has("ip -n a1 route add default via 10.1.1.1");
    assert!(
        commands
            .iter()
            .any(|c| c.starts_with("setsockopt in a0: TCP_CONGESTION=bbr"))
    );
    // The second flow sends from B.
    assert!(
        commands
            .iter()
            .any(|c| c.starts_with("setsockopt in b1: TCP_CONGESTION=cubic"))
    );
}

#[test]
fn a_card_is_a_device_above_the_host_s_own() {
    let card = "[receiver_card]\ncoalesce = \"50 us\"\nsorter = \"resequence:bound=5ms\"\n";
    let batch = "[[forward]]\nkind = \"batch\"\ngap = \"250 us\"\n";
    let commands = commands(&format!("{batch}{card}"));
    let has = |line: &str| assert!(commands.iter().any(|command| command == line), "{line}");
    assert_eq!(commands[0], "insmod inorder.ko");
    has("ip -n b0 link add link eth0 name card0 type inorder");
    has("ip -n b0 address add 10.2.0.2/24 dev card0");
    has("ip netns exec b0 ethtool -C card0 rx-usecs 50 rx-frames 0");
    has("ip netns exec b0 sh -c 'echo resequence:bound=5ms > /sys/class/net/card0/inorder/sorter'");
    has("ip -n y link add link fin name fcard type inorder");
    has("ip netns exec y sh -c 'echo 250 > /sys/class/net/fcard/inorder/gap_usecs'");
}

#[test]
fn ancr_is_a_congestion_control_of_a_module() {
    let text =
        "[[flow]]\nsender = { loss_detection = \"ancr-threshold\", congestion = \"reno\" }\n";
    let commands = planned(text).unwrap().commands();
    assert_eq!(commands[0], "insmod tcp_ancr.ko");
    let has = |begin: &str| assert!(commands.iter().any(|c| c.starts_with(begin)), "{begin}");
    has("ip netns exec a0 sysctl -w net.ipv4.tcp_recovery='0'");
    has("setsockopt in a0: TCP_CONGESTION=ancr");
}

#[test]
fn what_linux_cannot_do_is_refused_with_its_place() {
    let refused = |text: &str, expected: &str| assert_eq!(planned(text).unwrap_err(), expected);
    refused(
        "[[flow]]\n[flow.sender]\nloss_detection = \"tcp-pr\"\n",
        "s.toml:3:18: flow.0.sender.loss_detection: Linux has no loss detection like \"tcp-pr\", expected one of linux, \
         linux-norack, static, ancr-threshold",
    );
    refused(
        "[[flow]]\n[flow.sender]\nloss_detection = \"ancr-threshold\"\n",
        "s.toml:2:1: flow.0.sender.congestion: the module for aNCR has the window of Reno, expected \"reno\"",
    );
    refused(
        "[[flow]]\n[flow.sender]\nundo_eifel = false\n",
        "s.toml:3:14: flow.0.sender.undo_eifel: Linux has no such setting, expected true",
    );
    refused(
        "[[flow]]\n[receiver_card]\nsorter = \"window\"\n",
        "s.toml:3:10: receiver_card.sorter: the module has no sorter \"window\", expected one of none, srpic, resequence",
    );
    refused(
        "[[flow]]\n[receiver_card]\npacket_time = \"400 ns\"\n",
        "s.toml:3:15: receiver_card.packet_time: code takes no time in the lab, expected \"0 ns\"",
    );
    refused(
        "[[flow]]\n[[forward]]\nkind = \"radio\"\n",
        "s.toml:3:8: forward.0.kind: netem and the shapers of Linux have nothing like \"radio\", expected link, delay, \
         loss, duplicate, corrupt, reorder, late, batch, spray, token-bucket or netem",
    );
    refused(
        "[[flow]]\n[[forward]]\nkind = \"link\"\nrate = \"1 Mbit/s\"\nrate_changes = [[\"1 s\", \"0 bit/s\"]]\n",
        "s.toml:5:16: forward.0.rate_changes: HTB has no rate of 0, expected more than 0 bit/s",
    );
}

/// Keys that are not known are refused, whatever they are, so the simulator's keys must be known or refused one by one.
#[test]
fn every_key_of_an_endpoint_is_known() {
    let reference = inorder_scenario::markdown();
    let section = reference
        .split("## `[flow.sender]`")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let keys: Vec<&str> = section
        .lines()
        .filter_map(|l| l.strip_prefix("| `")?.split('`').next())
        .collect();
    assert!(keys.len() > 30, "{keys:?}");
    let endpoint = Scenario::load("[[flow]]\n", "s.toml", &registries())
        .unwrap()
        .cells()
        .unwrap();
    let endpoint = &endpoint[0].config.flows[0].sender;
    for key in keys {
        let refused = super::refuse::refused(endpoint, key);
        assert!(
            refused.is_none_or(|(what, _)| !what.contains("does not know")),
            "{key}"
        );
    }
}
