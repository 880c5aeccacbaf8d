/** The languages that text recognition may look for. */
export interface OcrLanguages {
  /** The languages of the deployment, for organizations without their own. All are installed. */
  standard: readonly string[];
  /** The installed ones of these languages. */
  installed(languages: readonly string[]): string[];
  /** The languages that an organization has chosen; null if it has not. */
  find(organization_id: string): Promise<readonly string[] | null>;
}

/**
 * The languages of a reading: those that the same file was read with before, else the organization's, else the deployment's. Those
 * whose packages were removed meanwhile are left out.
 */
export async function chooseLanguages(
  { standard, installed, find }: OcrLanguages,
  organization_id: string,
  before: readonly string[] | undefined,
): Promise<string[]> {
  const kept = installed(before ?? []);
  if (kept.length > 0) return kept;
  const own = installed((await find(organization_id)) ?? []);
  return own.length > 0 ? own : [...standard];
}
