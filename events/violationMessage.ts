import type { SchemaViolation } from "./schemaChecker.ts";

/** A sentence for an error. Messages of schemas may end in a full stop. */
export const violationMessage = (where: string, { message }: SchemaViolation): string =>
  `${where}: ${message}.`.replace(/\.\.$/, ".");
