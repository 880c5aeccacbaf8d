/* oxlint-disable no-control-regex -- control characters are what is looked for */
const MAX_BYTES = 255;
/** What is looked at of a name, from its end, in UTF-16 units: composing 360 kB of combining marks takes 7 s, and four times as much for twice as many. */
const MAX_SENT = 4096;
/** Control characters, bidirectional marks and overrides, zero-width and line separators. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

function cut(name: string): string {
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

/** A name to show, never a path: the last segment, composed (NFC), without what cannot be seen, 255 bytes at most; "" when nothing is left. */
export function cleanFilename(name: string): string {
  const end = name.slice(-MAX_SENT).toWellFormed().normalize("NFC");
  const last = end.replace(UNSEEN, "").split(/[/\\]/).at(-1)!.trim();
  return last === "." || last === ".." ? "" : cut(last);
}
