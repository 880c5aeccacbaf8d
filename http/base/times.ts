/* How answers write times, and how queries read them. */

export const toIso = (date: Date | null): string | null => date?.toISOString() ?? null;

/** Seconds since 1970, as in OpenAI's formats. */
export const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1_000);

/** Null for an absent time, which filters nothing. */
export const toDate = (text: string | null | undefined): Date | null => (text == null ? null : new Date(text));
