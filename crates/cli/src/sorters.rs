//! Sorters by name, as options give them.

use inorder_base::names::nearest;
use inorder_sort::{ConfigError, SORTERS, SorterConfig};

/// Parses a name with settings, as in `window:hold=300us`; an unknown name gets the nearest known one suggested.
///
/// # Errors
/// One line that says what was expected.
pub fn parse(text: &str) -> Result<SorterConfig, String> {
    let suggest = |error: &ConfigError| match error {
        ConfigError::UnknownSorter(name) => {
            let near = nearest(name, SORTERS.iter().map(|entry| entry.name))?;
            Some(format!("no sorter `{name}`, did you mean {near}?"))
        }
        ConfigError::UnknownSetting { sorter, name } => {
            let near = nearest(name, sorter.settings.iter().map(|setting| setting.name))?;
            Some(format!(
                "sorter {} has no setting `{name}`, did you mean {near}?",
                sorter.name
            ))
        }
        _ => None,
    };
    text.parse()
        .map_err(|error| suggest(&error).unwrap_or_else(|| error.to_string()))
}
