/** Whether a parsed value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value of a text that is JSON; any other text as it is. */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The JSON of a text without its quotes, to search for it in columns that store JSON. */
export const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);
