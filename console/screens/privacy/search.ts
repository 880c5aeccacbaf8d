export const SECTIONS = ["retention", "holds", "exports", "erasures"] as const;
export type Section = (typeof SECTIONS)[number];

/** What the address of the screen says. */
export interface PrivacySearch {
  section?: Section | undefined;
  /** Whom the form is about: `person:<id>`, `key:<id>`; of rules, `organization` or `project:<id>`. */
  subject?: string | undefined;
  /** The page of holds. */
  page?: number | undefined;
  /** The page of erasures, as the service named it. */
  after?: string | undefined;
}
