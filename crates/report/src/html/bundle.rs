//! The chart libraries, shipped with the crate (`vendor/`, written by `tools/vendor-vega`).

/// Sources of the libraries, each safe inside a `<script>` element, and their licences.
pub(super) struct Bundle {
    pub vega: &'static str,
    pub vega_lite: &'static str,
    pub vega_embed: &'static str,
    pub licences: &'static str,
}

/// The libraries.
pub(super) const BUNDLE: Bundle = Bundle {
    vega: include_str!("../../vendor/vega.min.js"),
    vega_lite: include_str!("../../vendor/vega-lite.min.js"),
    vega_embed: include_str!("../../vendor/vega-embed.min.js"),
    licences: include_str!("../../vendor/LICENSES.txt"),
};
