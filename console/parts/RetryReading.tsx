import { useMutation, useQueryClient } from "@tanstack/react-query";
import { retryDocument, type DocumentInfo } from "../api/knowledge.ts";
import { ErrorNotice } from "./Notices.tsx";
import { FocusableButton } from "./FocusableButton.tsx";

/** Retries the reading of a failed document. */
export function RetryReading({ document: { id, name } }: { document: Pick<DocumentInfo, "id" | "name"> }) {
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => retryDocument(id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["document"] }),
  });
  return (
    <>
      <FocusableButton type="button" className="button small" isOff={retry.isPending} onClick={() => retry.mutate()}>
        Try again<span className="hidden-text"> to read {name}</span>
      </FocusableButton>
      {retry.isError && <ErrorNotice error={retry.error} />}
    </>
  );
}
