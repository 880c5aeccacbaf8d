/** One built file of the console, as it is and compressed. */
export interface ConsoleFile {
  type: string;
  etag: string;
  bytes: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

/** The built console by path, such as `assets/main-B1x2.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;
