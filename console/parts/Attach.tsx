import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { uploadFile, type Question } from "../api/answer.ts";
import { formatBytes } from "../format/index.ts";
import { ErrorNotice } from "./Notices.tsx";
import "./attach.css";

type Files = Question["files"];

/** Files for the text that is being written. They are uploaded as soon as they are chosen or dropped. */
export function useAttachments(max: number) {
  const [files, setFiles] = useState<Files>([]);
  const upload = useMutation({
    mutationFn: (chosen: File[]) => Promise.all(chosen.map(uploadFile)),
    onSuccess: (uploaded) => setFiles((before) => [...before, ...uploaded].slice(0, max)),
  });
  return {
    files,
    upload,
    add: (list: FileList | null) => {
      if (list?.length) upload.mutate([...list]);
    },
    remove: (id: string) => setFiles((before) => before.filter((file) => file.id !== id)),
    clear: () => setFiles([]),
  };
}

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
export const AttachField = ({ files, upload, add, remove }: Omit<ReturnType<typeof useAttachments>, "clear">) => (
  <div className="stack">
    {upload.isError && <ErrorNotice error={upload.error} />}
    <AttachedFiles files={files} onRemove={remove} />
    <div>
      <AttachButton isPending={upload.isPending} onFiles={add} />
    </div>
  </div>
);
