//! The page is well formed, self-contained, and safe against markup in captures and file names.

mod sample;

use inorder_analysis::html::{self, Page};

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
    assert!(page.contains("<th>displacement</th><th>density</th>"));
    assert!(page.contains("<button type=button>if sorted in blocks of</button>"));
    assert!(!page.contains("vega-lite"), "no trace of the libraries");
}

#[test]
fn with_charts_each_has_its_data() {
    let page = page("a.pcap", true);
    let start = page.find("id=data>").unwrap() + "id=data>".len();
    let end = start + page[start..].find("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(&page[start..end]).unwrap();
    let flows = data.as_object().unwrap();
    assert_eq!(flows.len(), 2);
    for (id, flow) in flows {
        assert!(page.contains(&format!("id=\"{id}\"")));
        for rows in ["points", "events", "extents", "late", "rd", "by_rate"] {
            assert!(!flow[rows].as_array().unwrap().is_empty(), "{id} {rows}");
        }
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
