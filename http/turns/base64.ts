/** Characters checked at a time, a multiple of four. */
const SLICE = 1024 * 1024;
const scratch = Buffer.allocUnsafe((SLICE / 4) * 3);

/** Whether the text has only the standard alphabet, with padding at its end. Node's decoder skips other characters. */
function isStrict(text: string, bytes: number): boolean {
  // the decoder takes a character of two bytes for its lower byte
  if (text.includes("-") || text.includes("_") || /[\u0100-\uffff]/.test(text)) return false;
  let decoded = 0;
  for (let at = 0; at < text.length; at += SLICE) decoded += scratch.write(text.slice(at, at + SLICE), "base64");
  return decoded === bytes;
}

/**
 * Length of the decoded base64 text in bytes. Undefined unless the text is strict base64: standard alphabet, padded to a multiple
 * of four, no white space. Decodes the text to check it, which takes a tenth of the time of a regular expression: that blocked
 * the process for 200 ms per 25 MiB.
 */
export function decodedLength(text: string): number | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = (text.length / 4) * 3 - padding;
  return isStrict(text, bytes) ? bytes : undefined;
}
