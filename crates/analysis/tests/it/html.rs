//! The page is well formed, self-contained, and safe against markup in captures and file names.

use inorder_analysis::html::{self, Page};

use crate::sample;
use crate::words::says;

fn page(file: &str, charts: bool) -> String {
    let mut analysis = sample::analysis(file, 3);
    analysis.warnings.push(format!("{file} is odd"));
    let mut out = Vec::new();
    let page = Page { top: 20, charts };
    html::write(&mut out, &[analysis], &page).unwrap();
    String::from_utf8(out).unwrap()
}

/// The page without its styles and scripts.
fn markup(page: &str) -> String {
    let mut rest = page;
    let mut markup = String::new();
    while let Some(start) = rest
        .find("<script")
        .into_iter()
        .chain(rest.find("<style"))
        .min()
    {
        markup.push_str(&rest[..start]);
        let end = if rest[start..].starts_with("<script") {
            "</script>"
        } else {
            "</style>"
        };
        let stop = rest[start..].find(end).expect("the element ends");
        rest = &rest[start + stop + end.len()..];
    }
    markup + rest
}

/// Panics unless elements are properly nested.
fn check_nesting(markup: &str) {
    const VOID: [&str; 4] = ["meta", "hr", "br", "!doctype"];
    let mut open: Vec<&str> = Vec::new();
    for tag in markup.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.split([' ', '\n']).next().unwrap_or(tag);
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if VOID.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn elements_nest_with_and_without_charts() {
    for charts in [true, false] {
        check_nesting(&markup(&page("a.pcap", charts)));
    }
}

#[test]
fn names_cannot_become_markup_or_script() {
    for charts in [true, false] {
        let evil = page(
            "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
            charts,
        );
        assert!(!evil.contains("<script>alert"));
        let markup = markup(&evil);
        assert!(!markup.contains("<img"));
        assert!(markup.contains("&lt;img src=x"));
        check_nesting(&markup);
    }
}

#[test]
fn the_page_makes_no_request() {
    let markup = markup(&page("a.pcap", true));
    for reference in [" src=", "<link", "@import", "url(", "href=\"http"] {
        assert!(!markup.contains(reference), "{reference}");
    }
    assert!(markup.contains("default-src 'none'"));
}

#[test]
fn without_charts_the_page_has_tables() {
    let page = page("a.pcap", false);
    assert!(page.contains("Charts were left out"));
    says(
        &page,
        "<th scope=col>displacement, packets</th><th scope=col>% of packets</th>",
    );
    assert!(page.contains("<th scope=col>if sorted in blocks of</th>"));
    assert!(!page.contains("vega-lite"), "no trace of the libraries");
}

/// What the page's script reads.
fn data(page: &str) -> serde_json::Value {
    let start = page.find("id=data>").unwrap() + "id=data>".len();
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

#[test]
fn with_charts_each_has_its_data_and_a_caption() {
    let page = page("a.pcap", true);
    let data = data(&page);
    let flows = data["flows"].as_object().unwrap();
    assert_eq!(flows.len(), 4, "two flows, two streams");
    for (id, flow) in flows {
        let section = page.split(&format!("data-flow=\"{id}\"")).nth(1).unwrap();
        let section = section.split("data-flow=").next().unwrap();
        for (chart, rows) in [
            ("limits", &flow["band"]["ends"]),
            ("when", &flow["when"]["counts"]),
            ("sequence", &flow["points"]["t"]),
            ("goodput", &flow["goodput"]),
            ("extents", &flow["extents"]),
            ("late", &flow["late"]["steps"]),
            ("rd", &flow["rd"]),
            ("by_rate", &flow["by_rate"]),
        ] {
            let drawn = section.contains(&format!("data-chart={chart}>"));
            let rows = rows.as_array().unwrap().len();
            assert!(!drawn || rows > 1, "{id} draws {chart} of {rows} rows");
        }
        let charts = section.matches("data-chart=").count();
        assert_eq!(section.matches("<p class=says>").count(), charts, "{id}");
    }
    assert!(page.contains("data-chart=sequence>") && page.contains("data-chart=late>"));
}

/// A chart of zeros tells less than the sentence that nothing was late.
#[test]
fn nothing_late_draws_no_chart_of_lateness() {
    let mut out = Vec::new();
    let mut flow = sample::clean(1);
    flow.by_rate = vec![sample::busy(2, inorder_detect::Vantage::Sender, 1).by_rate[0].clone(); 5];
    for class in &mut flow.by_rate {
        class.reordered = 0;
    }
    let analysis = inorder_analysis::Analysis {
        flows: vec![flow],
        ..Default::default()
    };
    html::write(&mut out, &[analysis], &Page::default()).unwrap();
    let page = String::from_utf8(out).unwrap();
    for chart in ["late", "extents", "rd", "by_rate", "sequence", "goodput"] {
        assert!(!page.contains(&format!("data-chart={chart}")), "{chart}");
    }
}

/// Levels of headings: one first, none skipped.
#[test]
fn headings_are_in_order() {
    for files in 1..3 {
        let analyses: Vec<_> = (0..files)
            .map(|n| sample::analysis(&format!("{n}.pcap"), 3))
            .collect();
        let mut out = Vec::new();
        html::write(&mut out, &analyses, &Page::default()).unwrap();
        let markup = markup(&String::from_utf8(out).unwrap());
        let levels: Vec<u32> = markup
            .match_indices("<h")
            .filter_map(|(at, _)| markup[at + 2..].chars().next()?.to_digit(10))
            .collect();
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
        assert_eq!(levels[0], 1);
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
    }
}

/// Fifty flows with everything there is to draw.
#[test]
fn a_page_of_fifty_flows_stays_small_and_keeps_the_extremes() {
    let mut analysis = sample::analysis("a.pcap", 0);
    analysis.flows = (0..50)
        .map(|n| {
            let mut flow = sample::busy(n + 1, inorder_detect::Vantage::Sender, u64::from(n));
            let again = flow.records.events.clone();
            (0..30).for_each(|_| flow.records.events.extend(again.iter().copied()));
            flow.records.events.sort_by_key(|event| event.at_ns);
            flow
        })
        .collect();
    let latest = |flow: &inorder_detect::FlowReport| {
        let sure =
            |e: &&inorder_detect::Event| e.confidence != inorder_detect::Confidence::Ambiguous;
        flow.records
            .events
            .iter()
            .filter(sure)
            .filter_map(|e| e.late_ns)
            .max()
            .unwrap() as f64
            / 1e6
    };
    for top in [20, 50] {
        let mut out = Vec::new();
        let page = Page { top, charts: true };
        html::write(&mut out, std::slice::from_ref(&analysis), &page).unwrap();
        assert!(out.len() < 1_500_000, "{top}: {} bytes", out.len());
        let page = String::from_utf8(out).unwrap();
        let data = data(&page);
        let drawn: Vec<f64> = data["flows"]
            .as_object()
            .unwrap()
            .values()
            .filter_map(|flow| {
                let late = flow["events"]
                    .as_array()?
                    .iter()
                    .filter_map(|e| e[6].as_f64());
                late.reduce(f64::max)
            })
            .collect();
        assert!(drawn.len() >= top - 2);
        let most = analysis.flows.iter().map(latest).fold(0.0, f64::max);
        let seen = drawn.iter().copied().fold(0.0, f64::max);
        assert!((seen - most).abs() < 0.01, "{seen} {most}");
    }
}

#[test]
fn an_empty_analysis_still_makes_a_page() {
    let mut out = Vec::new();
    html::write(&mut out, &[Default::default()], &Page::default()).unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(page.contains("No TCP flow with data"));
    check_nesting(&markup(&page));
}

/// The counts of the chart, its caption and the facts are the same numbers, however few marks are drawn one by one.
#[test]
fn nothing_is_left_out_of_what_happened_when() {
    let page = page("a.pcap", true);
    let data = data(&page);
    let busy = sample::busy(43210, inorder_detect::Vantage::Receiver, 7);
    let flow = data["flows"].as_object().unwrap().iter().find(|(id, _)| {
        page.contains(&format!("data-flow=\"{id}\"")) && section(&page, id).contains(":43210")
    });
    let (id, flow) = flow.expect("a section of the flow");
    let row = |name: &str| -> u64 {
        let at = data["when"]
            .as_array()
            .unwrap()
            .iter()
            .position(|row| row == name);
        let bins = flow["when"]["counts"][at.unwrap()].as_array().unwrap();
        bins.iter().map(|bin| bin[1].as_u64().unwrap()).sum()
    };
    assert_eq!(row("late"), busy.reordering.reordered);
    assert_eq!(row("lost"), busy.originals.lost);
    assert_eq!(row("spurious"), busy.retransmissions.spurious);
    assert_eq!(
        row("sent again") + row("spurious"),
        busy.retransmissions.total
    );
    assert_eq!(
        row("recoveries") + row("unnecessary"),
        busy.recoveries.total
    );
    let says = format!("{} late packet", row("late"));
    assert!(section(&page, id).contains(&says), "{says}");
}

/// The part of the page about a flow or stream.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let begun = page.split(&format!("data-flow=\"{id}\"")).nth(1).unwrap();
    begun.split("data-flow=").next().unwrap()
}

/// The band has no gap, and its longest stretch that can be removed is the closed window.
#[test]
fn the_band_of_limits_is_the_life_of_the_flow() {
    let data = data(&page("a.pcap", true));
    let band = &data["flows"]["flow-0-0"]["band"];
    let ends: Vec<f64> = band["ends"]
        .as_array()
        .unwrap()
        .iter()
        .map(|end| end[0].as_f64().unwrap())
        .collect();
    assert!(
        ends.windows(2).all(|pair| pair[0] < pair[1]) && ends[0] > band["from"].as_f64().unwrap()
    );
    let shares: f64 = band["shares"]
        .as_array()
        .unwrap()
        .iter()
        .map(|share| share.as_f64().unwrap())
        .sum();
    assert!((shares - 1.0).abs() < 0.001, "{shares}");
    let worst = band["worst"].as_u64().unwrap() as usize;
    let set = band["ends"][worst][1].as_u64().unwrap() as usize;
    let limit = band["sets"][set][0].as_u64().unwrap() as usize;
    assert_eq!(data["limits"][limit][0], "receiver-window");
}

#[test]
fn several_captures_begin_with_a_table_and_are_folded() {
    let mut analyses: Vec<_> = ["fine.pcap", "<b>lossy.pcap"]
        .iter()
        .map(|name| sample::analysis(name, 1))
        .collect();
    analyses[0].flows = vec![sample::clean(1)];
    analyses[0].streams.clear();
    let mut out = Vec::new();
    html::write(&mut out, &analyses, &Page::default()).unwrap();
    let page = String::from_utf8(out).unwrap();
    let markup = markup(&page);
    check_nesting(&markup);
    let [lossy, fine] =
        ["#capture-1", "#capture-0"].map(|link| markup.find(&format!("href=\"{link}\"")).unwrap());
    assert!(lossy < fine, "the most severe first");
    assert_eq!(markup.matches("<details class=capture id=").count(), 2);
    assert!(!markup.contains("<details class=capture open"));
}

/// Two thousand captures in less than two megabytes, each with its page in a folder.
#[test]
fn an_overview_of_thousands_stays_small() {
    let one = inorder_analysis::Line::of(&sample::analysis(
        "/captures/of/a/long/day/2024-01-01T00-00-00.pcapng",
        3,
    ));
    let lines = vec![one; 2_000];
    let mut out = Vec::new();
    html::write_overview(&mut out, &lines, |n| format!("day-captures/{n:04}.html")).unwrap();
    assert!(out.len() < 1_000_000, "{} bytes", out.len());
    let page = String::from_utf8(out).unwrap();
    check_nesting(&markup(&page));
    assert_eq!(page.matches("href=\"day-captures/").count(), 2_000);

    let mut out = Vec::new();
    let analysis = sample::analysis("a.pcap", 3);
    html::write_one_of(&mut out, &analysis, &Page::default(), "../day.html").unwrap();
    says(
        String::from_utf8(out).unwrap(),
        "<a href=\"../day.html\">All captures</a>",
    );
}
