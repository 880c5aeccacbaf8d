import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { searchPassages, type SearchResult } from "../../api/knowledge.ts";
import { formText } from "../../parts/formText.ts";
import { Empty, Loaded } from "../../parts/Notices.tsx";

const Hit = ({ result }: { result: SearchResult }) => (
  <li className="card hit">
    <h3>
      {result.document.name} <span className="quiet">in {result.document.collection}</span>
    </h3>
    <ul className="plain stack">
      {result.passages.map(({ seq, reference, score, content }) => (
        <li key={seq}>
          <Link
            className="passage-link"
            to="/knowledge/documents/$documentId"
            params={{ documentId: result.document.id }}
            search={{ seq }}
            data-row
          >
            <span className="quiet">
              {reference} · score {score.toFixed(2)}
            </span>
            <span className="clipped found">{content}</span>
          </Link>
        </li>
      ))}
    </ul>
  </li>
);

function Results({ q, collection }: { q: string; collection: string | undefined }) {
  const found = useQuery(searchPassages(q, collection));
  return (
    <section aria-labelledby="results" className="stack">
      <h2 id="results">Passages that match “{q}”</h2>
      <Loaded query={found} what="passages">
        {({ results, has_more }) =>
          results.length === 0 ? (
            <Empty title="No passage matches">
              <p>Search finds words, in any form and order. Try fewer or other words.</p>
            </Empty>
          ) : (
            <>
              <ul className="plain stack">
                {results.map((result) => (
                  <Hit key={result.document.id} result={result} />
                ))}
              </ul>
              {has_more && <p className="quiet">These are the best matches. Use more words to narrow the search.</p>}
            </>
          )
        }
      </Loaded>
    </section>
  );
}

interface Props {
  q: string | undefined;
  /** Slug; undefined for all collections. */
  collection?: string;
  onSearch(q: string | undefined): void;
}

/** Asks the index when the form is sent: a search costs more than a list. */
export function SearchBox({ q, collection, onSearch }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSearch(formText(new FormData(event.currentTarget), "q").trim() || undefined);
  };
  return (
    <>
      <search>
        <form className="search-line" onSubmit={submit}>
          <label>
            <span className="hidden-text">Search the documents</span>
            <input key={q} name="q" type="search" defaultValue={q} placeholder="Search the documents" data-filter />
          </label>
          <button type="submit" className="button primary">
            Search
          </button>
          {q && (
            <button type="button" className="button" onClick={() => onSearch(undefined)}>
              Clear
            </button>
          )}
        </form>
      </search>
      {q && <Results q={q} collection={collection} />}
    </>
  );
}
