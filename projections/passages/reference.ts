import type { PassageId } from "./engine.ts";

/** A citation as a person reads it: the page, else the headings above it, else which excerpt it is, from 1. */
export const referenceOf = ({
  page,
  section,
  seq,
}: Pick<PassageId, "seq"> & { page: number | null; section: string | null }): string =>
  page !== null ? `p. ${page}` : (section ?? `excerpt ${seq + 1}`);
