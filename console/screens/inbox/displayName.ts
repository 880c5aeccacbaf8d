/** The name of a person or a key; either may be deleted. */
export const displayName = ({ name = null }: { name?: string | null }): string =>
  name ?? "somebody who is no longer here";
