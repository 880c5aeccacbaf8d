export const SECTIONS = ["you", "projects", "groups", "providers", "secrets"] as const;
export type Section = (typeof SECTIONS)[number];

/** The parameters in the address of the settings. */
export interface SettingsSearch {
  section?: Section | undefined;
  /** The item that the section's form edits: an id or a name. */
  edit?: string | undefined;
}
