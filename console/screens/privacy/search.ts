import type { OwnedKind } from "../../api/owned.ts";

export const SECTIONS = ["retention", "holds", "exports", "contents", "erasures"] as const;
export type Section = (typeof SECTIONS)[number];

/** The parameters in the screen's address. */
export interface PrivacySearch {
  section?: Section | undefined;
  /** The subject of the form: `person:<id>`, `key:<id>`; for rules, `organization` or `project:<id>`. */
  subject?: string | undefined;
  /** The page of holds. */
  page?: number | undefined;
  /** For the data of a subject. */
  kind?: OwnedKind | undefined;
  /** The cursor of the page of erasures or of a subject's data. */
  after?: string | undefined;
}
