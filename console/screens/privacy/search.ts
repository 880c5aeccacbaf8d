import type { OwnedKind } from "../../api/owned.ts";

export const SECTIONS = ["retention", "holds", "exports", "contents", "erasures"] as const;
export type Section = (typeof SECTIONS)[number];

/** What the address of the screen says. */
export interface PrivacySearch {
  section?: Section | undefined;
  /** Whom the form is about: `person:<id>`, `key:<id>`; of rules, `organization` or `project:<id>`. */
  subject?: string | undefined;
  /** The page of holds. */
  page?: number | undefined;
  /** Of what somebody has. */
  kind?: OwnedKind | undefined;
  /** The page of erasures, or of what somebody has, as the service named it. */
  after?: string | undefined;
}
