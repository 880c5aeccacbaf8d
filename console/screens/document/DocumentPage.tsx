import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import {
  getDocument,
  getOriginal,
  listPassages,
  PASSAGES_PER_PAGE,
  type DocumentInfo,
  type Passage,
  type Passages,
} from "../../api/knowledge.ts";
import { formatBytes, formatCount, formatNumber } from "../../format/index.ts";
import { Empty, Loaded } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import "./document.css";

const route = getRouteApi("/knowledge/documents/$documentId");

/** Passages that are shown before the marked one. */
const CONTEXT = 5;
/** One request returns so many. */
const MAX_PASSAGES = 500;

interface Marks {
  seq: number | undefined;
  page: number | undefined;
  /** Of the text that a citation names; undefined: the newest. */
  version: number | undefined;
}

const isMarked = ({ seq, page }: Marks, passage: Passage): boolean =>
  seq === undefined ? page !== undefined && passage.page === page : passage.seq === seq;

function Text({ passages, marks }: { passages: Passage[]; marks: Marks }) {
  const first = useRef<HTMLElement>(null);
  const key = `${marks.seq}/${marks.page}`;
  useEffect(() => {
    // in braces: newer browsers return a promise, which React would call as a clean-up
    first.current?.scrollIntoView({ block: "center" });
  }, [key]);
  const firstMarked = passages.findIndex((passage) => isMarked(marks, passage));
  return (
    <div className="document-text">
      {passages.map((passage, n) => {
        const { seq, page, section, text } = passage;
        const Tag = isMarked(marks, passage) ? "mark" : "div";
        return (
          <div key={seq} className="passage">
            {page !== null && page !== passages[n - 1]?.page && <h2 className="page-title">Page {page}</h2>}
            {section !== null && section !== passages[n - 1]?.section && <p className="quiet">{section}</p>}
            <Tag
              className="passage-text"
              ref={n === firstMarked ? (element) => void (first.current = element) : undefined}
            >
              {text.trim()}
            </Tag>
          </div>
        );
      })}
    </div>
  );
}

function Window({
  document,
  found,
  marks,
  onEarlier,
  onMore,
}: {
  document: DocumentInfo;
  found: Passages;
  marks: Marks;
  onEarlier: (first: number) => void;
  onMore: () => void;
}) {
  const [first, last] = [found.data[0], found.data.at(-1)];
  if (!first || !last)
    return (
      <Empty title="There is no such passage">
        <p>
          The document has {formatCount(found.total, "passage")}.{" "}
          <Link to="/knowledge/documents/$documentId" params={{ documentId: document.id }}>
            Read it from the beginning
          </Link>
          .
        </p>
      </Empty>
    );
  return (
    <>
      <p className="quiet">
        Passages {formatNumber(first.seq + 1)} to {formatNumber(last.seq + 1)} of {formatNumber(found.total)}
      </p>
      {first.seq > 0 && (
        <button type="button" className="button" onClick={() => onEarlier(first.seq)}>
          Show earlier passages
        </button>
      )}
      <Text passages={found.data} marks={marks} />
      {found.next_from_seq !== null && found.data.length < MAX_PASSAGES && (
        <button type="button" className="button" onClick={onMore}>
          Show later passages
        </button>
      )}
      {found.next_from_seq !== null && found.data.length >= MAX_PASSAGES && (
        <Link
          className="button"
          to="/knowledge/documents/$documentId"
          params={{ documentId: document.id }}
          search={{ seq: found.next_from_seq, version: marks.version }}
        >
          Continue
        </Link>
      )}
    </>
  );
}

function Reading({ document, marks }: { document: DocumentInfo; marks: Marks }) {
  const { seq, page, version } = marks;
  const start = seq !== undefined || page === undefined ? { seq: Math.max(0, (seq ?? 0) - CONTEXT) } : { page };
  const [from, setFrom] = useState<{ seq: number } | { page: number }>(start);
  const [limit, setLimit] = useState(PASSAGES_PER_PAGE);
  const passages = useQuery(listPassages(document.id, from, { limit, version }));
  const showEarlier = (first: number) => {
    const earlier = Math.max(0, first - PASSAGES_PER_PAGE);
    setFrom({ seq: earlier });
    setLimit((current) => Math.min(MAX_PASSAGES, current + first - earlier));
  };
  return (
    <Loaded query={passages} what="the text">
      {(found) => (
        <Window
          document={document}
          found={found}
          marks={marks}
          onEarlier={showEarlier}
          onMore={() => setLimit((current) => Math.min(MAX_PASSAGES, current + PASSAGES_PER_PAGE))}
        />
      )}
    </Loaded>
  );
}

function Original({ document }: { document: DocumentInfo }) {
  const { data } = useQuery(getOriginal(document));
  if (!data) return null;
  return (
    <>
      <a href={data.address} download={data.isFile || `${document.name}.md`}>
        {data.isFile ? "Download the original" : "Download the text"}
      </a>
      {" · "}
    </>
  );
}

function Details({ document }: { document: DocumentInfo }) {
  const { seq, page, version } = route.useSearch();
  const { name, status, error, mime_type, size_bytes, page_count } = document;
  const hasText = status === "ready" || version !== undefined;
  return (
    <>
      <header className="title-line">
        <h1>{name}</h1>
        <Status status={status} />
      </header>
      <p className="quiet">
        {mime_type} · {formatBytes(size_bytes)}
        {page_count !== undefined && ` · ${formatCount(page_count, "page")}`} · <Original document={document} />
        <Link to="/knowledge/$collection" params={{ collection: document.collection_id }}>
          Its collection
        </Link>
      </p>
      {error && <p className="notice bad">{error}</p>}
      {!hasText && !error && (
        <p className="notice warn" role="status">
          The document is being read. Its text appears here as soon as it is ready.
        </p>
      )}
      {version !== undefined && (
        <p className="quiet">
          Version {version}, as it was cited.{" "}
          <Link to="/knowledge/documents/$documentId" params={{ documentId: document.id }}>
            Show the newest text
          </Link>
        </p>
      )}
      {hasText && (
        <Reading key={[document.id, seq, page, version].join("/")} document={document} marks={{ seq, page, version }} />
      )}
    </>
  );
}

/** A document as the service reads it, with the passage that a citation means. */
export function DocumentPage() {
  const { documentId } = route.useParams();
  const document = useQuery(getDocument(documentId));
  return (
    <ThingScreen back={<Link to="/knowledge">← Knowledge</Link>} query={document} kind="Document" narrow>
      {(data) => <Details document={data} />}
    </ThingScreen>
  );
}
