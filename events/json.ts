/** Whether a parsed value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A text as it stands in JSON, without the quotes: to search for it in texts that are stored as JSON. */
export const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);
