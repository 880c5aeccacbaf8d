import { fileKind } from "../format/fileKind.ts";
import { formatBytes, formatCount } from "../format/index.ts";

interface Props {
  file: { mime_type: string; size_bytes: number; page_count?: number | undefined };
}

/** The type and size of the original file. */
export const FileFacts = ({ file: { mime_type, size_bytes, page_count } }: Props) => (
  <>
    <span title={mime_type}>{fileKind(mime_type)}</span> · {formatBytes(size_bytes)}
    {page_count !== undefined && ` · ${formatCount(page_count, "page")}`}
  </>
);
