/** The address of a path below a server's address, which may have a path of its own and end in a slash. `path`: begins with a slash. */
export const joinUrl = (base: string, path: string): string => base.replace(/\/+$/, "") + path;
