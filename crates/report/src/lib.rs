//! Tables, JSON, CSV, Parquet and the page.
