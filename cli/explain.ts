/** What a person should read of an error: one line that says what to do next, where that is known. */
export function explain(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return explain(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code, message, port, path } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE") return `Port ${port} is taken: end what listens there, or set PORT to another one.`;
  if (code === "ENOENT" && path) return `There is no ${path}: see that the path is right.`;
  if ((code === "EACCES" || code === "EROFS") && path) return `${path} may not be used (${code}): see who owns it.`;
  if (code === "ENOSPC") return "The disk is full: make room, then run this again.";
  return message || code || error.name;
}
