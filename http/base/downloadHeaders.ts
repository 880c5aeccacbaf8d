import { create as contentDisposition } from "content-disposition";

/** Headers for content that a client uploaded: browsers must not run it as a page of this origin. */
export const downloadHeaders = ({
  mime_type,
  filename,
}: {
  mime_type: string;
  filename: string;
}): Record<string, string> => ({
  "content-type": mime_type,
  "content-disposition": contentDisposition(filename),
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
});
