import { extension, lookup } from "mime-types";

export const OCTETS = "application/octet-stream";
const PLAIN = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** `type/subtype` in lower case, without parameters; `application/octet-stream` if it is malformed. */
export function parseMediaType(declared: string): string {
  const type = declared.split(";")[0]!.trim().toLowerCase();
  return PLAIN.test(type) ? type : OCTETS;
}

/** The media type for a filename. Without the check for a dot, a bare name such as `pdf` would count as an extension. */
export const mediaTypeFromName = (filename: string): string => (filename.includes(".") && lookup(filename)) || OCTETS;

/** `image.png` for `image/png`, `file.pdf` for `application/pdf`. */
export function defaultFilename(type: string): string {
  const group = type.split("/")[0]!;
  return `${group === "application" ? "file" : group}.${extension(type) || "bin"}`;
}
