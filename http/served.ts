import { create as contentDisposition } from "content-disposition";

/** What came from a client is never shown as a page of ours. */
export const servedAs = ({ mime_type, filename }: { mime_type: string; filename: string }): Record<string, string> => ({
  "content-type": mime_type,
  "content-disposition": contentDisposition(filename),
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
});
