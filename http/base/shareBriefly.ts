const SHARED_MS = 1_000;

/** Shares the result of a call with every caller within a second of its start, for work that anybody may ask for any number of times. */
export function shareBriefly<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    if (!result) {
      result = read();
      setTimeout(() => (result = undefined), SHARED_MS).unref();
    }
    return result;
  };
}
