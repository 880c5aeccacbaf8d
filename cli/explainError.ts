/** Where a system call failed. */
interface Place {
  address?: string;
  port?: number;
  hostname?: string;
}

/** An error as one line for a person, with the next step if it is known. */
export function explainError(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return explainError(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code, message, syscall, port, address, path, hostname } = error as NodeJS.ErrnoException & Place;
  if (code === "EADDRINUSE")
    return `Port ${port} is in use: stop the program that listens there, or set PORT to another one.`;
  if (code === "EADDRNOTAVAIL" && syscall === "listen")
    return `This machine has no address ${address}: set HOST to one that it has, or to 0.0.0.0 for all of them.`;
  if (code === "EACCES" && syscall === "listen")
    return `Port ${port} is reserved for the administrator: set PORT to 1024 or more.`;
  if (code === "ENOENT" && path) return `${path} does not exist: check the path.`;
  if (code === "EISDIR") return `${path ?? "The path"} is a folder: name a file.`;
  if (code === "ENOTDIR" && path) return `${path} is not a folder, or a part of the path is a file: name a folder.`;
  if (code === "EEXIST" && path) return `${path} exists already: name another one.`;
  if (code === "ENOTFOUND" && hostname) return `The host ${hostname} is not known: check the setting that names it.`;
  if ((code === "EACCES" || code === "EROFS") && path)
    return `No permission for ${path} (${code}): check its owner and mode.`;
  if (code === "ENOSPC") return "The disk is full: free disk space, then run this again.";
  return message || code || error.name;
}
