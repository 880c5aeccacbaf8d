import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import {
  countDocuments,
  deleteDocument,
  DOCUMENT_STATUSES,
  DOCUMENTS_PER_PAGE,
  getCollection,
  listDocuments,
  uploadDocument,
  type Collection,
  type DocumentInfo,
  type DocumentStatus,
} from "../../api/knowledge.ts";
import { useRole } from "../../api/useRole.ts";
import { formatBytes, formatCount, formatNumber } from "../../format/index.ts";
import { statusWord } from "../../format/statusWord.ts";
import type { Action } from "../../parts/action.ts";
import { DocumentWarnings } from "../../parts/DocumentWarnings.tsx";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { ReadingProgress } from "../../parts/ReadingProgress.tsx";
import { RetryReading } from "../../parts/RetryReading.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { ReplaceFile } from "../../parts/ReplaceFile.tsx";
import { Status } from "../../parts/Status.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { Uploads } from "../../parts/Uploads.tsx";
import { useChange } from "../../parts/useChange.ts";
import { CollectionForms } from "./CollectionForms.tsx";
import type { KnowledgeSearch } from "./search.ts";
import { SearchBox } from "./SearchBox.tsx";
import "./knowledge.css";

const route = getRouteApi("/knowledge/$collection");

/** Actions on a document that could not be read. Once the corrected file is uploaded, the failed document is superfluous. */
function Remedies({ document, removal }: { document: DocumentInfo; removal: Action<string> }) {
  const { id, name } = document;
  return (
    <div className="buttons">
      <ReplaceFile document={document} />
      <RetryReading document={document} />
      <RemoveButton
        id={id}
        label="Delete"
        about={name}
        isSmall
        question={`Delete “${name}” for good? It could not be read.`}
        removal={removal}
      />
    </div>
  );
}

const columns = (mayChange: boolean, removal: Action<string>): Columns<DocumentInfo> => [
  {
    title: "Document",
    cell: (document) => (
      <>
        <Link to="/knowledge/documents/$documentId" params={{ documentId: document.id }} data-row>
          {document.name}
        </Link>
        <ReadingProgress name={document.name} progress={document.progress} />
        {document.error && <p className="bad-text">{document.error}</p>}
        <DocumentWarnings warnings={document.warnings} />
        {document.status === "failed" && mayChange && <Remedies document={document} removal={removal} />}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status status={status} /> },
  { title: "Size", number: true, cell: ({ size_bytes }) => formatBytes(size_bytes) },
  {
    title: "Passages",
    number: true,
    cell: ({ status, chunk_count }) => status === "ready" && formatNumber(chunk_count),
  },
  { title: "Added", cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The reading progress of the documents. */
function Progress({ slug }: { slug: string }) {
  const { data: total = 0 } = useQuery(countDocuments(slug));
  const { data: ready = 0 } = useQuery(countDocuments(slug, "ready"));
  const { data: failed = 0 } = useQuery(countDocuments(slug, "failed"));
  const left = Math.max(0, total - ready - failed);
  if (total === 0) return null;
  return (
    <div role="status">
      <p className="quiet">
        {formatNumber(ready)} of {formatCount(total, "document")} ready
        {left > 0 && `, ${formatNumber(left)} being read`}
        {failed > 0 && `, ${formatNumber(failed)} failed`}
      </p>
      {left > 0 && <progress aria-label="Documents that were read" value={ready + failed} max={total} />}
    </div>
  );
}

const Statuses = ({ slug, status }: { slug: string; status: DocumentStatus | undefined }) => (
  <Tabs
    label="Status"
    names={["all", ...DOCUMENT_STATUSES] as const}
    current={status ?? "all"}
    title={statusWord}
    tab={(name, rest) => (
      <Tab
        {...rest}
        to="/knowledge/$collection"
        params={{ collection: slug }}
        search={name === "all" ? {} : { status: name }}
      />
    )}
  />
);

const NoDocuments = ({ isFiltered, mayChange }: { isFiltered: boolean; mayChange: boolean }) =>
  isFiltered ? (
    <EmptyState title="No document here">
      <p>Choose another status.</p>
    </EmptyState>
  ) : (
    <EmptyState title="This collection is empty">
      <p>{mayChange ? "Drop files above. They can be searched within seconds." : "Nobody has added a document yet."}</p>
    </EmptyState>
  );

function List({ slug, mayChange }: { slug: string; mayChange: boolean }) {
  const { status, page = 0 } = route.useSearch();
  const documents = useQuery(listDocuments(slug, status, page));
  const removal = useChange("document", deleteDocument);
  return (
    <QueryResult query={documents} what="documents">
      {(found) =>
        found.data.length === 0 && page === 0 ? (
          <NoDocuments isFiltered={status !== undefined} mayChange={mayChange} />
        ) : (
          <>
            {found.data.length > 0 && (
              <Table
                caption="Documents, newest first"
                columns={columns(mayChange, removal)}
                rows={found.data}
                rowKey={({ id }) => id}
              />
            )}
            {removal.isError && <ErrorNotice error={removal.error} />}
            <Pagination
              page={page}
              perPage={DOCUMENTS_PER_PAGE}
              total={found.total}
              what="document"
              address={(to) => ({
                to: "/knowledge/$collection",
                params: { collection: slug },
                search: { status, page: to },
              })}
            />
          </>
        )
      }
    </QueryResult>
  );
}

/** What is hidden during a search, not removed: that would stop uploads and lose typed text. */
const Kept = ({ isHidden, children }: { isHidden: boolean; children: ReactNode }) => (
  <div hidden={isHidden}>
    <div className="stack">{children}</div>
  </div>
);

function Details({ collection }: { collection: Collection }) {
  const { status, page: _, ...search } = route.useSearch();
  const navigate = useNavigate();
  const { mayWrite } = useRole();
  const { slug, name, description } = collection;
  const isSearch = search.q !== undefined;
  const toSearch = (next: KnowledgeSearch) =>
    void navigate({ to: "/knowledge/$collection", params: { collection: slug }, search: next });
  return (
    <>
      <header className="title-line">
        <h1>{name}</h1>
        <Link className="button" to="/knowledge/$collection/sources" params={{ collection: slug }}>
          Sources
        </Link>
      </header>
      {description && <p>{description}</p>}
      <Progress slug={slug} />
      <SearchBox search={search} collection={slug} onSearch={toSearch} />
      {mayWrite && (
        <Kept isHidden={isSearch}>
          <Uploads send={(file) => uploadDocument(slug, file)} kind="collection" />
        </Kept>
      )}
      {!isSearch && (
        <>
          <Statuses slug={slug} status={status} />
          <List slug={slug} mayChange={mayWrite} />
        </>
      )}
      {mayWrite && (
        <Kept isHidden={isSearch}>
          <CollectionForms collection={collection} />
        </Kept>
      )}
    </>
  );
}

/** One collection: its documents, their reading progress, upload and search. */
export function CollectionPage() {
  const { collection: reference } = route.useParams();
  const collection = useQuery(getCollection(reference));
  return (
    <ThingScreen back={<Link to="/knowledge">← Knowledge</Link>} query={collection} kind="Collection">
      {(data) => <Details key={data.id} collection={data} />}
    </ThingScreen>
  );
}
