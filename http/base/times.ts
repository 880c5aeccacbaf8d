/* How answers write times, and how queries are read. */

export const toIso = (date: Date | null): string | null => date?.toISOString() ?? null;

/** Seconds since 1970, as OpenAI's formats have them. */
export const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1_000);

/** Null for an absent time, which does not filter. */
export const toDate = (text: string | null | undefined): Date | null => (text == null ? null : new Date(text));
