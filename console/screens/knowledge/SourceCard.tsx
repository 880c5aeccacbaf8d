import { Link } from "@tanstack/react-router";
import { deleteSource, PAGE_RESULTS, pauseSource, readSource, type Source } from "../../api/sources.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCount, formatNumber } from "../../format/index.ts";
import { Status } from "../../parts/Status.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { Time } from "../../parts/Time.tsx";
import { describeRule } from "../schedules/rule.ts";
import { SourcePages } from "./SourcePages.tsx";

const statusOf = ({ paused, last_read: { status, error } }: Source): string => {
  if (status === "reading") return "reading";
  if (paused) return "paused";
  return error === null ? "ready" : "failed";
};

function Actions({ source }: { source: Source }) {
  const { id, url, paused, last_read } = source;
  const actions = [
    ...(last_read.status === "reading" ? [] : [{ label: "Read now", run: () => readSource(id) }]),
    { label: paused ? "Resume" : "Pause", run: () => pauseSource(id, !paused) },
    {
      label: "Remove",
      question: `Remove the source ${url}? Its documents stay in the collection.`,
      isDangerous: true,
      run: () => deleteSource(id, false),
    },
    {
      label: "Remove with documents",
      question: `Remove the source ${url} and delete all its documents? Their texts are destroyed.`,
      isDangerous: true,
      run: () => deleteSource(id, true),
    },
  ];
  return <ThingActions actions={actions} kind="source" />;
}

/** The progress of a read, or its result. */
function LastRead({ source }: { source: Source }) {
  const { listed, pages, started_at, ended_at, error, status } = source.last_read;
  const visited = PAGE_RESULTS.reduce((sum, result) => sum + pages[result], 0);
  const found = PAGE_RESULTS.filter((result) => pages[result] > 0).map(
    (result) => `${formatNumber(pages[result])} ${result}`,
  );
  return (
    <div role="status">
      <p className="quiet">
        {status === "reading" ? "Began " : "Read "}
        <Time at={ended_at ?? started_at} />
        {listed !== null && `, ${formatNumber(visited)} of ${formatCount(Math.max(listed, visited), "page")}`}
        {found.length > 0 && `: ${found.join(", ")}`}
      </p>
      {status === "reading" && (
        <progress aria-label={`Pages of ${source.url} that were read`} value={visited} max={listed ?? 1} />
      )}
      {error && <p className="bad-text">{error}</p>}
    </div>
  );
}

/** One source: its address and schedule, the result of its last read, and its pages if they are open. */
export function SourceCard({ source, collection, isOpen }: { source: Source; collection: string; isOpen: boolean }) {
  const { mayWrite } = useRole();
  const { id, url, kind, schedule, next_at } = source;
  return (
    <li className="card part source">
      <p className="title-line">
        <Link
          to="/knowledge/$collection/sources"
          params={{ collection }}
          search={isOpen ? {} : { source: id }}
          aria-expanded={isOpen}
          className="row-title address"
        >
          {url}
        </Link>
        <Status status={statusOf(source)} />
      </p>
      <p className="quiet">
        {kind === "sitemap" ? "A sitemap" : "A page"}
        {schedule ? `, read ${describeRule(schedule)}` : ", read when somebody asks"}
        {next_at && (
          <>
            , next <Time at={next_at} />
          </>
        )}
      </p>
      <LastRead source={source} />
      {mayWrite && <Actions source={source} />}
      {isOpen && <SourcePages source={id} />}
    </li>
  );
}
