/**
 * The result of the work; undefined if it takes longer than `ms`. A result that has arrived in time counts even if this process was
 * too busy to read it, because timers run before connections are read.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve, undefined), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
