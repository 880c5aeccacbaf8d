import { useIsMutating, useMutation } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { uploadFile, type Question } from "../api/answer.ts";
import { formatBytes } from "../format/index.ts";
import { ErrorNotice } from "./Notices.tsx";
import "./attach.css";

type Files = Question["files"];

const nameOf = ({ name }: File): string => name;

interface Refusal {
  /** The files that are not attached. */
  names: string[];
  /** Why the last of them is not. */
  error: unknown;
}

/** Files for the text that is being written. They are uploaded as soon as they are chosen or dropped, also while others are. */
export function useAttachments(max: number) {
  const mutationKey = ["attach", useId()];
  const isUploading = useIsMutating({ mutationKey }) > 0;
  const [files, setFiles] = useState<Files>([]);
  const underWay = useRef(0);
  const [refusal, setRefusal] = useState<Refusal>();
  const refuse = (refused: File[], error: unknown) =>
    setRefusal((before) => ({ names: [...(before?.names ?? []), ...refused.map(nameOf)], error }));
  const { mutate } = useMutation({
    mutationKey,
    // each by itself, so that a refused file takes no other with it
    mutationFn: async (chosen: File[]) => {
      const room = Math.max(0, max - files.length - underWay.current);
      const taken = chosen.slice(0, room);
      underWay.current += taken.length;
      const sent = await Promise.allSettled(taken.map(uploadFile));
      underWay.current -= taken.length;
      const stored = sent.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      setFiles((before) => [...before, ...stored]);
      const missing = chosen.filter((_, n) => sent[n]?.status !== "fulfilled");
      const refused = sent.find((one) => one.status === "rejected");
      if (refused) refuse(missing, refused.reason);
      else if (missing.length > 0) refuse(missing, new Error(`${max} files are attached at most.`));
      // the cache of mutations learns of an outage
      if (refused) throw refused.reason;
    },
  });
  return {
    files,
    isUploading,
    refusal,
    add: (list: FileList | null) => {
      if (!list?.length) return;
      if (!isUploading) setRefusal(undefined);
      mutate([...list]);
    },
    remove: (id: string) => setFiles((before) => before.filter((file) => file.id !== id)),
    /** Removes the files that were sent. Others may have been attached meanwhile. */
    clear: (sent: Files) => setFiles((before) => before.filter((file) => !sent.includes(file))),
  };
}

type Attachments = ReturnType<typeof useAttachments>;

/** The chosen files that are not attached, and why. */
export const AttachError = ({ refusal }: Pick<Attachments, "refusal">) =>
  refusal && <ErrorNotice what={`Not attached: ${refusal.names.join(", ")}.`} error={refusal.error} />;

export function AttachedFiles({ files, onRemove }: { files: Files; onRemove(id: string): void }) {
  if (files.length === 0) return null;
  return (
    <ul className="plain files" aria-label="Attached files">
      {files.map(({ id, filename, bytes }) => (
        <li key={id} className="file">
          {filename} <span className="quiet">{formatBytes(bytes)}</span>
          <button type="button" className="button small" aria-label={`Remove ${filename}`} onClick={() => onRemove(id)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

export function AttachButton({ isPending, onFiles }: { isPending: boolean; onFiles(list: FileList | null): void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(event.target.files);
          event.target.value = "";
        }}
      />
      <button type="button" className="button" onClick={() => picker.current?.click()}>
        {isPending ? "Uploading…" : "Attach"}
      </button>
    </>
  );
}

export const AttachField = ({ files, isUploading, refusal, add, remove }: Omit<Attachments, "clear">) => (
  <div className="stack">
    <AttachError refusal={refusal} />
    <AttachedFiles files={files} onRemove={remove} />
    <div>
      <AttachButton isPending={isUploading} onFiles={add} />
    </div>
  </div>
);
