//! The text of a net with everything that it includes.

use crate::ast::{Kind, Statement, Values};
use crate::error::{Checked, Fault, NetError};
use crate::lex;
use crate::parse::Parser;

/// Files may include each other this deep.
const MAX_INCLUDES: u8 = 16;

/// Finds an included file: gets the file that includes and the name that it writes, returns the name for messages and
/// the text, or why there is none.
pub type Load<'l> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'l;

/// A net as written: statements of all files, checked for syntax only.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) files: Vec<String>,
    pub(crate) statements: Vec<Statement>,
}

/// True if a text is in this language: its first words are `coloured net`.
///
/// ```
/// assert!(inorder_nets::is_coloured("# A queue.\ncoloured net queue\n"));
/// assert!(!inorder_nets::is_coloured("net queue\nplace coloured 1\n"));
/// ```
pub fn is_coloured(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    let first = lines.map(str::trim).find(|line| !line.is_empty());
    first.is_some_and(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("coloured") && matches!(words.next(), Some("net" | "part"))
    })
}

impl Program {
    /// Reads a text; `file` is its name in messages.
    pub fn read(file: &str, text: &str, load: &mut Load<'_>) -> Result<Self, NetError> {
        let mut program = Self {
            name: String::new(),
            files: vec![file.to_owned()],
            statements: Vec::new(),
        };
        let read = program.add(text, 0, load);
        match read {
            Ok((name, statements)) => {
                program.name = name;
                program.statements = statements;
                Ok(program)
            }
            Err(fault) => Err(fault.in_files(&program.files)),
        }
    }

    /// The name of the net.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The statements of the last file of the list, and of those that it includes.
    fn add(
        &mut self,
        text: &str,
        depth: u8,
        load: &mut Load<'_>,
    ) -> Checked<(String, Vec<Statement>)> {
        let file = self.files.len() - 1;
        let tokens = lex::split(text, u16::try_from(file).unwrap_or(u16::MAX))?;
        let mut parser = Parser::new(tokens, depth);
        let name = parser.title()?;
        let mut all = Vec::new();
        for statement in parser.statements()? {
            let Kind::Include(path) = &statement.kind else {
                all.push(statement);
                continue;
            };
            if depth >= MAX_INCLUDES {
                let problem = format!("files include each other more than {MAX_INCLUDES} deep");
                return Err(Fault::new(statement.at, problem));
            }
            let includer = self.files[file].clone();
            let (name, text) = load(&includer, path)
                .map_err(|why| Fault::new(statement.at, format!("cannot include {path}: {why}")))?;
            self.files.push(name);
            all.extend(self.add(&text, depth + 1, load)?.1);
        }
        Ok((name, all))
    }

    /// Reads the value of an option, such as `4`, `1, 2, 4` or `1..8 step 1`; `name` is its name in messages.
    pub(crate) fn values(&mut self, name: &str, text: &str) -> Result<Values, NetError> {
        self.files.push(name.to_owned());
        let file = u16::try_from(self.files.len() - 1).unwrap_or(u16::MAX);
        lex::split(text, file)
            .and_then(|tokens| Parser::new(tokens, 0).whole_values())
            .map_err(|fault| fault.in_files(&self.files))
    }
}
