import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { listSourcePages, PAGE_RESULTS, SOURCE_PAGES_PER_PAGE, type SourcePage } from "../../api/sources.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { Status } from "../../parts/Status.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";

const route = getRouteApi("/knowledge/$collection/sources");

const COLUMNS: Columns<SourcePage> = [
  {
    title: "Page",
    className: "address",
    cell: ({ url, error, document_id }) => (
      <>
        {document_id === null ? (
          url
        ) : (
          <Link to="/knowledge/documents/$documentId" params={{ documentId: document_id }} data-row>
            {url}
          </Link>
        )}
        {error && <p className="bad-text">{error}</p>}
      </>
    ),
  },
  { title: "Result", cell: ({ result }) => <Status status={result} /> },
  { title: "Checked", cell: ({ checked_at }) => <Time at={checked_at} /> },
];

/** The result of each page of a source. */
export function SourcePages({ source }: { source: string }) {
  const { collection } = route.useParams();
  const { result, page = 0 } = route.useSearch();
  const pages = useQuery(listSourcePages(source, result, page));
  const place = { to: "/knowledge/$collection/sources", params: { collection } } as const;
  return (
    <>
      <Tabs
        label="Result"
        names={["all", ...PAGE_RESULTS] as const}
        current={result ?? "all"}
        tab={(name, rest) => <Tab {...rest} {...place} search={{ source, ...(name !== "all" && { result: name }) }} />}
      />
      <QueryResult query={pages} what="pages">
        {({ data, total }) =>
          data.length === 0 && page === 0 ? (
            <EmptyState title="No page here">
              <p>{result ? "No page had this result when it was read last." : "No page has been read yet."}</p>
            </EmptyState>
          ) : (
            <>
              {data.length > 0 && (
                <Table caption="Pages, checked last first" columns={COLUMNS} rows={data} rowKey={({ url }) => url} />
              )}
              <Pagination
                page={page}
                perPage={SOURCE_PAGES_PER_PAGE}
                total={total}
                what="page"
                address={(to) => ({ ...place, search: { source, result, page: to } })}
              />
            </>
          )
        }
      </QueryResult>
    </>
  );
}
