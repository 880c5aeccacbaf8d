import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { readHistogram, type Histogram as Counts } from "../../api/events.ts";
import { formatCount, formatDuration, formatExact } from "../../format/index.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { barsOf } from "./bars.ts";
import type { LogSearch } from "./search.ts";

function Bars({ counts, search }: { counts: Counts; search: LogSearch }) {
  const { event: _, follow: __, ...rest } = search;
  const bars = barsOf(counts);
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  return (
    <figure className="card histogram">
      <ol className="plain bars">
        {bars.map(({ at, count, before }) => (
          <li key={at}>
            {before !== undefined && (
              <Link
                to="/log"
                search={{ ...rest, after: before }}
                aria-current={before === search.after}
                aria-label={`${formatCount(count, "event")} from ${formatExact(at)}`}
                title={`${formatCount(count, "event")} from ${formatExact(at)}`}
              >
                <span style={{ height: `${Math.max(4, (count / most) * 100)}%` }} />
              </Link>
            )}
          </li>
        ))}
      </ol>
      <figcaption className="quiet">
        {formatCount(total, "event")}, a bar for {formatDuration(counts.bar_seconds * 1_000)}. A bar leads to its
        events.
        {!counts.complete && " Older events are not counted."}
      </figcaption>
    </figure>
  );
}

/** Events over time; each bar links to its events. */
export function Histogram({ search }: { search: LogSearch }) {
  const counts = useQuery(readHistogram(search));
  return (
    <QueryResult query={counts} what="the histogram">
      {(data) => <Bars counts={data} search={search} />}
    </QueryResult>
  );
}
