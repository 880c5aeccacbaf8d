import type { Attachment } from "../../api/types.ts";
import { formatBytes } from "../../format/index.ts";

interface Props {
  files: readonly Attachment[];
  /** The address of a file; without one, `onSave` fetches it. */
  addressOf?: (file: Attachment) => string;
  onSave?: (file: Attachment) => void;
}

/** The files of an approval. */
export const Attachments = ({ files, addressOf, onSave }: Props) =>
  files.length > 0 && (
    <ul aria-label="Attached files">
      {files.map((file) => (
        <li key={file.file_id}>
          {addressOf ? (
            <a href={addressOf(file)} download={file.name}>
              {file.name}
            </a>
          ) : (
            <button type="button" className="link" onClick={() => onSave?.(file)}>
              {file.name}
            </button>
          )}{" "}
          <span className="quiet">{formatBytes(file.bytes)}</span>
        </li>
      ))}
    </ul>
  );
