import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import {
  listPassages,
  PASSAGES_PER_PAGE,
  type DocumentInfo,
  type Passage,
  type Passages,
} from "../../api/knowledge.ts";
import { formatCount, formatNumber } from "../../format/index.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { useRawText, FormattedText } from "../../parts/FormattedText.tsx";

/** Passages shown before the marked one. */
const CONTEXT = 5;
/** Passages per request. */
const MAX_PASSAGES = 500;

export interface Marks {
  seq: number | undefined;
  page: number | undefined;
  /** The version that a citation names; undefined means the newest. */
  version: number | undefined;
}

const isMarked = ({ seq, page }: Marks, passage: Passage): boolean =>
  seq === undefined ? page !== undefined && passage.page === page : passage.seq === seq;

function Text({ passages, marks, isRaw }: { passages: Passage[]; marks: Marks; isRaw: boolean }) {
  const first = useRef<HTMLElement>(null);
  const key = `${marks.seq}/${marks.page}`;
  useEffect(() => {
    // in braces, because newer browsers return a promise, which React would call as a clean-up
    first.current?.scrollIntoView({ block: "center" });
  }, [key]);
  const firstMarked = passages.findIndex((passage) => isMarked(marks, passage));
  return (
    <div className="document-text">
      {passages.map((passage, n) => {
        const { seq, page, section, table_header, text } = passage;
        const header = table_header === undefined || isRaw ? "" : `${table_header}\n`;
        const Tag = isMarked(marks, passage) ? "mark" : "div";
        return (
          <div key={seq} className="passage">
            {page !== null && page !== passages[n - 1]?.page && <h2 className="page-title">Page {page}</h2>}
            {section !== null && section !== passages[n - 1]?.section && <p className="quiet">{section}</p>}
            <Tag
              className="passage-text"
              ref={n === firstMarked ? (element) => void (first.current = element) : undefined}
            >
              <FormattedText text={header + text.trim()} isRaw={isRaw} />
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
  const { isRaw, toggle } = useRawText();
  const [first, last] = [found.data[0], found.data.at(-1)];
  if (!first || !last)
    return (
      <EmptyState title="There is no such passage">
        <p>
          The document has {formatCount(found.total, "passage")}.{" "}
          <Link to="/knowledge/documents/$documentId" params={{ documentId: document.id }}>
            Read it from the beginning
          </Link>
          .
        </p>
      </EmptyState>
    );
  return (
    <>
      <h2 className="hidden-text">Text</h2>
      <p className="title-line">
        <span className="quiet">
          Passages {formatNumber(first.seq + 1)} to {formatNumber(last.seq + 1)} of {formatNumber(found.total)}
        </span>
        {toggle}
      </p>
      {first.seq > 0 && (
        <button type="button" className="button" onClick={() => onEarlier(first.seq)}>
          Show earlier passages
        </button>
      )}
      <Text passages={found.data} marks={marks} isRaw={isRaw} />
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

/** The text of a document, starting shortly before the marked passage. */
export function DocumentText({ document, marks }: { document: DocumentInfo; marks: Marks }) {
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
    <QueryResult query={passages} what="the text">
      {(found) => (
        <Window
          document={document}
          found={found}
          marks={marks}
          onEarlier={showEarlier}
          onMore={() => setLimit((current) => Math.min(MAX_PASSAGES, current + PASSAGES_PER_PAGE))}
        />
      )}
    </QueryResult>
  );
}
