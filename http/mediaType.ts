import { extension, lookup } from "mime-types";

export const OCTETS = "application/octet-stream";
const PLAIN = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** `type/subtype` in lower case, without parameters; octets where it is not well formed. */
export function mediaType(declared: string): string {
  const type = declared.split(";")[0]!.trim().toLowerCase();
  return PLAIN.test(type) ? type : OCTETS;
}

export const typeOfName = (filename: string): string => lookup(filename) || OCTETS;

/** `image.png` for `image/png`, `file.pdf` for `application/pdf`. */
export function nameOfType(type: string): string {
  const group = type.split("/")[0]!;
  return `${group === "application" ? "file" : group}.${extension(type) || "bin"}`;
}
