/** One built file of the console or the documentation, raw and compressed. */
export interface BuiltFile {
  type: string;
  etag: string;
  bytes: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

/** Built files by path, such as `assets/main-B1x2.js`. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;
