/** The service writes no more groups into a CSV. */
export const MAX_CSV_GROUPS = 100_000;
