"""What two captures of the same traffic say together. Independent of the project's Rust code."""
