import type { SchemaViolation } from "#events/ports.ts";

/** A sentence for an API error. Messages of schemas may end in a full stop. */
export const violationMessage = (where: string, { message }: SchemaViolation): string =>
  `${where}: ${message}.`.replace(/\.\.$/, ".");
