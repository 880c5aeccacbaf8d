import { inflateSync } from "node:zlib";

/**
 * Replaces the decompression of pdf.js in this process. pdf.js sends each stream of a page, a few kilobytes, through a pipeline with
 * four promises per chunk, which takes an eighth of the reading time (ADR 93). If this throws, pdf.js unpacks the stream itself.
 */
class DirectDecompression {
  readonly #input = Promise.withResolvers<Uint8Array>();
  readonly writable = {
    getWriter: () => ({
      ready: undefined,
      write: async (bytes: Uint8Array) => this.#input.resolve(bytes),
      close: async () => {},
    }),
  };
  readonly readable = { [Symbol.asyncIterator]: () => this.#output() };

  constructor(format: string) {
    if (format !== "deflate") throw new TypeError(`no decompression of ${format}`);
  }

  async *#output(): AsyncGenerator<Uint8Array> {
    yield inflateSync(await this.#input.promise);
  }
}

export const useDirectDecompression = (): void =>
  void Object.assign(globalThis, { DecompressionStream: DirectDecompression });
