const MAX_LENGTH = 500;

/** The first line of a stored error. The lines after it are a stack trace. */
export const firstLine = (error: string): string => error.split("\n", 1)[0]!.slice(0, MAX_LENGTH);
