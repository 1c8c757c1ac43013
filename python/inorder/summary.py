"""Summaries of a corpus: the study of "I'll be a bit late - Packet Reordering in Mobile Networks" (Schulte and others), its
figures 7 to 12 and its table 1, for any captures.

A connection is a direction of a TCP connection that carried data. Only what is decided counts: ambiguous packets are left
out of both parts of each share.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inorder._draft import draft, free
from inorder.errors import UsageError
from inorder.query import connect, guarded, views, write
from inorder.summary_tables import LONG, Figure, Row, Summary, shown

if TYPE_CHECKING:
    import duckdb

#: Quantile of the normal distribution for intervals of 95 %.
Z = 1.959963984540054
#: Width of the bins of the reordering rate, percent (figure 8).
RATE_BIN = 0.02
#: Points of the distribution of the delay.
QUANTILES = [0.01, 0.05] + [n / 10 for n in range(1, 10)] + [0.95, 0.99, 1.0]


def wilson(hits: int, all: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson 1927).

    >>> [round(bound, 3) for bound in wilson(5, 10)]
    [0.237, 0.763]
    >>> wilson(0, 4000)[0], wilson(4000, 4000)[1]    # exactly, without the rounding of the square root
    (0.0, 1.0)
    """
    if all == 0:
        return (0.0, 1.0)
    share, spread = hits / all, Z * Z / all
    middle = share + spread / 2
    half = Z * math.sqrt(share * (1 - share) / all + spread / (4 * all))
    low = 0.0 if hits == 0 else (middle - half) / (1 + spread)
    high = 1.0 if hits == all else (middle + half) / (1 + spread)
    return (low, high)


def quantile(values: Sequence[float], share: float) -> tuple[float, float, float]:
    """A quantile of ascending values with the 95 % interval between two of them that holds for any distribution: their
    places are quantiles of the binomial distribution, by its normal approximation.

    >>> quantile([float(n) for n in range(1, 101)], 0.5)
    (50.0, 41.0, 60.0)
    """
    size = len(values)
    half = Z * math.sqrt(size * share * (1 - share))
    places = (math.ceil(size * share), math.floor(size * share - half) + 1, math.ceil(size * share + half))
    low, mid, high = places[1], places[0], places[2]
    at = [values[min(max(place, 1), size) - 1] for place in (mid, low, high)]
    return (at[0], at[1], at[2])


def ratio(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The ratio of two sums over connections with its 95 % interval, by linearisation: connections, not their packets,
    are independent.

    >>> ratio([(1.0, 2.0)] * 10)
    (0.5, 0.5, 0.5)
    """
    size, total = len(pairs), sum(all for _, all in pairs)
    if not total:
        return (0.0, 0.0, 1.0)
    share = sum(hits for hits, _ in pairs) / total
    if size < 2:
        return (share, 0.0, 1.0)
    squares = sum((hits - share * all) ** 2 for hits, all in pairs)
    half = Z * math.sqrt(squares * size / (size - 1)) / total
    return (share, max(0.0, share - half), min(1.0, share + half))


class _Source:
    """Where connections and their events come from: estimates of the pipeline, or the truth of a population."""

    def __init__(self, database: "duckdb.DuckDBPyConnection", connections: str, events: str, by: list[str]) -> None:
        self.database = database
        self.connections = connections
        self.events = events
        self.by = by

    def groups(self, sql: str) -> dict[Row, list[Row]]:
        """The rows of a select, whose first columns are those of the group, by group."""
        rows: dict[Row, list[Row]] = {}
        for row in self.database.sql(sql).fetchall():
            rows.setdefault(row[: len(self.by)], []).append(row[len(self.by) :])
        return dict(sorted(rows.items(), key=lambda item: tuple(str(value) for value in item[0])))

    def of_connections(self, columns: str) -> dict[Row, list[Row]]:
        """Columns of all connections."""
        return self.groups(f"select {self.prefix()} {columns} from {self.connections} order by all")

    def of_events(self, columns: str, more: str = "") -> dict[Row, list[Row]]:
        """Columns of late packets."""
        return self.groups(f"select {self.prefix()} {columns} from {self.events} {more}")

    def prefix(self) -> str:
        """The columns of the group, before others."""
        return "".join(f'"{name}", ' for name in self.by)


def _affected(source: _Source, threshold: int) -> Figure:
    about = "Connections with at least one reordered packet (figure 7), with the 95 % interval of Wilson."
    figure = Figure("affected", about, [*source.by, "connections", "affected", "share", "low", "high"])
    for group, rows in source.of_connections("reordered").items():
        hits = sum(row[0] > 0 for row in rows)
        figure.rows.append((*group, len(rows), hits, hits / len(rows), *wilson(hits, len(rows))))
    return figure


def _rates(source: _Source, threshold: int) -> Figure:
    about = f"Reordering rate of the connections that have any, percent, in bins of {RATE_BIN} (figure 8)."
    figure = Figure("rates", about, [*source.by, "from_percent", "connections", "share"])
    for group, rows in source.of_connections("reordered, data_packets").items():
        rates = _percent(rows)
        bins: dict[int, int] = {}
        for rate in rates:
            bins[int(rate / RATE_BIN)] = bins.get(int(rate / RATE_BIN), 0) + 1
        for at, count in sorted(bins.items()):
            figure.rows.append((*group, round(at * RATE_BIN, 6), count, count / len(rates)))
    return figure


def _percent(rows: Sequence[Row]) -> list[float]:
    return sorted(100 * reordered / packets for reordered, packets in rows if reordered > 0)


def _highest(source: _Source, threshold: int) -> Figure:
    about = "Quantiles of the reordering rate of the connections that have any, percent (table 1), with 95 % intervals."
    figure = Figure("highest_rates", about, [*source.by, "quantile", "connections", "percent", "low", "high"])
    for group, rows in source.of_connections("reordered, data_packets").items():
        rates = _percent(rows)
        for share in (0.5, 0.95) if rates else ():
            figure.rows.append((*group, share, len(rates), *quantile(rates, share)))
    return figure


def _beyond(source: _Source, threshold: int) -> Figure:
    about = (
        f"Late packets whose extent is more than {threshold} (figure 9), with 95 % intervals over connections. A sender that "
        f"waits for {threshold} duplicate ACKs takes them for lost."
    )
    figure = Figure("beyond_threshold", about, [*source.by, "events", "beyond", "share", "low", "high"])
    columns = f"count(*) filter (extent > {threshold}), count(extent)"
    for group, rows in source.of_events(columns, f"where extent is not null group by {source.prefix()} file, flow order by all").items():
        pairs = [(float(hits), float(all)) for hits, all in rows]
        figure.rows.append((*group, *(int(sum(column)) for column in zip(*[(b, a) for a, b in pairs])), *ratio(pairs)))
    return figure


def _spurious(source: _Source, threshold: int) -> Figure:
    about = "Connections with at least one spurious recovery (figure 10), with the 95 % interval of Wilson."
    figure = Figure("spurious_recoveries", about, [*source.by, "connections", "affected", "share", "low", "high"])
    for group, rows in source.of_connections("recoveries_spurious").items():
        hits = sum(row[0] > 0 for row in rows)
        figure.rows.append((*group, len(rows), hits, hits / len(rows), *wilson(hits, len(rows))))
    return figure


def _delays(source: _Source, threshold: int) -> Figure:
    about = "Distribution of the reordering delay, RFC 4737 section 4.3, ms (figure 11): the delay that a share of packets stay within."
    figure = Figure("delays", about, [*source.by, "share", "late_ms"])
    for group, rows in source.of_events("late_ms", "where late_ms is not null order by all").items():
        late = [row[0] for row in rows]
        for share in QUANTILES:
            figure.rows.append((*group, share, late[min(len(late), max(1, math.ceil(share * len(late)))) - 1]))
    return figure


#: The tables that are made of connections and events alone, so of the truth too.
FIGURES: list[Callable[[_Source, int], Figure]] = [_affected, _rates, _highest, _beyond, _spurious, _delays]


def summarise(
    study: str | Path,
    *,
    beside: str | Path | None = None,
    by: Sequence[str] = (),
    threshold: int = 3,
    min_packets: int = 1,
) -> Summary:
    """The tables of a corpus, grouped by the columns `by` of `beside`: a CSV or Parquet file with a column ``file``, or the
    folder of a population. With a population there is a table ``truth`` that holds the estimates against it.

    `threshold` is the number of duplicate ACKs, `min_packets` the least number of data packets of a connection.

    Raises :class:`UsageError` if the study has no flows, or `beside` no such column.
    """
    database = connect(study)
    tables = views(Path(study).resolve())
    for name in ("flows", "events", "rate_extents"):
        if name not in tables:
            raise UsageError(f"{study}: this study has no table {name}; expected one made with it")
    population = Path(beside) if beside is not None and (Path(beside) / "study.json").is_file() else None
    _side(database, Path(beside) if beside is not None else None, population, list(by))
    columns = "".join(f', side."{name}"' for name in by)
    join = "left join side on (flows.file = side.file or parse_filename(flows.file) = side.file)" if by else ""
    database.execute(
        f"create temp view estimated as select flows.* {columns} from flows {join} where flows.data_packets >= {int(min_packets)}"
    )
    names = "".join(f', estimated."{name}"' for name in by)
    key = "(file, flow, overlay, reuse)"
    # On the path, events are about the part before the capture point or about the whole path; elsewhere there is one part.
    database.execute(
        f"create temp view estimated_events as select events.* {names} from events join estimated using {key} where "
        "events.kind = 'reordered' and events.confidence <> 'ambiguous' and "
        "(events.half = 'end-to-end' or estimated.vantage <> 'middle')"
    )
    source = _Source(database, "estimated", "estimated_events", list(by))
    figures = [make(source, threshold) for make in FIGURES]
    figures.append(_heat(source))
    count = database.sql("select count(*) from estimated").fetchall()[0][0]
    if population is not None:
        figures += _against_truth(database, population, source, figures, threshold)
    return Summary(figures, list(by), count)


def _side(database: "duckdb.DuckDBPyConnection", beside: Path | None, population: Path | None, by: list[str]) -> None:
    if beside is None:
        if by:
            raise UsageError("--by needs --beside, a file with these columns")
        return
    if population is not None:
        select = views(population.resolve())["connections"]
    elif beside.suffix == ".parquet":
        select = f"select * from read_parquet('{_escaped(beside)}')"
    else:
        select = f"select * from read_csv('{_escaped(beside)}', all_varchar = true, header = true)"
    import duckdb

    try:
        database.execute(f"create temp table side as {select}")
    except duckdb.Error as error:
        raise UsageError(f"{beside}: cannot read: {str(error).splitlines()[0]}") from None
    known = {row[0] for row in database.sql("select column_name from (describe side)").fetchall()}
    for name in ["file", *by]:
        if name not in known:
            raise UsageError(f"{beside}: expected a column {name}; there are {', '.join(sorted(known))}")


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")


def _heat(source: _Source) -> Figure:
    about = (
        "Late packets by the sending rate, averaged over 250 ms, and by their extent in bytes (figure 12): lower bounds of "
        "quarter octaves and of octaves."
    )
    rows = source.database.sql(
        "select rate_extents.rate_bps, rate_extents.extent_bytes, sum(rate_extents.packets)::bigint from rate_extents join estimated using (file, flow, overlay, reuse) "
        "group by all order by all"
    )
    return Figure("extent_by_rate", about, ["rate_bps", "extent_bytes", "packets"], rows.fetchall())


#: Cells that the truth is compared in: table, column of the value, column of the number of observations.
COMPARED = {
    "affected": ("share", "connections"),
    "highest_rates": ("percent", "connections"),
    "beyond_threshold": ("share", "events"),
    "spurious_recoveries": ("share", "connections"),
}


def _against_truth(
    database: "duckdb.DuckDBPyConnection", population: Path, source: _Source, figures: list[Figure], threshold: int
) -> list[Figure]:
    selects = views(population.resolve())
    names = "".join(f', side."{name}"' for name in source.by)
    database.execute(
        "create temp view real as select side.*, '' as flow from side where side.file in (select parse_filename(file) from estimated)"
    )
    database.execute(
        f"create temp view real_events as select truth.*, '' as flow {names} from ({selects['truth']}) truth join side using (file) "
        "where truth.kind = 'reordered' and truth.file in (select file from real)"
    )
    truth = _Source(database, "real", "real_events", source.by)
    real = {made.name: made for made in (make(truth, threshold) for make in FIGURES)}
    about = (
        "Estimates beside the truth: the value from the captures, the true value of the same connections with its 95 % "
        "interval over connections, and whether the estimate lies inside."
    )
    columns = ["figure", *source.by, "cell", "estimate", "truth", "low", "high", "inside"]
    compared = Figure("truth", about, columns)
    for figure in figures:
        if figure.name not in COMPARED:
            continue
        value = figure.columns.index(COMPARED[figure.name][0])
        groups = len(source.by)
        part = figure.columns.index("quantile") if "quantile" in figure.columns else None
        def cell(row: Row, groups: int = groups, part: int | None = part) -> Row:
            return (*row[:groups], "" if part is None else f"{row[part]:.0%}")
        estimates = {cell(row): row[value] for row in figure.rows}
        for row in real[figure.name].rows:
            estimate = estimates.get(cell(row))
            low, high = row[value + 1], row[value + 2]
            inside = estimate is not None and low <= estimate <= high
            compared.rows.append((figure.name, *cell(row), estimate, row[value], low, high, inside))
    return [compared, _each(database, source)]


def _each(database: "duckdb.DuckDBPyConnection", source: _Source) -> Figure:
    """Connection by connection."""
    about = (
        "Connection by connection: how many estimates are exactly the truth, and the mean difference of the others from it, in "
        "packets."
    )
    figure = Figure("connections", about, ["measure", "connections", "exact", "share", "mean_difference", "estimated", "true"])
    for name in ("data_packets", "reordered", "losses", "spurious", "recoveries_spurious"):
        row = database.sql(
            f"select count(*), count(*) filter (e = t), coalesce(avg(abs(e::double - t)) filter (e <> t), 0), sum(e)::bigint, "
            f"sum(t)::bigint from (select estimated.{name} as e, real.{name} as t from estimated join real "
            "on parse_filename(estimated.file) = real.file)"
        ).fetchall()[0]
        count, exact, off, estimated, true = row
        figure.rows.append((name, count, exact, exact / count if count else None, off, estimated, true))
    return figure


def main(arguments: list[str]) -> int:
    """`inorder summary`."""
    parser = argparse.ArgumentParser(prog="inorder summary")
    parser.add_argument("study")
    parser.add_argument("--beside")
    parser.add_argument("--by", default="")
    parser.add_argument("--min-packets", type=int, default=1)
    parser.add_argument("--threshold", type=int, default=3)
    parser.add_argument("--html")
    parser.add_argument("--csv")
    parser.add_argument("--force", action="store_true")
    given = parser.parse_args(arguments)
    by = [name for name in given.by.split(",") if name]
    page = free(Path(given.html), given.force) if given.html else None
    summary = summarise(
        given.study, beside=given.beside, by=by, threshold=given.threshold, min_packets=given.min_packets
    )
    if given.csv:
        folder = Path(given.csv)
        folder.mkdir(parents=True, exist_ok=True)
        for figure in summary.figures:
            table = folder / f"{figure.name}.csv"
            with draft(table, given.force) as path, open(path, "w", encoding="utf-8") as out:
                write(figure.rows, figure.columns, "csv", out)
    if page is not None:
        from inorder.summary_page import html

        with draft(page, given.force) as path:
            path.write_text(html(summary, given.study), encoding="utf-8")
    if not given.csv and page is None:
        _print(summary)
    return 0


def _print(summary: Summary) -> None:
    plural = "" if summary.connections == 1 else "s"
    print(f"{summary.connections:,} connection{plural}")
    for figure in summary.figures:
        if figure.name in LONG:
            continue
        print(f"\n{figure.about}")
        texts = [figure.columns, *([shown(value) for value in row] for row in figure.rows)]
        widths = [max(len(row[at]) for row in texts) for at in range(len(figure.columns))]
        for row in texts:
            print("  ".join(text.rjust(width) for text, width in zip(row, widths)))


if __name__ == "__main__":
    sys.exit(guarded(main))
