export const SECTIONS = ["budgets", "prices", "aliases"] as const;
export type Section = (typeof SECTIONS)[number];

/** What the address of the screen says. */
export interface SpendingSearch {
  section?: Section | undefined;
  /** What the form changes: a subject, a model or an alias. */
  edit?: string | undefined;
  /** Part of a model's name. */
  q?: string | undefined;
}
