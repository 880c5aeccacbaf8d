import { encodingFromStart } from "#events/encodingFromStart.ts";

/** Bytes at the start of a file that are examined. */
const HEAD_BYTES = 64 * 1024;

const ALLOWED_CONTROLS = [0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b];
const IS_CONTROL = new Uint8Array(256).fill(1, 0, 0x20);
for (const code of ALLOWED_CONTROLS) IS_CONTROL[code] = 0;
/** Maximum share of control characters. Text may have a few; about a tenth of compressed bytes are. */
const MAX_CONTROL_SHARE = 0.02;

/** Whether the bytes begin as a PDF does. Few or uncompressed objects look like text. */
export const isPdf = (bytes: Buffer): boolean => /^(\u00ef\u00bb\u00bf)?%PDF-/.test(bytes.toString("latin1", 0, 8));

/** Whether the bytes can be text in some encoding. Examines the first 64 KiB. */
export function looksLikeText(bytes: Buffer): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (encodingFromStart(head)?.startsWith("utf-16")) return true;
  if (head.includes(0)) return false;
  let controls = 0;
  for (const byte of head) controls += IS_CONTROL[byte]!;
  return controls <= head.length * MAX_CONTROL_SHARE;
}
