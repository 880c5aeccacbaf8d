/** Settles with the work, or rejects on SIGINT and SIGTERM, so that the caller's `finally` stops what it started. */
export const untilInterrupted = async <T>(work: () => Promise<T>): Promise<T> => {
  const interrupted = Promise.withResolvers<never>();
  const end = (signal: NodeJS.Signals): void => interrupted.reject(new Error(`interrupted by ${signal}`));
  process.on("SIGINT", end).on("SIGTERM", end);
  try {
    return await Promise.race([work(), interrupted.promise]);
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
};
