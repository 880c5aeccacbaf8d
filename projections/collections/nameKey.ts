/** The form of a display name that is unique in its organization and used for case-insensitive lookups. */
export const toNameKey = (name: string): string => name.toWellFormed().normalize("NFKC").toLowerCase();
