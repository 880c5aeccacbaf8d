import { isFinal } from "../api/call.ts";
import { formatBytes, formatCount } from "../format/index.ts";
import { ErrorNotice } from "./Notices.tsx";
import { useUploads, type Upload, type UploadProps } from "./useUploads.ts";
import "./uploads.css";

const Line = ({ upload, onRetry }: { upload: Upload; onRetry: () => void }) => (
  <li className="upload">
    <span>
      {upload.file.name} <span className="quiet">{formatBytes(upload.file.size)}</span>
    </span>
    {upload.status === "failed" ? (
      <ErrorNotice error={upload.error} isByHand {...(!isFinal(upload.error) && { onRetry })} />
    ) : (
      <progress aria-label={`Sending ${upload.file.name}`} value={upload.sent} max={1} />
    )}
  </li>
);

/** The notice for a file that changes nothing, which would otherwise look lost. */
const Existing = ({ upload: { file, existing } }: { upload: Upload }) => (
  <li className="quiet">
    {existing === file.name
      ? `${file.name} is there already, with the same content.`
      : `${file.name} has the same content as ${existing}, which is there already.`}
  </li>
);

/** Accepts many files at once by drop or by choice, and shows the progress of each. Sent files then appear in the list below. */
export function Uploads(props: UploadProps) {
  const { uploads, add, retry, clear } = useUploads(props);
  const open = uploads.filter(({ status }) => status !== "sent");
  const sent = uploads.length - open.length;
  return (
    <section aria-label="Upload" className="stack">
      <label>
        <span>Drop files here, or choose them</span>
        {/* browsers accept dropped files here by themselves */}
        <input
          className="drop"
          type="file"
          multiple
          onChange={({ target }) => {
            add(target.files ?? []);
            target.value = "";
          }}
        />
      </label>
      <div role="status">
        {uploads.length > 0 && `${sent} of ${formatCount(uploads.length, "file")} sent.`}{" "}
        {sent > 0 && open.length === 0 && (
          <button type="button" className="button small" onClick={clear}>
            Done
          </button>
        )}
        <ul className="plain">
          {uploads
            .filter(({ existing }) => existing !== undefined)
            .map((upload) => (
              <Existing key={upload.id} upload={upload} />
            ))}
        </ul>
      </div>
      <ul className="plain stack">
        {open.map((upload) => (
          <Line key={upload.id} upload={upload} onRetry={() => retry(upload)} />
        ))}
      </ul>
    </section>
  );
}
