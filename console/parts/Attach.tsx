import { useMutation } from "@tanstack/react-query";
import { useRef, useState, useSyncExternalStore } from "react";
import { uploadFile } from "../api/answer.ts";
import { formatBytes } from "../format/index.ts";
import { createAttachments, type Files } from "./attachments.ts";
import { ErrorNotice } from "./Notices.tsx";
import "./attach.css";

/** Files for the text that is being written. They are uploaded as soon as they are chosen or dropped. */
export function useAttachments(max: number) {
  const [attachments] = useState(() => createAttachments(max, uploadFile));
  const { files, uploading, missing, error } = useSyncExternalStore(attachments.subscribe, attachments.read);
  // as mutations, so that the page notices a session that has ended
  const { mutate } = useMutation({ mutationFn: attachments.add });
  return {
    files,
    upload: { isPending: uploading > 0, isError: error !== null, error },
    missing,
    add: (list: FileList | null) => {
      if (list?.length) mutate([...list]);
    },
    remove: (id: string) => attachments.remove([id]),
    /** Removes the files that were sent. Others may have been attached meanwhile. */
    clear: (sent: Files) => attachments.remove(sent.map(({ id }) => id)),
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
