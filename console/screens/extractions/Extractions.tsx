import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import {
  extract,
  EXTRACTION_STATUSES,
  EXTRACTIONS_PER_PAGE,
  listExtractions,
  type Extraction,
  type ExtractionStatus,
} from "../../api/extractions.ts";
import { useRole } from "../../api/useRole.ts";
import { formatBytes } from "../../format/index.ts";
import { statusWord } from "../../format/statusWord.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { ReadingProgress } from "../../parts/ReadingProgress.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { Uploads } from "../../parts/Uploads.tsx";

const route = getRouteApi("/extractions");

const COLUMNS: Columns<Extraction> = [
  {
    title: "File",
    cell: ({ id, name, error, progress, warnings = [] }) => (
      <>
        <Link to="/extractions/$extractionId" params={{ extractionId: id }} data-row>
          {name}
        </Link>
        <ReadingProgress name={name} progress={progress} />
        {error && <p className="bad-text">{error}</p>}
        {warnings.length > 0 && <span className="quiet block">read with warnings</span>}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status status={status} /> },
  { title: "Size", number: true, cell: ({ size_bytes }) => formatBytes(size_bytes) },
  { title: "Sent", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Deleted", cell: ({ expires_at }) => <Time at={expires_at} /> },
];

const NoExtractions = ({ status, mayWrite }: { status: ExtractionStatus | undefined; mayWrite: boolean }) => (
  <EmptyState title={status ? `No extraction is ${statusWord(status)}` : "No file was turned into text within a day"}>
    <ol>
      {mayWrite && <li>Drop a file above: its text appears here as Markdown, and nothing is searched.</li>}
      <li>
        A program sends it to <code>POST /api/v1/extractions</code>.
      </li>
      <li>
        Files to search and cite belong into <Link to="/knowledge">Knowledge</Link>.
      </li>
    </ol>
  </EmptyState>
);

function List({ status, page }: { status: ExtractionStatus | undefined; page: number }) {
  const { mayWrite } = useRole();
  const extractions = useQuery(listExtractions(status, page));
  return (
    <QueryResult query={extractions} what="extractions">
      {({ data, total }) => (
        <>
          {data.length === 0 && page === 0 && <NoExtractions status={status} mayWrite={mayWrite} />}
          {data.length > 0 && (
            <Table caption="Extractions, newest first" columns={COLUMNS} rows={data} rowKey={({ id }) => id} />
          )}
          <Pagination
            page={page}
            perPage={EXTRACTIONS_PER_PAGE}
            total={total}
            what="extraction"
            address={(to) => ({ to: "/extractions", search: { status, page: to } })}
          />
        </>
      )}
    </QueryResult>
  );
}

/** Files that are or were converted to Markdown. */
export function Extractions() {
  const { status, page = 0 } = route.useSearch();
  const { mayWrite } = useRole();
  return (
    <section className="screen narrow" aria-labelledby="title">
      <h1 id="title">Extractions</h1>
      <p className="quiet">The text of a file, as Markdown. The file and its text are deleted after a day.</p>
      {mayWrite && <Uploads send={extract} kind="extraction" />}
      <Tabs
        label="Status"
        names={["all", ...EXTRACTION_STATUSES] as const}
        current={status ?? "all"}
        title={statusWord}
        tab={(name, rest) => <Tab {...rest} to="/extractions" search={name === "all" ? {} : { status: name }} />}
      />
      <List status={status} page={page} />
    </section>
  );
}
