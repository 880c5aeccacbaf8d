import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { replaceDocument, type DocumentInfo } from "../api/knowledge.ts";
import { ErrorNotice } from "./Notices.tsx";
import { FocusableButton } from "./FocusableButton.tsx";
import { useLocationKey } from "./useLocationKey.ts";

interface Props {
  document: DocumentInfo;
  /** Receives the document that replaced it, unless the person has left the screen. */
  onReplaced?(id: string): void;
}

/** Replaces a file that could not be read by a corrected one, and keeps its tags, metadata and readers. */
export function ReplaceFile({ document, onReplaced }: Props) {
  const queries = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const where = useLocationKey();
  const replace = useMutation({
    mutationFn: (file: File) => replaceDocument(document, file),
    onMutate: where,
    onSuccess: async ({ id }, _file, began) => {
      await queries.invalidateQueries({ queryKey: ["document", "list"] });
      if (where() === began) onReplaced?.(id);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["document"] }),
  });
  return (
    <>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label={`Replacement for ${document.name}`}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) replace.mutate(file);
          target.value = "";
        }}
      />
      <FocusableButton
        type="button"
        className="button small"
        isOff={replace.isPending}
        onClick={() => picker.current?.click()}
      >
        {replace.isPending ? "Sending…" : "Replace file"}
        <span className="hidden-text"> {document.name}</span>
      </FocusableButton>
      {replace.isError && <ErrorNotice error={replace.error} />}
    </>
  );
}
