/** A part of the console that the browser could not load: the service is away, or has other files since an update. */
export class MissingFile extends Error {
  constructor(cause: unknown) {
    super("A file of the console could not be loaded.", { cause });
    this.name = "MissingFile";
  }
}

/**
 * Loads a part of the console. The router must not see the browser's own error: it would reload the page at once, and a service that is
 * away would leave nothing but the browser's page of errors.
 */
export const importFile = <T>(load: () => Promise<T>): Promise<T> =>
  load().catch((cause: unknown) => {
    throw new MissingFile(cause);
  });
