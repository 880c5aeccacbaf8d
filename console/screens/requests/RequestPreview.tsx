import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";
import { getTrace } from "../../api/requests.ts";
import { QueryResult, Loading } from "../../parts/Notices.tsx";
import type { RequestSearch } from "./filter.ts";
import { importFile } from "../../parts/importFile.ts";

const TraceDetails = lazy(async () => ({
  default: (await importFile(() => import("../request/TraceDetails.tsx"))).TraceDetails,
}));

/** Called before the panel closes, so that its row takes the focus. */
const focusRow = (): void =>
  document.querySelector<HTMLElement>(".question [aria-current]")?.focus({ preventScroll: true });

/** One request beside the list. Escape closes it. */
export function RequestPreview({ id, search }: { id: string; search: RequestSearch }) {
  const trace = useQuery(getTrace(id));
  const navigate = useNavigate();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const onKey = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key !== "Escape" || defaultPrevented || document.querySelector("dialog[open]")) return;
      focusRow();
      void navigate({ to: "/requests", search: { ...search, peek: undefined }, resetScroll: false });
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate, search]);
  useEffect(() => {
    panel.current?.scrollTo(0, 0);
  }, [id]);
  return (
    <aside ref={panel} className="peek" aria-labelledby="peeked" tabIndex={-1}>
      <header className="title-line">
        <h2 id="peeked">Request</h2>
        <Link className="button small" to="/requests/$turnId" params={{ turnId: id }}>
          Open
        </Link>
        <Link
          className="button small"
          to="/requests"
          search={{ ...search, peek: undefined }}
          resetScroll={false}
          title="Esc"
          onClick={focusRow}
        >
          Close
        </Link>
      </header>
      <QueryResult query={trace} what="the request">
        {(data) => (
          <Suspense fallback={<Loading what="the request" />}>
            <TraceDetails trace={data} newest={data} asOf={undefined} />
          </Suspense>
        )}
      </QueryResult>
    </aside>
  );
}
