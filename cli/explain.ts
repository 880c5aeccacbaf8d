/** An error as one line for a person, with what to do next if that is known. */
export function explain(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return explain(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code, message, port, path } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE")
    return `Port ${port} is in use: stop the program that listens there, or set PORT to another one.`;
  if (code === "ENOENT" && path) return `${path} does not exist: check the path.`;
  if ((code === "EACCES" || code === "EROFS") && path)
    return `No permission for ${path} (${code}): check its owner and mode.`;
  if (code === "ENOSPC") return "The disk is full: free disk space, then run this again.";
  return message || code || error.name;
}
