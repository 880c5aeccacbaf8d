/** Under which a display name is one of a kind in its organization, and is found whatever its case. */
export const nameKeyOf = (name: string): string => name.toWellFormed().normalize("NFKC").toLowerCase();
