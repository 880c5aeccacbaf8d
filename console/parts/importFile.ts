/** A part of the console that the browser could not load, because the service is unavailable or was updated. */
export class MissingFile extends Error {
  constructor(cause: unknown) {
    super("A file of the console could not be loaded.", { cause });
    this.name = "MissingFile";
  }
}

/**
 * Loads a part of the console. Hides the browser's error from the router, which would reload the page at once; while the service is
 * unavailable that would leave only the browser's error page.
 */
export const importFile = <T>(load: () => Promise<T>): Promise<T> =>
  load().catch((cause: unknown) => {
    throw new MissingFile(cause);
  });
