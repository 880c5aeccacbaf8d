import { encodingFromStart } from "#events/encodingFromStart.ts";

const DECLARED = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/;

const createDecoder = (encoding: string): TextDecoder => {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder();
  }
};

/**
 * The encoding that an XML declaration names; undefined without one. A declaration that is read byte by byte is not in UTF-16, even if it
 * says so: some programs save a text of UTF-16 as UTF-8 without changing it.
 */
export const encodingFromDeclaration = (bytes: Uint8Array): string | undefined => {
  const declared = DECLARED.exec(new TextDecoder("latin1").decode(bytes.subarray(0, 300)))?.[1];
  return declared && /^utf-?16/i.test(declared) ? "utf-8" : declared;
};

/** Decodes XML by its first bytes, else by its XML declaration, else as UTF-8. */
export const decodeXml = (bytes: Uint8Array): string =>
  createDecoder(encodingFromStart(bytes) ?? encodingFromDeclaration(bytes) ?? "utf-8").decode(bytes);
