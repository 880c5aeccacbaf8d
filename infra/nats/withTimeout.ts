/**
 * The result of the work; undefined if it takes longer. A result that has arrived by then counts also where this process was too
 * busy to read it: its timers are served before its connections.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve, undefined), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
