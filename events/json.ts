/** Whether a parsed value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON of a text without its quotes, to search for it in columns that store JSON. */
export const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);
