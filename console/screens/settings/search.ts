export const SECTIONS = ["you", "projects", "groups", "providers", "secrets"] as const;
export type Section = (typeof SECTIONS)[number];

/** What the address of the settings says. */
export interface SettingsSearch {
  section?: Section | undefined;
  /** What the form of the section changes: an id or a name. */
  edit?: string | undefined;
}
