const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * How many bytes base64 text stands for, without decoding it. Undefined when it is not strictly base64:
 * the standard alphabet, padded to a multiple of four, no white space (Node's decoder would skip what is wrong).
 */
export function decodedLength(text: string): number | undefined {
  if (text.length % 4 !== 0 || !ALPHABET.test(text)) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}
