/* oxlint-disable no-control-regex -- control characters are what it removes */
const MAX_BYTES = 255;
/** UTF-16 units that are read from the end of a name. Normalization takes quadratic time: 7 s for 360 kB of combining marks. */
const MAX_READ = 4096;
/** Control characters, bidirectional marks and overrides, zero-width and line separators. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

function truncate(name: string): string {
  if (Buffer.byteLength(name) <= MAX_BYTES) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : "";
  let kept = "";
  let bytes = Buffer.byteLength(extension);
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_BYTES) break;
    kept += character;
  }
  return kept + extension;
}

/**
 * Makes a display name, never a path: the last segment in NFC, without invisible characters, at most 255 bytes. Returns "" if
 * nothing remains.
 */
export function cleanFilename(name: string): string {
  const end = name.slice(-MAX_READ).toWellFormed().normalize("NFC");
  const last = end.replace(INVISIBLE, "").split(/[/\\]/).at(-1)!.trim();
  return last === "." || last === ".." ? "" : truncate(last);
}
