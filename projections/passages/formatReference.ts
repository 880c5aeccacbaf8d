import type { PassageId } from "./engine.ts";

/** A citation for people: the page, or else the headings above the passage, or else its number from 1. */
export const formatReference = ({
  page,
  section,
  seq,
}: Pick<PassageId, "seq"> & { page: number | null; section: string | null }): string =>
  page !== null ? `p. ${page}` : (section ?? `excerpt ${seq + 1}`);
