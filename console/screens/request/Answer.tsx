import { Link } from "@tanstack/react-router";
import type { Trace } from "../../api/trace.ts";
import type { Source } from "../../api/types.ts";
import { formatNumber } from "../../format/index.ts";
import { markSources } from "../../parts/markSources.ts";
import { markOf, SourceLink } from "../../parts/SourceLink.tsx";
import { useRawText, FormattedText } from "../../parts/FormattedText.tsx";
import { findOrigin } from "./findOrigin.ts";
import { changeView } from "./search.ts";

/** The origin of a source; links to the call. */
function From({ trace, source }: { trace: Trace; source: Source }) {
  const origin = findOrigin(trace, source);
  if (!origin) return null;
  const { tool, line, place, results } = origin;
  return (
    <span className="quiet">
      , result {formatNumber(place)} of {formatNumber(results)} of{" "}
      <Link to="/requests/$turnId" params={{ turnId: trace.id }} search={changeView({ line })} hash="course">
        {tool}
      </Link>
    </span>
  );
}

/** The answer with its source numbers, and the origin of each source. */
export function Answer({ trace }: { trace: Trace }) {
  const { isRaw, toggle } = useRawText();
  const { answer } = trace;
  if (!answer) return null;
  const { sources, marked } = markSources(answer.text, answer.citations);
  return (
    <section className="card part" aria-labelledby="answer">
      <div className="title-line">
        <h2 id="answer">Answer</h2>
        {toggle}
      </div>
      <FormattedText text={(isRaw ? answer.text : marked) || "(no text)"} isRaw={isRaw} mark={markOf(sources)} />
      {sources.length > 0 && (
        <>
          <h3>Sources</h3>
          <ol>
            {sources.map((source) => (
              <li key={`${source.url} ${source.title}`}>
                <SourceLink source={source}>{source.title}</SourceLink>
                <From trace={trace} source={source} />
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
