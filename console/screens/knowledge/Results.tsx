import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FoundPassages, SearchResult } from "../../api/knowledgeSearch.ts";
import { formatCount } from "../../format/index.ts";
import { DocumentWarnings } from "../../parts/DocumentWarnings.tsx";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Excerpt } from "./Excerpt.tsx";
import { isFiltered, type KnowledgeSearch } from "./search.ts";

const Hit = ({ result: { document, passages, more_passages } }: { result: SearchResult }) => (
  <li className="card hit">
    <h3>
      {document.name} <span className="quiet">in {document.collection}</span>
    </h3>
    <DocumentWarnings warnings={document.warnings} />
    <ul className="plain stack">
      {passages.map(({ seq, reference, score, table_header, content, highlights }) => (
        <li key={seq}>
          <Link
            className="passage-link"
            to="/knowledge/documents/$documentId"
            params={{ documentId: document.id }}
            search={{ seq }}
            data-row
          >
            <span className="quiet">
              {reference} · score {score.toFixed(2)}
            </span>
            {table_header !== undefined && <span className="quiet clipped found">{table_header.split("\n")[0]}</span>}
            <Excerpt content={content} highlights={highlights ?? []} />
          </Link>
        </li>
      ))}
    </ul>
    {more_passages !== undefined && more_passages > 0 && (
      <p className="quiet">and {formatCount(more_passages, "more passage")}</p>
    )}
  </li>
);

const PARTS = { embeddings: "meaning", reranking: "the ranking endpoint" };

/** A search that had to do without an endpoint may lack passages, or order them less well. */
const Degraded = ({ degraded = [] }: Pick<FoundPassages, "degraded">) =>
  degraded.map(({ part, message }) => (
    <p key={part} className="notice warn">
      Found without {PARTS[part]}: {message}
    </p>
  ));

const Nothing = ({ search }: { search: KnowledgeSearch }) => (
  <EmptyState title="No passage matches">
    <p>
      {isFiltered(search)
        ? "All filters must hold at once. Leave some of them empty, or use other words."
        : "Search finds words, in any form and order. Try fewer or other words."}
    </p>
  </EmptyState>
);

interface Props {
  search: KnowledgeSearch;
  found: UseQueryResult<FoundPassages>;
  onSearch(search: KnowledgeSearch): void;
}

/** For a page after the last hit, as an old address may name it. */
const NoMore = ({ onFirst }: { onFirst: () => void }) => (
  <EmptyState title="There are no more passages">
    <button type="button" className="button" onClick={onFirst}>
      Back to the best matches
    </button>
  </EmptyState>
);

/** The matching passages with marked words, best first. */
export function Results({ search, found, onSearch }: Props) {
  const page = search.hits ?? 0;
  const goTo = (hits: number) => onSearch({ ...search, hits: hits || undefined });
  const leadTo = (hits: number, label: string) => (
    <button type="button" className="button" onClick={() => goTo(hits)}>
      {label}
    </button>
  );
  return (
    <section aria-labelledby="results" className="stack">
      <h2 id="results">Passages that match “{search.q}”</h2>
      <Degraded degraded={found.data?.degraded} />
      <QueryResult query={found} what="passages">
        {({ results, has_more }) => {
          if (results.length === 0)
            return page === 0 ? <Nothing search={search} /> : <NoMore onFirst={() => goTo(0)} />;
          return (
            <>
              <ul className="plain stack">
                {results.map((result) => (
                  <Hit key={result.document.id} result={result} />
                ))}
              </ul>
              <nav aria-label="Pages of hits" className="title-line">
                {page > 0 && leadTo(page - 1, "Better matches")}
                {has_more && leadTo(page + 1, "More matches")}
              </nav>
            </>
          );
        }}
      </QueryResult>
    </section>
  );
}
