import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { uploadFile, type Question } from "../api/answer.ts";
import { formatBytes } from "../format/index.ts";
import { ErrorNotice } from "./Notices.tsx";
import "./attach.css";

type Files = Question["files"];

const nameOf = ({ name }: File): string => name;

/** Files for the text that is being written. They are uploaded as soon as they are chosen or dropped. */
export function useAttachments(max: number) {
  const [files, setFiles] = useState<Files>([]);
  const [missing, setMissing] = useState<string[]>([]);
  const upload = useMutation({
    // each by itself, so that a refused file takes no other with it
    mutationFn: async (chosen: File[]) => {
      const room = max - files.length;
      const sent = await Promise.allSettled(chosen.slice(0, room).map(uploadFile));
      const stored = sent.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      setFiles((before) => [...before, ...stored].slice(0, max));
      setMissing(chosen.filter((_, n) => sent[n]?.status !== "fulfilled").map(nameOf));
      const refused = sent.find((one) => one.status === "rejected");
      if (refused) throw refused.reason;
      if (chosen.length > room) throw new Error(`${max} files are attached at most.`);
    },
  });
  return {
    files,
    upload,
    missing,
    add: (list: FileList | null) => {
      if (list?.length) upload.mutate([...list]);
    },
    remove: (id: string) => setFiles((before) => before.filter((file) => file.id !== id)),
    clear: () => setFiles([]),
  };
}

type Attachments = ReturnType<typeof useAttachments>;

/** The chosen files that are not attached, and why. */
export const AttachError = ({ upload, missing }: Pick<Attachments, "upload" | "missing">) =>
  upload.isError && <ErrorNotice what={`Not attached: ${missing.join(", ")}.`} error={upload.error} />;

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

/** A button that attaches files, and the attached files. */
export const AttachField = ({ files, upload, missing, add, remove }: Omit<Attachments, "clear">) => (
  <div className="stack">
    <AttachError upload={upload} missing={missing} />
    <AttachedFiles files={files} onRemove={remove} />
    <div>
      <AttachButton isPending={upload.isPending} onFiles={add} />
    </div>
  </div>
);
