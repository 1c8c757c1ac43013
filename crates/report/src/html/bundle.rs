//! The chart libraries, when the build found them.

/// Sources of the libraries, each safe inside a `<script>` element, and their licences.
pub struct Bundle {
    pub vega: &'static str,
    pub vega_lite: &'static str,
    pub vega_embed: &'static str,
    pub licences: &'static str,
}

/// `None` when the crate was built without them.
pub const BUNDLE: Option<Bundle> = include!(concat!(env!("OUT_DIR"), "/vega.rs"));
