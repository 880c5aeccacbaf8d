import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listVersions, type DocumentInfo } from "../../api/knowledge.ts";
import { formatCount } from "../../format/index.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";

interface Props {
  document: DocumentInfo;
  /** The version to show; undefined means the newest. */
  shown: number | undefined;
}

/** The earlier versions of a document's text, which citations still open. Empty if there are none. */
export function Versions({ document: { id }, shown }: Props) {
  const { data, error, refetch } = useQuery(listVersions(id));
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data || data.data.length < 2) return null;
  return (
    <details open={shown !== undefined}>
      <summary>{formatCount(data.total, "version")} of the text</summary>
      <ul className="plain versions">
        {data.data.map(({ version, current, chunk_count, indexed_at }) => (
          <li key={version}>
            <Link
              to="/knowledge/documents/$documentId"
              params={{ documentId: id }}
              search={current ? {} : { version }}
              aria-current={(current ? undefined : version) === shown ? "true" : undefined}
              data-row
            >
              Version {version}
            </Link>{" "}
            <span className="quiet">
              {current && "what search shows, "}
              {formatCount(chunk_count, "passage")}
              {indexed_at && (
                <>
                  , since <Time at={indexed_at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
