/** Settles with the work, or rejects when a person or the system ends the bench, so that what was started is stopped. */
export const orInterrupted = async <T>(work: () => Promise<T>): Promise<T> => {
  const interrupted = Promise.withResolvers<never>();
  const end = (signal: NodeJS.Signals): void => interrupted.reject(new Error(`ended by ${signal}`));
  process.on("SIGINT", end).on("SIGTERM", end);
  try {
    return await Promise.race([work(), interrupted.promise]);
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
};
