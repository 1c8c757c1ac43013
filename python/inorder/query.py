"""SQL over the datasets of studies, with DuckDB."""

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from inorder._draft import draft
from inorder.errors import Error, UsageError

if TYPE_CHECKING:
    import duckdb

#: Rows of a table that is printed.
SHOWN = 1_000


def connect(*studies: str | os.PathLike[str]) -> "duckdb.DuckDBPyConnection":
    """A connection in which each dataset of the studies is a view: ``flows``, and ``NAME.flows`` with the name of the folder.
    With several studies there are only the latter.

    Raises :class:`UsageError` if a folder has no study, or two folders have the same name.
    """
    try:
        import duckdb
    except ImportError:
        raise UsageError("SQL needs DuckDB: pip install '.[study]' in a checkout of inorder") from None
    connection = duckdb.connect()
    schemas: set[str] = set()
    for study in studies:
        root = Path(study).resolve()
        if not (root / "study.json").is_file():
            raise UsageError(f"{study}: there is no study here, expected a folder with study.json")
        if root.name in schemas:
            raise UsageError(f"{study}: expected folders of different names, found {root.name} twice")
        schemas.add(root.name)
        connection.execute(f"create schema {_quoted(root.name)}")
        for table, sql in sorted(views(root).items()):
            connection.execute(f"create view {_quoted(root.name)}.{_quoted(table)} as {sql}")
            if len(studies) == 1:
                connection.execute(f"create view {_quoted(table)} as select * from {_quoted(root.name)}.{_quoted(table)}")
    return connection


def views(root: Path) -> dict[str, str]:
    """A select for each dataset of a study. Only rows of tasks that are done are in it: a task that is running has
    written some of its tables."""
    return {place.parent.name: _view(root, place.parent.name) for place in root.glob("*/_schema.parquet")}


def _view(root: Path, table: str) -> str:
    folder = root / table
    if next(folder.glob("task=*/part.parquet"), None) is None:
        return f"select *, null::varchar as task from read_parquet({_text(folder / '_schema.parquet')})"
    parts = _text(folder / "task=*" / "part.parquet")
    select = f"select * from read_parquet({parts}, hive_partitioning = true, hive_types = {{'task': varchar}})"
    return select if table == "tasks" else f"{select} where task in ({_done(root)})"


def _done(root: Path) -> str:
    """The tasks that are done: names of folders, so no file is opened for them."""
    parts = _text(root / "tasks" / "task=*" / "part.parquet")
    return f"select regexp_extract(file, 'task=([^/]+)/part.parquet$', 1) from glob({parts})"


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write(rows: Iterable[Sequence[Any]], names: Sequence[str], kind: str, out: TextIO) -> None:
    """Writes rows as CSV or as a list of JSON objects."""
    if kind == "csv":
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    else:
        json.dump([dict(zip(names, row)) for row in rows], out, default=str)
        out.write("\n")


def main(arguments: list[str]) -> int:
    """`inorder query`."""
    parser = argparse.ArgumentParser(prog="inorder query")
    parser.add_argument("sql")
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--csv")
    parser.add_argument("--json")
    parser.add_argument("--force", action="store_true")
    given = parser.parse_args(arguments)
    connection = connect(*given.studies)
    import duckdb

    try:
        answer = connection.sql(given.sql)
        if answer is None:
            raise UsageError("expected a statement with an answer, such as a select")
        if not given.csv and not given.json:
            answer.show(max_rows=SHOWN, max_width=10_000)
        for kind, target in (("csv", given.csv), ("json", given.json)):
            if target == "-":
                write(answer.fetchall(), answer.columns, kind, sys.stdout)
            elif target:
                with draft(Path(target), given.force) as path, open(path, "w", encoding="utf-8") as out:
                    write(answer.fetchall(), answer.columns, kind, out)
    except duckdb.Error as error:
        raise UsageError(" ".join(str(error).split("\n\n")[0].split())) from None
    return 0


def guarded(main: Any) -> int:
    """Runs a program of this package: one line for what is wrong, and the exit code of the command."""
    try:
        code: int = main(sys.argv[1:])
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of the output closed it: this is no error. What is still to be written must not fail once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UsageError as error:
        print(f"inorder: {error}", file=sys.stderr)
        return 2
    except (Error, OSError) as error:
        print(f"inorder: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(guarded(main))
