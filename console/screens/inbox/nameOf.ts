/** A person, or a key, that may have left. */
export const nameOf = ({ name = null }: { name?: string | null }): string => name ?? "somebody who is no longer here";
