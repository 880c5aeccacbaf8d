const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Length of the decoded base64 text in bytes, computed without decoding. Undefined unless the text is strict base64: standard
 * alphabet, padded to a multiple of four, no white space. (Node's decoder would skip invalid characters.)
 */
export function decodedLength(text: string): number | undefined {
  if (text.length % 4 !== 0 || !ALPHABET.test(text)) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}
