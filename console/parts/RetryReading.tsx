import { retryDocument, type DocumentInfo } from "../api/knowledge.ts";
import { ErrorNotice } from "./Notices.tsx";
import { FocusableButton } from "./FocusableButton.tsx";
import { useChange } from "./useChange.ts";

/** Retries the reading of a failed document. */
export function RetryReading({ document: { id, name } }: { document: Pick<DocumentInfo, "id" | "name"> }) {
  const retry = useChange("document", () => retryDocument(id));
  return (
    <>
      <FocusableButton type="button" className="button small" isOff={retry.isPending} onClick={() => retry.mutate()}>
        Try again<span className="hidden-text"> to read {name}</span>
      </FocusableButton>
      {retry.isError && <ErrorNotice error={retry.error} />}
    </>
  );
}
