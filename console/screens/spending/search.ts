export const SECTIONS = ["budgets", "prices", "aliases"] as const;
export type Section = (typeof SECTIONS)[number];

/** The parameters in the screen's address. */
export interface SpendingSearch {
  section?: Section | undefined;
  /** The item that the form edits: a subject, a model or an alias. */
  edit?: string | undefined;
  /** Part of a model's name. */
  q?: string | undefined;
}
