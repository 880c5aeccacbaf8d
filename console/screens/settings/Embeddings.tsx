import { useQuery } from "@tanstack/react-query";
import { getEmbeddings } from "../../api/settings.ts";
import { formatCount, formatNumber } from "../../format/index.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";

/** The number of documents that semantic search covers, and the reason if there is no progress. */
export function Embeddings() {
  const { data, error, refetch } = useQuery(getEmbeddings);
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const { model, documents, embedded, fault } = data;
  if (model === null)
    return <p className="quiet">Search finds words. A provider named “embeddings” lets it find meanings too.</p>;
  return (
    <>
      <p className="quiet">
        Search by meaning: {formatNumber(embedded)} of {formatCount(documents, "document")} have vectors of {model}.
      </p>
      {fault && (
        <p className="notice warn">
          No vectors are made since <Time at={fault.since} />: {fault.message}
        </p>
      )}
    </>
  );
}
